// What clients of a language model say in a thousand steps, as the bytes of
// their messages: nothing of what stays with a client is among it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "actors/client/dialogue.hpp"
#include "actors/messages/wire.hpp"
#include "actors/transport/envelope.hpp"
#include "core/random.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "tests/support/passing_trainer.hpp"
#include "tests/support/private_federation.hpp"

namespace troupe::test::what_leaves_test {

namespace {

using window = std::array<std::uint64_t, 2>;
using windows = std::vector<window>;

constexpr std::size_t window_bytes = sizeof(window);

/// How many different bytes the last few have.
class variety {
public:
  void enters(std::byte x) {
    different_ += times_[std::to_integer<std::size_t>(x)]++ == 0;
  }

  void leaves(std::byte x) {
    different_ -= --times_[std::to_integer<std::size_t>(x)] == 0;
  }

  std::size_t different() const {
    return different_;
  }

private:
  std::array<std::uint8_t, 256> times_{};
  std::size_t different_ = 0;
};

/// All at any byte, also between two values, that tell something. Zeros beside
/// a value or two are in everything that has not moved yet, and say nothing of
/// whose they are. Four learned values have hardly fewer than twelve different
/// bytes.
void add_windows(std::span<const std::byte> bytes, windows& to) {
  variety last;
  for (std::size_t end = 0; end < bytes.size(); ++end) {
    last.enters(bytes[end]);
    if (end + 1 < window_bytes)
      continue;
    const auto at = end + 1 - window_bytes;
    if (last.different() >= 8)
      std::memcpy(&to.emplace_back(), bytes.data() + at, window_bytes);
    last.leaves(bytes[at]);
  }
}

/// How many of `own` are among what was sent.
std::size_t found_in(const windows& sent, const windows& own) {
  const auto is_sent = [&](const window& x) {
    return std::ranges::binary_search(sent, x);
  };
  return static_cast<std::size_t>(std::ranges::count_if(own, is_sent));
}

/// What a client has left of a block that all share is what it sends: where
/// the version was zero it is the very difference. So is its adapter, where
/// that has nothing but what it offers to a line of its own, or outer factors
/// over inner ones that nobody trains.
bool is_of_what_is_shared(const models::layout& blocks,
                          std::string_view block) {
  constexpr std::string_view left = "left_";
  if (block.starts_with(left))
    return blocks.find(block.substr(left.size())) != nullptr;
  return block == models::adapter_family
         && (blocks.find(models::outer_factors_family) != nullptr
             || !blocks.family(models::line_family).empty());
}

/// As `node/join/home_scores.cpp` makes it of a run that stops by clients.
messages::scores_told scores_of(const models::evaluated& x) {
  messages::scores_told out{.question = 1, .scores = {}};
  for (const auto& [who, own] : x.per_client) {
    messages::told_score one{.client = who};
    one.count = own.count;
    one.correct = own.correct;
    one.loss = own.loss;
    if (const auto aside = x.own_validation.find(who);
        aside != x.own_validation.end()) {
      one.aside_count = aside->second.count;
      one.aside_correct = aside->second.correct;
      one.aside_loss = aside->second.loss;
    }
    out.scores.push_back(one);
  }
  return out;
}

/// A client's side of the conversation, as production has it, with a server
/// that grants all.
class speaker {
public:
  using hearer = std::function<void(const messages::any_message&)>;

  /// @pre `of` outlives it
  speaker(client_id me, const reference_options& of, hearer heard)
    : blocks_(std::make_shared<const models::layout>(of.blocks)),
      heard_(std::move(heard)),
      testee_({.me = me,
               .examples = 5,
               .method = &of.method,
               .blocks = blocks_,
               .beat_every = std::chrono::seconds{1}},
              {}) {
    did(testee_.start(now_));
  }

  /// One that came to this.
  void visit(const models::visit_input& in, const models::choice& chosen,
             const models::trained& out) {
    in_ = &in;
    chosen_ = &chosen;
    out_ = &out;
    messages::ticket pass;
    pass.visit = in.visit;
    pass.seed = in.seed;
    pass.role = in.role;
    pass.progress = in.progress;
    hear(messages::invited{pass});
    now_ += std::chrono::seconds{2};
    did(testee_.due(now_));
  }

  void leave() {
    did(testee_.go());
  }

private:
  void hear(const messages::any_message& x) {
    did(testee_.heard(x, now_));
  }

  void did(const actors::dialogue::actions& what) {
    for (const auto& x : what)
      if (const auto* said = std::get_if<messages::any_message>(&x)) {
        heard_(*said);
        answer(*said);
      } else if (const auto* job = std::get_if<actors::dialogue::job>(&x)) {
        work(*job);
      }
  }

  void work(const actors::dialogue::job& x) {
    messages::job_finished done{.visit = in_->visit, .outcome = *out_};
    if (std::holds_alternative<messages::choose_job>(x.what))
      done.outcome = *chosen_;
    did(testee_.finished(done, now_));
  }

  void answer(const messages::any_message& any) {
    if (const auto* hello = std::get_if<messages::hello>(&any)) {
      hear(
        messages::welcome{.nonce = hello->nonce, .session = {1}, .heads = {}});
    } else if (const auto* asked =
                 std::get_if<messages::fetch_requested>(&any)) {
      for (const auto& want : asked->wanted)
        serve(asked->leg, want);
    } else if (const auto* offer = std::get_if<messages::offer_made>(&any)) {
      std::set<line_id> lines;
      for (const auto& x : offer->blocks)
        lines.insert(blocks_->find(x.block)->line);
      for (const auto line : lines)
        hear(messages::offer_answered{
          offer->pass.visit, line, policies::verdict::accepted, {1}});
    }
  }

