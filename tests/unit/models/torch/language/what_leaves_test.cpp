// What clients of a language model send in a thousand steps, as the bytes of
// the messages that carry it: nothing of what stays with a client is among it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/messages/wire.hpp"
#include "actors/transport/envelope.hpp"
#include "tests/support/every_language_method.hpp"

namespace troupe::test::what_leaves_test {

namespace {

using window = std::array<std::byte, 16>;
using windows = std::vector<window>;

/// Zeros beside a value or two are in everything that has not moved yet, and
/// say nothing of whose they are. Four learned values have hardly fewer than
/// twelve different bytes.
bool tells(const window& x) {
  auto sorted = x;
  std::ranges::sort(sorted);
  const auto rest = std::ranges::unique(sorted);
  return rest.begin() - sorted.begin() >= 8;
}

/// All at any byte, also between two values.
void add_windows(std::span<const std::byte> bytes, windows& to) {
  for (std::size_t at = 0; at + sizeof(window) <= bytes.size(); ++at) {
    window x;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), x.size(),
                x.begin());
    if (tells(x))
      to.push_back(x);
  }
}

/// How many of `own` are among what was sent.
std::size_t found_in(const windows& sent, const windows& own) {
  const auto is_sent = [&](const window& x) {
    return std::ranges::binary_search(sent, x);
  };
  return static_cast<std::size_t>(std::ranges::count_if(own, is_sent));
}

/// As `actors/client/dialogue.cpp` makes it.
messages::offer_made offer_of(const models::visit_input& in,
                              const models::trained& out) {
  messages::offer_made x;
  x.pass.visit = in.visit;
  x.pass.seed = in.seed;
  x.loss = out.loss;
  for (const auto& part : out.parts)
    x.blocks.push_back({part, in.find(part.block)->base});
  for (const auto& [name, values] : out.disclosures)
    x.disclosures.push_back({0, values});
  return x;
}

/// What a client has left of a block that all share is what it sends: where
/// the version was zero it is the very difference.
bool is_of_what_is_shared(std::string_view block) {
  return block.starts_with("left_");
}

/// A trainer that looks at what its visits come to.
class looking_trainer final : public models::trainer {
public:
  explicit looking_trainer(models::trainer& by) : by_(by) {
    // nop
  }

  using models::trainer::train;

  result<models::choice> choose(const models::visit_input& x) override {
    return by_.choose(x);
  }

  std::vector<result<models::trained>>
  train(std::span<const models::visit_input> xs) override {
    auto all = by_.train(xs);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i])
        look(xs[i], *all[i]);
    return all;
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    return by_.evaluate(x);
  }

  std::uint64_t examples(client_id x) const override {
    return by_.examples(x);
  }

  std::uint64_t steps(const models::visit_input& x) const override {
    return by_.steps(x);
  }

  windows sent, own;
  messages::offer_made last; ///< The last offer,
  models::client_state kept; ///< and what was kept beside it.
  std::uint64_t learned = 0; ///< Steps.

private:
  void look(const models::visit_input& in, const models::trained& out) {
    last = offer_of(in, out);
    kept = out.next;
    learned += out.steps;
    add_windows(transport::encode(last), sent);
    const auto add_own = [&](const personal_values& x) {
      add_windows(std::as_bytes(x.own_view()), own);
    };
    for (const auto& [name, values] : out.next.blocks)
      if (!is_of_what_is_shared(name))
        add_own(values);
    for (const auto& [name, values] : out.next.moments)
      add_own(values);
  }

  models::trainer& by_;
};

class what_leaves : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(all, what_leaves,
                         ::testing::Values("comigs", "pfedmoe", "pf2lora"),
                         [](const auto& x) { return x.param; });

} // namespace

TEST_P(what_leaves, in_a_thousand_steps_has_no_sixteen_bytes_of_what_stays) {
  auto how = language_setting_of(GetParam());
  how.how.local_steps = 10;
  routed_federation of{how};
  looking_trainer looks{of.trainer()};
  auto loop = of.loop_by(looks);
  for (std::uint64_t i = 0; i < 100; ++i) {
    // The last is of who has most.
    const std::vector<invited> one{
      {.client = {3 - i % 3}, .seed = derive_seed(7, "visit", i)}};
    const auto done = loop.round(one);
    ASSERT_TRUE(done) << done.error().context;
  }
  EXPECT_GE(looks.learned, 1000u);
  auto& sent = looks.sent;
  std::ranges::sort(sent);
  EXPECT_GT(sent.size(), 100u * 200u);
  EXPECT_GT(looks.own.size(), 100u * 200u);
  EXPECT_EQ(found_in(sent, looks.own), 0u);
  // They would be seen, wherever they stood.
  windows planted;
  auto leaking = looks.last;
  for (const auto& [name, values] : looks.kept.blocks)
    if (!is_of_what_is_shared(name)) {
      const auto all = values.own_view();
      leaking.blocks.front().delta = share({all.begin(), all.end()});
    }
  add_windows(transport::encode(leaking), planted);
  std::ranges::sort(planted);
  EXPECT_GT(found_in(planted, looks.own), 50u);
}

} // namespace troupe::test::what_leaves_test
