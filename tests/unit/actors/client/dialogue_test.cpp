#include "actors/client/dialogue.hpp"

#include <gtest/gtest.h>

namespace troupe::actors {

namespace {

using namespace std::chrono_literals;
using policies::verdict;

const client_id me{7};
const line_id first{1}, second{2};

/// One leg, two lines.
recipe method_of(state_rule state) {
  return {.name = "two_lines",
          .summary = "",
          .blocks = {{.name = "a"}, {.name = "b"}},
          .legs = {{.fetch = {{"a"}, {"b"}}}},
          .roles = {},
          .state = state};
}

/// A client that has said hello and was welcomed, and what it has said since.
struct talk {
  explicit talk(state_rule state, client_file found = {})
    : method(method_of(state)),
      blocks(std::make_shared<models::layout>(
        *models::make_layout(method,
                             {{"a", {{.name = "w", .shape = {1}}}},
                              {"b", {{.name = "w", .shape = {1}}}}},
                             {}))),
      testee({.me = me,
              .examples = 5,
              .method = &method,
              .blocks = blocks,
              .resend_after = 10s},
             std::move(found)) {
    did(testee.start(now));
    welcome();
    said.clear();
  }

  void welcome() {
    const auto nonce = last<messages::hello>().nonce;
    hear(messages::welcome{.nonce = nonce, .session = {1}, .heads = {}});
  }

  void did(const dialogue::actions& what) {
    said.insert(said.end(), what.begin(), what.end());
  }

  void hear(const messages::any_message& x) {
    did(testee.heard(x, now));
  }

  void invite(std::uint64_t number) {
    messages::ticket pass;
    pass.visit = {me, {number}};
    hear(messages::invited{pass});
  }

  void serve(std::uint64_t number, line_id line) {
    hear(messages::line_served{.visit = {me, {number}},
                               .line = line,
                               .base = {4},
                               .blocks = {{{line.value}, share({0.f})}}});
  }

  /// A visit up to its offer.
  void visit(std::uint64_t number) {
    invite(number);
    serve(number, first);
    serve(number, second);
    models::trained done;
    done.parts = {{.block = {1}, .weight = 1, .delta = share({1.f})},
                  {.block = {2}, .weight = 1, .delta = share({1.f})}};
    done.next = *testee.file().state;
    ++done.next.visits;
    did(testee.finished({{me, {number}}, done}, now));
  }

  void answer(std::uint64_t number, line_id line, verdict x) {
    hear(messages::offer_answered{{me, {number}}, line, x, {5}});
  }

  template <class T>
  std::vector<T> all() const {
    std::vector<T> result;
    for (const auto& x : said)
      if constexpr (std::is_same_v<T, dialogue::job>) {
        if (const auto* one = std::get_if<T>(&x))
          result.push_back(*one);
      } else if (const auto* any = std::get_if<messages::any_message>(&x)) {
        if (const auto* one = std::get_if<T>(any))
          result.push_back(*one);
      }
    return result;
  }

  template <class T>
  T last() const {
    const auto found = all<T>();
    EXPECT_FALSE(found.empty());
    return found.empty() ? T{} : found.back();
  }

  instant now{1s};
  recipe method;
  std::shared_ptr<const models::layout> blocks;
  dialogue testee;
  dialogue::actions said;
};

std::vector<std::uint64_t> blocks_of(const messages::offer_made& x) {
  std::vector<std::uint64_t> result;
  for (const auto& block : x.blocks)
    result.push_back(block.block.value);
  return result;
}

} // namespace

TEST(dialogue, trains_once_however_often_it_is_invited_and_served) {
  talk x{state_rule::on_offer};
  for (int i = 0; i < 2; ++i)
    x.invite(1);
  EXPECT_EQ(x.all<messages::fetch_requested>().size(), 1u);
  for (int i = 0; i < 2; ++i) {
    x.serve(1, first);
    x.serve(1, second);
  }
  EXPECT_EQ(x.all<dialogue::job>().size(), 1u);
}

TEST(dialogue, offers_once_however_often_the_job_ends) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.did(x.testee.finished({{me, {1}}, models::trained{}}, x.now));
  EXPECT_EQ(x.all<messages::offer_made>().size(), 1u);
  EXPECT_EQ(x.testee.file().state->visits, 1u);
}

