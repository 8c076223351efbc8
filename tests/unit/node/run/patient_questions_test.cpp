#include "node/run/patient_questions.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/metrics/status.hpp"

namespace troupe::node {
namespace {

// An evaluator may be at one evaluation for minutes.
TEST(patient_questions, hold_one_answer_of_who_has_not_looked) {
  caf::actor_system_config config;
  config.set("scheduler.policy", caf::atom("testing"));
  caf::actor_system system{config};
  int asked = 0;
  const auto who = system.spawn(
    [](caf::event_based_actor*, int* count) -> caf::behavior {
      return {
        [=](const messages::status_asked& x) { *count += x.draft ? 1 : 0; }};
    },
    &asked);
  auto& all =
    dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  all.run();
  patient_questions testee;
  std::vector<std::weak_ptr<actors::status_draft>> drafts;
  const auto ask = [&] {
    const auto draft = std::make_shared<actors::status_draft>();
    testee.ask(who, draft);
    drafts.push_back(draft);
  };
  const auto held = [&] {
    return std::ranges::count_if(drafts,
                                 [](const auto& x) { return !x.expired(); });
  };
  for (int i = 0; i < 100; ++i)
    ask();
  EXPECT_EQ(held(), 1);
  all.run();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(held(), 0);
  ask();
  all.run();
  EXPECT_EQ(asked, 2);
  testee.ask(caf::actor{}, std::make_shared<actors::status_draft>());
  caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
  all.run();
}

} // namespace
} // namespace troupe::node
