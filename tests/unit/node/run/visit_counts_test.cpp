// How the visits of a joining process came out.

#include "node/join/visit_counts.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::node::visit_counts_test {
namespace {

using kind = actors::workshop::kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

messages::job_finished failed(const std::string& why) {
  return {{{4}, {1}}, error{errc::invalid_argument, why}};
}

messages::job_finished trained() {
  return {{{4}, {2}}, models::trained{}};
}

messages::job_finished chosen() {
  return {{{4}, {2}}, models::choice{}};
}

class nobody final : public models::one_by_one_trainer {
public:
  result<models::choice> choose(const models::visit_input&) override {
    return models::choice{};
  }

  result<models::trained> train_one(const models::visit_input&) override {
    return models::trained{};
  }

  result<models::evaluated> evaluate(const models::evaluation_input&) override {
    return models::evaluated{};
  }

  std::uint64_t examples(client_id) const override {
    return 0;
  }

  std::uint64_t steps(const models::visit_input&) const override {
    return 0;
  }
};

/// Has computed all that it is given before it returns.
class prompt final : public actors::workshop {
public:
  void submit(key, work what, deliver to) override {
    nobody own;
    to(what(own));
  }
};

} // namespace

TEST(visit_counts, tell_those_that_failed_apart_and_why) {
  std::vector<std::string> said;
  visit_counts all{[&](const std::string& x) { said.push_back(x); }};
  all.add(chosen(), kind::choice);
  all.add(trained(), kind::training);
  EXPECT_THAT(said, IsEmpty());
  all.add(failed("no room"), kind::training);
  all.add(failed("no rows"), kind::choice);
  EXPECT_THAT(said, ElementsAre("a visit of client 4 failed, which the server "
                                "hears without the reason: no room"));
  join_summary x;
  all.tell(x);
  EXPECT_EQ(x.visits, 1u);
  EXPECT_EQ(x.failed, 2u);
  EXPECT_EQ(x.why_failed, "no room");
}

// Whoever computes is dismissed behind the end, and the visit fails by that.
TEST(visit_counts, have_none_that_ended_behind_the_run) {
  std::vector<std::string> said;
  visit_counts all{[&](const std::string& x) { said.push_back(x); }};
  join_summary x;
  all.tell(x);
  all.add(failed("dismissed"), kind::training);
  EXPECT_THAT(said, IsEmpty());
  all.tell(x);
  EXPECT_EQ(x.failed, 0u);
}

TEST(visit_counts, are_of_what_a_workshop_delivers) {
  const auto counts = std::make_shared<visit_counts>();
  counted_workshop testee{std::make_shared<prompt>(), counts};
  std::vector<bool> delivered;
  const auto submit = [&](messages::job_finished x) {
    testee.submit(
      {.due = {}, .visit = x.visit}, [x](models::trainer&) { return x; },
      [&](const messages::job_finished& y) {
        delivered.push_back(std::holds_alternative<error>(y.outcome));
      });
  };
  submit(failed("no room"));
  submit(trained());
  EXPECT_THAT(delivered, ElementsAre(true, false));
  join_summary x;
  counts->tell(x);
  EXPECT_EQ(x.visits, 1u);
  EXPECT_EQ(x.failed, 1u);
}

} // namespace troupe::node::visit_counts_test
