#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "node/config/policies_of.hpp"
#include "node/run/run.hpp"
#include "node/task/workload.hpp"
#include "policies/invitations.hpp"
#include "tests/support/reference_loop.hpp"

namespace troupe::test {

struct plain_run {
  std::string digest; ///< Of the final values.
  std::map<client_id, std::shared_ptr<const models::client_state>> states;
};

/// One after the other, in the order of the clients, all who took part.
inline void make_last_visits(const node::experiment& x, const recipe& method,
                             std::uint64_t index, reference_loop& loop) {
  if (method.finish.value.empty())
    return;
  for (std::uint64_t k = 1; k <= x.clients.invitable(); ++k)
    if (loop.state({k})) {
      const auto done =
        loop.last_visit({.client = {k},
                         .seed = derive_seed(x.seed, "visit", ++index),
                         .progress = 1,
                         .role = last_role(method)});
      EXPECT_TRUE(done) << done.error().context;
    }
}

/// What the rounds of a configuration make in the plain loop. Selection is the
/// runtime's own, all else is the loop's.
inline plain_run plain_run_of(const node::experiment& x,
                              const node::workload& work) {
  const auto trainer = work.make_trainer();
  EXPECT_TRUE(trainer) << trainer.error().context;
  reference_options how{.method = work.method,
                        .blocks = *work.blocks,
                        .initial = {},
                        .server = x.server,
                        .admitted = x.clients.invitable()};
  std::vector<policies::candidate> clients;
  for (const auto& [id, values] : work.initial)
    how.initial[work.blocks->find(id)->name] = values;
  for (std::uint64_t k = 1; k <= x.clients.invitable(); ++k)
    clients.push_back({.client = {k}, .examples = work.examples({k})});
  policies::invitations turns{{.seed = x.seed,
                               .window_size = x.clients.clients_per_round,
                               .how = selection_of(x.clients.selection),
                               .roles = work.method.roles}};
  reference_loop loop{**trainer, std::move(how)};
  for (std::uint64_t round = 0; round < x.length.rounds; ++round) {
    std::vector<invited> cohort;
    while (cohort.size() < x.clients.clients_per_round) {
      const auto turn = turns.next(
        [&](client_id c) {
          return std::ranges::find(cohort, c, &invited::client) != cohort.end();
        },
        clients);
      cohort.push_back({.client = turn->client,
                        .seed = turn->seed,
                        .progress = static_cast<double>(round)
                                    / static_cast<double>(x.length.rounds),
                        .role = turn->role});
    }
    const auto done = loop.round(cohort);
    EXPECT_TRUE(done) << done.error().context;
  }
  make_last_visits(x, work.method, turns.made(), loop);
  std::map<std::string, models::digest> digests;
  for (const auto& block : work.blocks->blocks)
    digests[block.name] = models::digest_of(block, loop.values(block.name));
  plain_run result{.digest = models::to_hex(models::digest_of(digests)),
                   .states = {}};
  for (const auto& who : clients)
    if (auto state = loop.state(who.client))
      result.states[who.client] = std::move(state);
  return result;
}

/// The runtime makes the same, of versions and of what each client keeps.
inline void expect_run(const node::experiment& x, node::run_context in,
                       const plain_run& wanted, const std::string& what) {
  const auto files = std::make_shared<actors::memory_vault>();
  in.files = files;
  const auto done = node::run(x, in);
  ASSERT_TRUE(done) << what << ": " << done.error().context;
  EXPECT_FALSE(done->failed) << what << ": " << done->reason;
  EXPECT_EQ(done->digest, wanted.digest) << what;
  EXPECT_FALSE(wanted.states.empty()) << what;
  const auto kept = files->states();
  for (const auto& [client, state] : wanted.states)
    EXPECT_TRUE(kept.contains(client) && *kept.at(client) == *state)
      << what << ": client " << client.value;
}

/// The run is that of the plain loop.
inline void expect_plain_run(const node::experiment& x,
                             const node::model_maker& make_model,
                             const std::string& what) {
  const auto work = node::prepare(x, make_model);
  ASSERT_TRUE(work) << what << ": " << work.error().context;
  expect_run(x, {.make_model = make_model}, plain_run_of(x, *work), what);
}

/// The same of what is prepared already.
inline void expect_plain_run(const node::experiment& x,
                             const node::workload& work,
                             const std::string& what) {
  expect_run(x, {.make_model = {}, .work = &work}, plain_run_of(x, work), what);
}

} // namespace troupe::test
