// What a client says that it has, and is not sent again.

#include <array>
#include <barrier>
#include <thread>

#include "tests/unit/actors/client/talk.hpp"

namespace troupe::actors {

using namespace std::chrono_literals;

TEST(cached_lines, says_that_it_holds_a_line_if_it_has_enough_ranks_of_it) {
  const instant now{1s};
  auto method = method_of(state_rule::on_offer);
  for (auto& x : method.blocks) {
    x.merge.kind = merge_kind::padded;
    x.rank = 3;
    x.rank_counter = "rank";
  }
  const auto blocks = std::make_shared<models::layout>(*models::make_layout(
    method, {{"a", {{"w", {3, 1}}}}, {"b", {{"w", {3, 1}}}}}, {}));
  dialogue testee{{.me = me,
                   .examples = 5,
                   .method = &method,
                   .blocks = blocks,
                   .cache = std::make_shared<line_cache>()},
                  {}};
  const auto hello = std::get<messages::hello>(
    std::get<messages::any_message>(testee.start(now).at(1)));
  static_cast<void>(testee.heard(
    messages::welcome{.nonce = hello.nonce, .session = {1}, .heads = {}}, now));
  const auto blocks_for = [](const messages::want& x, version head) {
    if (x.held == head)
      return std::vector<messages::block_values>{};
    return std::vector<messages::block_values>{
      {{x.line.value}, share(std::vector<float>(x.rank == 0 ? 3 : x.rank))}};
  };
  /// What is asked for in a visit when this version is the newest; after it the
  /// client has `rank` ranks.
  const auto wants = [&](std::uint64_t number, version head,
                         std::uint64_t rank) {
    messages::ticket pass;
    pass.visit = {me, {number}};
    const auto said = testee.heard(messages::invited{pass}, now);
    const auto request = std::get<messages::fetch_requested>(
      std::get<messages::any_message>(said.back()));
    for (const auto& want : request.wanted)
      static_cast<void>(testee.heard(
        messages::line_served{.visit = pass.visit,
                              .line = want.line,
                              .base = head,
                              .unchanged = std::uint8_t{want.held == head},
                              .blocks = blocks_for(want, head)},
        now));
    models::trained done;
    done.next.counters["rank"] = rank;
    static_cast<void>(testee.finished({pass.visit, done}, now));
    return request.wanted.front();
  };
  EXPECT_EQ(wants(1, {4}, 2).rank, 0u);
  const auto of_all = wants(2, {4}, 1);
  EXPECT_EQ(of_all.rank, 2u);
  EXPECT_EQ(of_all.held, version{4}) << "it has all";
  EXPECT_EQ(wants(3, {5}, 1).held, version{4});
  const auto of_one = wants(4, {5}, 3);
  EXPECT_EQ(of_one.rank, 1u);
  EXPECT_EQ(of_one.held, version{5});
  const auto more = wants(5, {5}, 3);
  EXPECT_EQ(more.rank, 3u);
  EXPECT_EQ(more.held, messages::no_version) << "it has one rank of it";
}

/// Of one process: the neighbour has been served both lines when x asks.
class cached_lines_of_two : public testing::Test {
protected:
  cached_lines_of_two() {
    neighbour.invite(1);
    for (const auto line : {first, second})
      neighbour.serve(1, line);
    x.invite(1);
  }

  const std::shared_ptr<line_cache> lines = std::make_shared<line_cache>();
  talk neighbour{state_rule::on_offer, {}, lines};
  talk x{state_rule::on_offer, {}, lines};
};

// Whatever the neighbour is served meanwhile.
TEST_F(cached_lines_of_two, does_not_fetch_what_a_neighbour_was_served) {
  for (const auto& want : x.last<messages::fetch_requested>().wanted)
    EXPECT_EQ(want.held, version{4}) << want.line.value;
  neighbour.did(neighbour.testee.give_up({me, {1}}));
  neighbour.invite(2);
  for (const auto line : {first, second})
    neighbour.serve(2, line, {5});
  for (const auto line : {first, second})
    x.serve_unchanged(1, line, {4});
  const auto fetched_by = [](const talk& who, std::size_t which) {
    const auto job = who.all<dialogue::job>().at(which);
    return std::get<messages::train_job>(job.what).input.fetched;
  };
  const auto here = fetched_by(neighbour, 0);
  const auto there = fetched_by(x, 0);
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(there[i].base, version{4});
    EXPECT_EQ(there[i].values, here[i].values) << "the very same ones";
  }
  x.did(x.testee.give_up({me, {1}}));
  x.invite(2);
  EXPECT_EQ(x.last<messages::fetch_requested>().wanted.front().held,
            version{5});
}

// One that began from a copy gives the same number to other values.
TEST_F(cached_lines_of_two, holds_nothing_of_a_server_before_this_one) {
  lines->forget();
  x.said.clear();
  x.did(x.testee.due(x.now + 10s));
  for (const auto& want : x.last<messages::fetch_requested>().wanted)
    EXPECT_EQ(want.held, messages::no_version) << want.line.value;
  neighbour.did(neighbour.testee.give_up({me, {1}}));
  neighbour.invite(2);
  for (const auto& want : neighbour.last<messages::fetch_requested>().wanted)
    EXPECT_EQ(want.held, messages::no_version) << want.line.value;
}

// What was said before the process met another server is heard after that.
TEST_F(cached_lines_of_two, hears_late_what_a_server_before_this_one_served) {
  lines->forget();
  x.did(x.testee.due(x.now + 10s));
  x.serve(1, first);
  neighbour.did(neighbour.testee.give_up({me, {1}}));
  neighbour.invite(2);
  for (const auto& want : neighbour.last<messages::fetch_requested>().wanted)
    EXPECT_EQ(want.held, messages::no_version) << want.line.value;
}

TEST(line_cache, has_one_of_what_many_put_at_once) {
  constexpr int rounds = 200;
  line_cache testee;
  std::barrier<> together{2};
  std::array<std::vector<shared_values>, 2> got;
  {
    std::vector<std::jthread> all;
    for (auto& own : got)
      all.emplace_back([&] {
        for (std::uint64_t i = 1; i <= rounds; ++i) {
          const messages::block_values mine{{1}, share({1.f, 2.f})};
          together.arrive_and_wait();
          own.push_back(testee.put({1}, {{i}, 0, {mine}}).front().values);
        }
      });
  }
  for (std::size_t i = 0; i < rounds; ++i)
    EXPECT_EQ(got[0][i]->data(), got[1][i]->data()) << i;
}

// Of what is no longer said to be here it asks for all.
TEST(cached_lines, asks_anew_where_another_version_is_said_to_be_unchanged) {
  talk x{state_rule::on_offer, {}, std::make_shared<line_cache>()};
  x.invite(1);
  x.serve_unchanged(1, first, {4});
  x.serve(1, second);
  EXPECT_TRUE(x.all<dialogue::job>().empty()) << "it has nothing of it";
  x.said.clear();
  x.did(x.testee.due(x.now + 10s));
  const auto asked = x.last<messages::fetch_requested>();
  ASSERT_EQ(asked.wanted.size(), 1u);
  EXPECT_EQ(asked.wanted.front().held, messages::no_version);
}

} // namespace troupe::actors
