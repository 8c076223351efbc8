// The best of several texts, by chances that are written down.

#include "models/language/beam_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "core/random.hpp"

namespace troupe::models::beam_search_test {

namespace {

using text = std::vector<std::uint32_t>;

/// Chances of the next token by the whole text before it.
using table = std::map<text, std::vector<double>>;

next_chances by(table known, std::size_t* asked = nullptr) {
  return [known, asked](const std::vector<text>& texts) {
    std::vector<float> all;
    for (const auto& x : texts) {
      EXPECT_EQ(x.size(), texts.front().size());
      for (const auto chance : known.at(x))
        all.push_back(static_cast<float>(std::log(chance)));
    }
    if (asked != nullptr)
      ++*asked;
    return result<std::vector<float>>{all};
  };
}

continuation found(const text& prompt, const continuation_rule& how,
                   std::uint32_t vocabulary, const next_chances& ask) {
  const auto x = search_beam(prompt, how, vocabulary, ask);
  EXPECT_TRUE(x) << x.error().context;
  return x ? *x : continuation{};
}

/// Of three tokens, where the most probable first token leads astray.
const table astray{{{0}, {0.1, 0.5, 0.4}},
                   {{0, 0}, {0.4, 0.3, 0.3}},
                   {{0, 1}, {0.3, 0.3, 0.4}},
                   {{0, 2}, {0.9, 0.05, 0.05}}};

/// Some chances after each text, a function of the text alone.
std::vector<double> drawn_chances(const text& after, std::size_t vocabulary) {
  std::uint64_t seed = 17;
  for (const auto x : after)
    seed = derive_seed(seed, "token", x);
  std::vector<double> chances;
  double sum = 0;
  for (std::size_t i = 0; i < vocabulary; ++i) {
    const auto x =
      1 + static_cast<double>(derive_seed(seed, "chance", i) % 1000);
    chances.push_back(x);
    sum += x;
  }
  for (auto& x : chances)
    x /= sum;
  return chances;
}

next_chances drawn(std::size_t vocabulary) {
  return [vocabulary](const std::vector<text>& texts) {
    std::vector<float> all;
    for (const auto& x : texts)
      for (const auto chance : drawn_chances(x, vocabulary))
        all.push_back(static_cast<float>(std::log(chance)));
    return result<std::vector<float>>{all};
  };
}

/// Of all texts of so many tokens the most probable.
continuation best_of_all(const text& prompt, std::size_t length,
                         std::uint32_t vocabulary) {
  if (length == 0)
    return {};
  continuation best{.tokens = {},
                    .log_chance = -std::numeric_limits<double>::infinity()};
  const auto chances = drawn_chances(prompt, vocabulary);
  for (std::uint32_t token = 0; token < vocabulary; ++token) {
    auto longer = prompt;
    longer.push_back(token);
    auto rest = best_of_all(longer, length - 1, vocabulary);
    rest.log_chance +=
      static_cast<double>(static_cast<float>(std::log(chances[token])));
    rest.tokens.insert(rest.tokens.begin(), token);
    if (rest.log_chance > best.log_chance)
      best = rest;
  }
  return best;
}

} // namespace

TEST(beam_search, takes_the_most_probable_token_where_one_is_followed) {
  const auto x = found({0}, {.beam = 1, .tokens_max = 2}, 3, by(astray));
  EXPECT_EQ(x.tokens, (text{1, 2}));
  EXPECT_NEAR(x.log_chance, std::log(0.5 * 0.4), 1e-6);
  EXPECT_FALSE(x.has_ended);
}

TEST(beam_search, finds_what_begins_less_probably) {
  const auto x = found({0}, {.beam = 2, .tokens_max = 2}, 3, by(astray));
  EXPECT_EQ(x.tokens, (text{2, 0}));
  EXPECT_NEAR(x.log_chance, std::log(0.4 * 0.9), 1e-6);
}

TEST(beam_search, of_all_texts_is_the_best_of_all) {
  for (std::uint32_t first = 0; first < 8; ++first) {
    const auto x = found({first}, {.beam = 64, .tokens_max = 4}, 4, drawn(4));
    const auto best = best_of_all({first}, 4, 4);
    EXPECT_EQ(x.tokens, best.tokens);
    EXPECT_NEAR(x.log_chance, best.log_chance, 1e-9);
  }
}

TEST(beam_search, is_never_worse_with_all_texts_than_with_some) {
  for (std::uint32_t first = 0; first < 8; ++first) {
    const auto all = found({first}, {.beam = 64, .tokens_max = 4}, 4, drawn(4));
    for (const std::uint32_t beam : {1u, 2u, 3u, 5u})
      EXPECT_LE(
        found({first}, {.beam = beam, .tokens_max = 4}, 4, drawn(4)).log_chance,
        all.log_chance + 1e-9);
  }
}

TEST(beam_search, ends_where_the_end_is_the_most_probable) {
  std::size_t asked = 0;
  const table known{{{0}, {0.1, 0.7, 0.2}}, {{0, 1}, {0.2, 0.2, 0.6}}};
  const auto x =
    found({0}, {.beam = 1, .tokens_max = 9, .end = 2}, 3, by(known, &asked));
  EXPECT_EQ(x.tokens, (text{1}));
  EXPECT_TRUE(x.has_ended);
  EXPECT_NEAR(x.log_chance, std::log(0.7 * 0.6), 1e-6);
  EXPECT_EQ(asked, 2u);
}

TEST(beam_search, may_end_at_once) {
  const table known{{{0}, {0.4, 0.6}}};
  const auto x =
    found({0}, {.beam = 1, .tokens_max = 9, .end = 1}, 2, by(known));
  EXPECT_TRUE(x.tokens.empty());
  EXPECT_TRUE(x.has_ended);
}

TEST(beam_search, weighs_lengths_by_a_power) {
  // To end at once has chance 0.5, to go on and end 0.5 * 0.6: log 0.3 / 2 is
  // above log 0.5.
  const table known{
    {{0}, {0.5, 0.5}}, {{0, 0}, {0.4, 0.6}}, {{0, 0, 0}, {0.9, 0.1}}};
  const continuation_rule how{.beam = 2, .tokens_max = 2, .end = 1};
  const auto fair = found({0}, how, 2, by(known));
  EXPECT_EQ(fair.tokens, (text{0}));
  EXPECT_TRUE(fair.has_ended);
  auto by_chance = how;
  by_chance.length_power = 0;
  const auto brief = found({0}, by_chance, 2, by(known));
  EXPECT_TRUE(brief.tokens.empty());
  EXPECT_TRUE(brief.has_ended);
}

TEST(beam_search, takes_of_equals_the_lesser_token) {
  const table even{{{0}, {0.25, 0.25, 0.25, 0.25}},
                   {{0, 0}, {0.25, 0.25, 0.25, 0.25}},
                   {{0, 1}, {0.25, 0.25, 0.25, 0.25}}};
  for (const std::uint32_t beam : {1u, 2u})
    EXPECT_EQ(found({0}, {.beam = beam, .tokens_max = 2}, 4, by(even)).tokens,
              (text{0, 0}));
}

TEST(beam_search, writes_nothing_where_nothing_may_be_written) {
  const auto x = found({0, 1}, {.beam = 3, .tokens_max = 0}, 2, by(table{}));
  EXPECT_TRUE(x.tokens.empty());
  EXPECT_FALSE(x.has_ended);
}

TEST(beam_search, passes_over_what_is_no_number_and_refuses_all_of_it) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto some = [&](const std::vector<text>&) {
    return result<std::vector<float>>{std::vector<float>{nan, -1.f, nan}};
  };
  EXPECT_EQ(found({0}, {.tokens_max = 1}, 3, some).tokens, (text{1}));
  const auto none = [&](const std::vector<text>&) {
    return result<std::vector<float>>{std::vector<float>{nan, nan, nan}};
  };
  const auto refused = search_beam(text{0, 2}, {.tokens_max = 1}, 3, none);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_data);
  EXPECT_EQ(refused.error().context,
            "of no token after 2 the model says a chance that is a number; "
            "weights that are finite would do");
}

TEST(beam_search, says_what_the_model_refuses) {
  const auto refused = search_beam(
    text{0}, {}, 3, [](const std::vector<text>&) -> result<std::vector<float>> {
      return fail(errc::unsupported, "no such thing");
    });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context, "no such thing");
}

} // namespace troupe::models::beam_search_test