TEST(dialogue, does_not_begin_a_visit_again_that_is_answered) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.answer(1, first, verdict::accepted);
  x.answer(1, second, verdict::accepted);
  x.said.clear();
  x.invite(1);
  EXPECT_TRUE(x.all<messages::fetch_requested>().empty());
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::no_offer);
}

TEST(dialogue, offers_again_only_what_is_unanswered) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.answer(1, first, verdict::accepted);
  x.said.clear();
  x.did(x.testee.due(x.now + 9s));
  EXPECT_TRUE(x.all<messages::offer_made>().empty());
  x.did(x.testee.due(x.now + 10s));
  EXPECT_EQ(blocks_of(x.last<messages::offer_made>()),
            std::vector<std::uint64_t>{2});
  x.answer(1, second, verdict::overloaded); // Is to be said again.
  EXPECT_EQ(x.testee.file().outbox.size(), 1u);
  x.answer(1, second, verdict::accepted);
  EXPECT_TRUE(x.testee.file().outbox.empty());
}

TEST(dialogue, offers_again_after_a_restart) {
  talk before{state_rule::on_offer};
  before.visit(1);
  talk after{state_rule::on_offer, before.testee.file()};
  EXPECT_EQ(after.testee.file().outbox.size(), 1u);
  after.did(after.testee.due(after.now + 10s));
  EXPECT_EQ(after.last<messages::offer_made>().pass.visit, (visit_id{me, {1}}));
  after.said.clear();
  after.invite(1);
  EXPECT_TRUE(after.all<messages::fetch_requested>().empty());
}

TEST(dialogue, takes_the_new_state_only_when_all_of_the_offer_is_accepted) {
  for (const auto end :
       {verdict::accepted, verdict::duplicate, verdict::withdrawn}) {
    talk x{state_rule::on_accept};
    x.visit(1);
    x.answer(1, first, verdict::accepted);
    EXPECT_EQ(x.testee.file().state->visits, 0u);
    x.answer(1, second, end);
    EXPECT_EQ(x.testee.file().state->visits,
              end == verdict::withdrawn ? 0u : 1u);
  }
}

TEST(dialogue, holds_an_invitation_until_the_last_visit_is_settled) {
  talk x{state_rule::on_accept};
  x.visit(1);
  x.said.clear();
  x.invite(2);
  EXPECT_TRUE(x.all<messages::fetch_requested>().empty());
  x.answer(1, first, verdict::accepted);
  x.answer(1, second, verdict::accepted);
  EXPECT_EQ(x.last<messages::fetch_requested>().pass.visit,
            (visit_id{me, {2}}));
}

TEST(dialogue, has_no_ears_for_a_farewell_to_an_earlier_hello) {
  talk x{state_rule::on_offer};
  x.hear(messages::farewell{messages::farewell_reason::superseded, "", 12345});
  EXPECT_FALSE(x.testee.has_left());
  x.hear(messages::farewell{messages::farewell_reason::finished, ""});
  EXPECT_TRUE(x.testee.has_left());
}

TEST(dialogue, says_that_it_holds_a_line_if_it_has_enough_ranks_of_it) {
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
                   .cache = true},
                  {}};
  const auto hello = std::get<messages::hello>(
    std::get<messages::any_message>(testee.start(now).at(1)));
  static_cast<void>(testee.heard(
    messages::welcome{.nonce = hello.nonce, .session = {1}, .heads = {}}, now));
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
                              .blocks = {{{want.line.value}, share({0.f})}}},
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

TEST(dialogue, says_what_it_remembers) {
  talk x{state_rule::on_offer};
  x.visit(3);
  x.did(x.testee.start(x.now));
  EXPECT_EQ(x.last<messages::hello>().last, visit_number{3});
}

