#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/record/folder_lock.hpp"
#include "models/inner_setup.hpp"
#include "node/join/store.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(joined_store, says_once_that_other_runs_are_set_aside) {
  const test::scratch_folder scratch;
  const auto said_of = [&](const std::string& run) {
    std::vector<std::string> said;
    join_context in;
    in.store = scratch.path();
    in.say = [&](const std::string& x) { said.push_back(x); };
    EXPECT_TRUE(open_vault(in, run, ""));
    return said;
  };
  EXPECT_THAT(said_of("a"), IsEmpty());
  EXPECT_THAT(said_of("b"), ElementsAre(HasSubstr("has clients of another run, "
                                                  "which are set aside")));
  EXPECT_THAT(said_of("b"), IsEmpty());
  EXPECT_THAT(said_of("a"), IsEmpty());
  EXPECT_THAT(said_of("c"), ElementsAre(HasSubstr("of 2 other runs")));
}

// As of one that was killed a moment ago.
TEST(joined_store, waits_for_a_process_that_is_ending_and_says_so) {
  const test::scratch_folder scratch;
  const auto home = std::filesystem::path{scratch.path()} / "run-a";
  std::filesystem::create_directories(home);
  auto other = actors::folder_lock::take(home, "clients.lock");
  ASSERT_TRUE(other);
  std::optional<actors::folder_lock> held{std::move(*other)};
  std::vector<std::string> said;
  join_context in;
  in.store = scratch.path();
  in.say = [&](const std::string& x) {
    said.push_back(x);
    held.reset();
  };
  EXPECT_TRUE(open_vault(in, "a", ""));
  EXPECT_THAT(said, ElementsAre(HasSubstr("works in this folder; it may be "
                                          "ending, and is waited for")));
}

/// Clients of CoMiGS in one process.
class trained_clients : public ::testing::Test {
protected:
  trained_clients() {
    in.store = "clients";
    models::inner_plans inside;
    inside.feed_forward = models::adapter_plan{};
    task->method = *policies::find_recipe("comigs");
    task->inside = inside;
    task->experts = {3};
    work.task = task;
  }

  void have_trained(client_id who, int specialists) {
    auto state = std::make_shared<models::client_state>();
    state->blocks["left_generalist"];
    for (int j = 0; j < specialists; ++j)
      state->blocks["specialist." + std::to_string(j)];
    actors::client_file file;
    file.state = state;
    kept.save(who, file);
  }

  std::string wrong() const {
    const auto found = has_as_many_experts(in, "a", work, {{1}, {2}}, kept);
    if (!found)
      return "";
    EXPECT_EQ(found->how, join_summary::end::misfit);
    return found->why + "; " + found->hint;
  }

  join_context in;
  workload work;
  std::shared_ptr<models::local_task> task =
    std::make_shared<models::local_task>();
  actors::memory_vault kept;
};

TEST_F(trained_clients, have_as_many_experts_as_before) {
  EXPECT_EQ(wrong(), "") << "who is new has any number";
  have_trained({2}, 2);
  EXPECT_EQ(wrong(), "");
  have_trained({7}, 0); // Of another process.
  EXPECT_EQ(wrong(), "");
  in.experts = 2;
  task->experts = {2};
  EXPECT_EQ(wrong(), "clients/run-a: client 2 has trained with 3 experts, and "
                     "--experts says 2; --experts 3 would do, or another "
                     "--store, whose clients begin anew");
}

TEST_F(trained_clients, have_no_more_experts_than_before) {
  have_trained({1}, 0);
  EXPECT_THAT(wrong(), HasSubstr("has trained with 1 expert, and the run says "
                                 "3; --experts 1 would do"));
  in.expert_memory = 8;
  EXPECT_THAT(wrong(), HasSubstr("and --expert-memory has room for 3"));
}

TEST_F(trained_clients, may_keep_what_no_router_chooses_from) {
  have_trained({1}, 0);
  task->inside->routing.even = true;
  EXPECT_EQ(wrong(), "");
  task->inside.reset();
  EXPECT_EQ(wrong(), "");
}

} // namespace
} // namespace troupe::node
