#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "node/config/policies_of.hpp"
#include "node/task/workload.hpp"
#include "policies/invitations.hpp"
#include "tests/support/reference_loop.hpp"

namespace troupe::test {

/// What the rounds of a configuration make in the plain loop: the digest of the
/// final values. Selection is the runtime's own, all else is the loop's.
inline std::string digest_of_plain_run(const node::experiment& x,
                                       const node::model_maker& make_model) {
  const auto work = node::prepare(x, make_model);
  EXPECT_TRUE(work) << work.error().context;
  const auto trainer = work->make_trainer();
  EXPECT_TRUE(trainer) << trainer.error().context;
  reference_options how{.method = work->method,
                        .blocks = *work->blocks,
                        .initial = {},
                        .server = x.server,
                        .admitted = x.clients.invitable()};
  std::vector<policies::candidate> clients;
  for (const auto& [id, values] : work->initial)
    how.initial[work->blocks->find(id)->name] = values;
  for (std::uint64_t k = 1; k <= x.clients.invitable(); ++k)
    clients.push_back({.client = {k}, .examples = work->examples({k})});
  policies::invitations turns{{.seed = x.seed,
                               .window_size = x.clients.clients_per_round,
                               .how = selection_of(x.clients.selection),
                               .roles = work->method.roles}};
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
  std::map<std::string, models::digest> digests;
  for (const auto& block : work->blocks->blocks)
    digests[block.name] = models::digest_of(block, loop.values(block.name));
  return models::to_hex(models::digest_of(digests));
}

} // namespace troupe::test
