// Who learns alone has, under every pace, what a plain loop over its own data
// makes.

#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "actors/record/event_reader.hpp"
#include "node/task/workload.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using states = std::map<client_id, actors::state_ptr>;

/// Visit after visit, in the order in which the record says that they were
/// done.
states states_of_a_plain_loop(const node::experiment& x,
                              const std::string& folder) {
  const auto work = node::prepare(x, no_model);
  EXPECT_TRUE(work) << work.error().context;
  const auto trainer = work->make_trainer();
  EXPECT_TRUE(trainer) << trainer.error().context;
  std::vector<models::fetched_block> first;
  for (const auto& [id, values] : work->initial)
    first.push_back({.block = id, .base = {}, .values = values});
  std::map<visit_id, messages::ticket> invited;
  states result;
  std::ifstream events{folder + "/events.jsonl"};
  for (std::string line; std::getline(events, line);) {
    const auto event = actors::read_event(line);
    EXPECT_TRUE(event) << event.error().context;
    if (const auto* y = std::get_if<messages::invitation_made>(&*event))
      invited[y->pass.visit] = y->pass;
    const auto* over = std::get_if<messages::visit_failed>(&*event);
    if (!over)
      continue;
    EXPECT_EQ(std::get<messages::decline_reason>(over->why),
              messages::decline_reason::no_offer);
    const auto& pass = invited.at(over->visit);
    auto& state = result[over->visit.client];
    const auto trained = (*trainer)->train({.visit = over->visit,
                                            .seed = pass.seed,
                                            .progress = pass.progress,
                                            .role = pass.role,
                                            .fetched = first,
                                            .chosen = {},
                                            .state = state});
    EXPECT_TRUE(trained) << trained.error().context;
    state = std::make_shared<const models::client_state>(trained->next);
  }
  return result;
}

} // namespace

TEST(local_run, is_a_plain_loop_over_own_data_under_every_pace) {
  for (const auto* mode : {"sync", "semisync", "fedbuff", "fedasync"}) {
    const scratch_folder scratch;
    overrides changes{std::string{"mode="} + mode, "method=local",
                      "events=true", "selection.kind=round_robin"};
    if (std::string{mode}.starts_with("fed")) {
      changes.emplace_back("time_budget=3");
      changes.emplace_back("rounds=0");
    }
    const auto x = configured(quadratic_run, changes, scratch.path());
    const auto files = std::make_shared<actors::memory_vault>();
    const auto done = node::run(x, {.make_model = no_model, .files = files});
    ASSERT_TRUE(done) << mode << ": " << done.error().context;
    EXPECT_FALSE(done->failed) << mode << ": " << done->reason;
    const auto wanted = states_of_a_plain_loop(x, done->folder);
    EXPECT_EQ(wanted.size(), x.clients.clients) << mode; // All have trained.
    for (const auto& [client, state] : files->states()) {
      ASSERT_TRUE(wanted.contains(client)) << mode;
      EXPECT_EQ(*state, *wanted.at(client)) << mode << ", " << client.value;
    }
  }
}

TEST(local_run, invites_as_many_as_a_round_has_and_withdraws_none) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run, {"method=local"}, scratch.path());
  const auto done = finished(x);
  EXPECT_EQ(done.rounds, 6u);
  EXPECT_EQ(done.visits, 6u * 4);
}

} // namespace troupe::test