  void serve(std::uint32_t leg, const messages::want& what) {
    messages::line_served x{.visit = in_->visit,
                            .leg = leg,
                            .line = what.line,
                            .base = {},
                            .blocks = {}};
    for (const auto id : blocks_->find(what.line)->blocks) {
      const auto* found = in_->find(id);
      ASSERT_NE(found, nullptr) << "what a visit does without is asked for";
      x.base = found->base;
      x.blocks.push_back({id, models::take_prefix(*blocks_->find(id), what.rank,
                                                  found->values)});
    }
    hear(x);
  }

  std::shared_ptr<const models::layout> blocks_;
  hearer heard_;
  actors::dialogue testee_;
  instant now_ = std::chrono::seconds{1};
  const models::visit_input* in_ = nullptr; ///< Of the visit under way.
  const models::choice* chosen_ = nullptr;
  const models::trained* out_ = nullptr;
};

/// A trainer that hears what clients say of what it does, and looks at what
/// they keep.
class looking_trainer final : public passing_trainer {
public:
  looking_trainer(models::trainer& by, reference_options of)
    : passing_trainer(by),
      of_(std::move(of)) {
    // nop
  }

  using passing_trainer::train;

  result<models::choice> choose(const models::visit_input& x) override {
    auto found = passing_trainer::choose(x);
    if (found)
      choices_[x.visit.client] = *found;
    return found;
  }

  std::vector<result<models::trained>>
  train(std::span<const models::visit_input> xs) override {
    auto all = passing_trainer::train(xs);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i])
        look(xs[i], *all[i]);
    return all;
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    auto found = passing_trainer::evaluate(x);
    if (found)
      hear(scores_of(*found));
    return found;
  }

  void let_all_leave() {
    for (const auto& [who, x] : speakers_)
      x->leave();
  }

  windows sent, own;
  std::set<std::size_t> kinds; ///< Of messages that were said.
  messages::offer_made last;   ///< The last offer,
  floats kept;                 ///< and the largest of what was kept beside it.
  std::uint64_t learned = 0;   ///< Steps.

private:
  void hear(const messages::any_message& x) {
    kinds.insert(x.index());
    add_windows(transport::encode(x), sent);
    if (const auto* offer = std::get_if<messages::offer_made>(&x))
      last = *offer;
  }

  void look(const models::visit_input& in, const models::trained& out) {
    auto& who = speakers_[in.visit.client];
    if (!who)
      who = std::make_unique<speaker>(
        in.visit.client, of_,
        [this](const messages::any_message& x) { hear(x); });
    who->visit(in, choices_[in.visit.client], out);
    learned += out.steps;
    kept.clear();
    for (const auto& [name, values] : out.next.blocks)
      if (!is_of_what_is_shared(of_.blocks, name))
        add_own(values);
    for (const auto& [name, values] : out.next.moments)
      add_own(values);
  }

  void add_own(const personal_values& x) {
    const auto values = x.own_view();
    add_windows(std::as_bytes(values), own);
    if (values.size() > kept.size())
      kept.assign(values.begin(), values.end());
  }

  reference_options of_;
  std::map<client_id, models::choice> choices_; ///< The last of each.
  std::map<client_id, std::unique_ptr<speaker>> speakers_;
};

class what_leaves : public ::testing::TestWithParam<private_case> {};

INSTANTIATE_TEST_SUITE_P(all, what_leaves, ::testing::ValuesIn(private_cases()),
                         [](const auto& x) { return x.param.name; });

} // namespace

TEST_P(what_leaves, in_a_thousand_steps_has_no_sixteen_bytes_of_what_stays) {
  private_federation of{GetParam(), 10};
  looking_trainer looks{of.trainer(), of.loop_options()};
  reference_loop loop{looks, of.loop_options()};
  for (std::uint64_t i = 0; i < 30 || looks.learned < 1000; ++i) {
    // The last is of who has most.
    const std::vector<invited> one{
      {.client = {3 - i % 3}, .seed = derive_seed(7, "visit", i)}};
    const auto done = loop.round(one);
    ASSERT_TRUE(done) << done.error().context;
    if (i % 10 == 9) {
      const auto scored = loop.evaluate(true);
      ASSERT_TRUE(scored) << scored.error().context;
    }
  }
  const auto leaking_kept = looks.kept;
  auto leaking = looks.last;
  if (const auto method = of.loop_options().method;
      !method.finish.value.empty()) {
    const auto done = loop.last_visit(
      {.client = {3}, .seed = 8, .progress = 1, .role = last_role(method)});
    ASSERT_TRUE(done) << done.error().context;
  }
  looks.let_all_leave();
  // Hellos, beats, what is asked for, offers, scores and farewells.
  EXPECT_GE(looks.kinds.size(), 6u);
  EXPECT_GE(looks.learned, 1000u);
  auto& sent = looks.sent;
  std::ranges::sort(sent);
  EXPECT_GT(sent.size(), 100u * 50u);
  EXPECT_GT(looks.own.size(), 1000u);
  EXPECT_EQ(found_in(sent, looks.own), 0u);
  // They would be seen, wherever they stood.
  ASSERT_FALSE(leaking.blocks.empty());
  leaking.blocks.front().delta = share(leaking_kept);
  windows planted;
  add_windows(transport::encode(leaking), planted);
  std::ranges::sort(planted);
  EXPECT_GT(found_in(planted, looks.own), 20u);
}

} // namespace troupe::test::what_leaves_test