// Its file is lost, so it cannot know that it has begun five times before.
TEST(dialogue, takes_its_own_place_once_when_it_began_without_a_file) {
  const auto now = instant{1s};
  const auto superseded = [](const dialogue::actions& said,
                             std::uint64_t newest) {
    for (const auto& x : said)
      if (const auto* any = std::get_if<messages::any_message>(&x))
        if (const auto* hello = std::get_if<messages::hello>(any))
          return messages::farewell{messages::farewell_reason::superseded, "",
                                    hello->nonce, newest};
    return messages::farewell{};
  };
  const auto refused = [&](client_file found, std::uint64_t newest) {
    dialogue x{{.me = me, .blocks = std::make_shared<models::layout>()},
               std::move(found)};
    const auto said = x.heard(superseded(x.start(now), newest), now);
    const bool obeys = x.has_left();
    if (!obeys) {
      EXPECT_FALSE(x.heard(superseded(said, newest + 1), now).size() > 1);
      EXPECT_TRUE(x.has_left()) << "once";
    }
    return std::pair{obeys, x.file().incarnation};
  };
  using end = std::pair<bool, std::uint64_t>;
  EXPECT_EQ(refused({}, 5), (end{false, 6}));
  EXPECT_EQ(refused({}, 0), (end{true, 1})) << "the other is still here";
  EXPECT_EQ(refused({}, ~std::uint64_t{0}), (end{true, 1})) << "nobody's";
  client_file older;
  older.incarnation = 2;
  EXPECT_EQ(refused(older, 5), (end{true, 3}))
    << "it had a file: another has its place";
  talk welcomed{state_rule::on_offer};
  welcomed.did(welcomed.testee.start(now));
  welcomed.hear(superseded(welcomed.said, 5));
  EXPECT_TRUE(welcomed.testee.has_left()) << "it was known, and has been left";
}

TEST(dialogue, drops_its_visit_and_keeps_its_offers_when_it_goes) {
  talk x{state_rule::on_offer};
  x.visit(1);
  x.invite(2);
  x.said.clear();
  x.did(x.testee.go());
  EXPECT_EQ(x.all<messages::leave>().size(), 1u);
  EXPECT_FALSE(x.testee.file().open);
  EXPECT_EQ(x.testee.file().outbox.size(), 1u);
  EXPECT_FALSE(x.testee.next_due());
  // Whatever still arrives is for nobody.
  x.said.clear();
  x.invite(3);
  x.serve(2, first);
  x.did(x.testee.go());
  EXPECT_TRUE(x.said.empty());
  // The offer is said again to whoever welcomes it.
  x.did(x.testee.come(x.now));
  x.welcome();
  EXPECT_EQ(x.last<messages::offer_made>().pass.visit, (visit_id{me, {1}}));
}

TEST(dialogue, finishes_what_it_has_begun_when_it_drains) {
  talk x{state_rule::on_offer};
  x.invite(1);
  x.did(x.testee.drain());
  EXPECT_TRUE(x.all<messages::leave>().empty());
  x.visit(1);
  x.invite(2);
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::busy);
  x.answer(1, first, verdict::accepted);
  EXPECT_TRUE(x.all<messages::leave>().empty());
  x.answer(1, second, verdict::accepted);
  EXPECT_EQ(x.all<messages::leave>().size(), 1u);
}

TEST(dialogue, leaves_at_once_when_it_drains_with_nothing_under_way) {
  talk x{state_rule::on_offer};
  x.did(x.testee.drain());
  EXPECT_EQ(x.all<messages::leave>().size(), 1u);
}

TEST(dialogue, gives_a_visit_up_as_if_it_had_not_been) {
  talk x{state_rule::on_offer};
  const auto before = x.testee.file().state;
  x.invite(1);
  x.did(x.testee.give_up({me, {2}}));
  EXPECT_TRUE(x.all<messages::visit_declined>().empty());
  x.did(x.testee.give_up({me, {1}}));
  EXPECT_EQ(x.last<messages::visit_declined>().why,
            messages::decline_reason::no_offer);
  EXPECT_EQ(x.testee.file().state, before);
  EXPECT_TRUE(x.testee.file().outbox.empty());
}

TEST(dialogue, lets_go_of_what_it_fetched_when_a_visit_ends) {
  for (const bool withdrawn : {false, true}) {
    talk x{state_rule::on_offer};
    std::weak_ptr<const std::vector<float>> fetched;
    {
      x.invite(1);
      const auto values = share({0.f});
      fetched = values;
      x.hear(messages::line_served{.visit = {me, {1}},
                                   .line = first,
                                   .base = {4},
                                   .blocks = {{{1}, values}}});
    }
    EXPECT_FALSE(fetched.expired());
    if (withdrawn) {
      x.hear(messages::visit_ended{{me, {1}}});
    } else {
      x.serve(1, second);
      x.did(x.testee.finished({{me, {1}}, error{errc::diverged, "it diverged"}},
                              x.now));
    }
    x.said.clear();
    EXPECT_TRUE(fetched.expired());
  }
}

} // namespace troupe::actors
