#include "policies/mixing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace troupe::policies {

namespace {

constexpr std::size_t kinds = merge_kind_names.size();

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

} // namespace

TEST(merge_rules, say_how_many_offers_they_need) {
  for (std::size_t i = 0; i < kinds; ++i)
    for (std::uint32_t count = 0; count < 4; ++count)
      for (std::uint64_t offers = 1; offers < 12; ++offers) {
        const merge_rule x{.kind = static_cast<merge_kind>(i), .count = count};
        const bool expected =
          x.kind == merge_kind::trimmed_mean ? 2 * count < offers
          : x.kind == merge_kind::krum       ? offers > 2 * count + 2
                                             : true;
        EXPECT_EQ(check(x, offers).has_value(), expected)
          << to_string(x.kind) << " " << count << " " << offers;
      }
}

TEST(merge_rules, a_refusal_says_what_would_do) {
  const auto found = check({.kind = merge_kind::trimmed_mean, .count = 2}, 4);
  ASSERT_FALSE(found);
  EXPECT_EQ(
    found.error().context,
    "merge rule 'trimmed_mean' with count 2 needs 5 offers, and a merge may "
    "have 4; larger merges or a smaller count would do");
  EXPECT_FALSE(check({.kind = merge_kind::krum, .count = 2, .keep = 6}, 7));
  EXPECT_FALSE(check({.kind = merge_kind::krum, .keep = 0}, 7));
}

TEST(merge_rules, a_rate_of_mixing_is_a_share) {
  for (const double bad : {0.0, -0.5, 1.1, nan})
    EXPECT_FALSE(check(merge_rule{.kind = merge_kind::mix, .amount = bad}))
      << bad;
  EXPECT_TRUE(check(merge_rule{.kind = merge_kind::mix, .amount = 1}));
}

TEST(merge_rules, each_has_a_name_and_words_of_its_own) {
  std::set<std::string> words;
  for (std::size_t i = 0; i < kinds; ++i)
    words.insert(describe({.kind = static_cast<merge_kind>(i)}));
  EXPECT_EQ(words.size(), kinds);
  EXPECT_EQ(to_string(merge_kind::krum), "krum");
  EXPECT_EQ(describe({.kind = merge_kind::trimmed_mean, .count = 2}),
            "mean of each coordinate without the 2 largest and smallest");
  EXPECT_EQ(describe({.kind = merge_kind::mix, .amount = 0.5}),
            "weighted mean, mixed in with rate 0.5");
}

TEST(takes_server_step, is_for_learned_means_only) {
  EXPECT_TRUE(takes_server_step("model", merge_kind::mean));
  EXPECT_FALSE(takes_server_step("model.buffers", merge_kind::mean));
  EXPECT_FALSE(takes_server_step("control", merge_kind::sum_over));
  EXPECT_TRUE(takes_server_step(merge_kind::krum));
  EXPECT_FALSE(takes_server_step(merge_kind::mix));
  EXPECT_FALSE(takes_server_step(merge_kind::replace));
  EXPECT_FALSE(takes_server_step(merge_kind::product_svd));
}

TEST(merge_rules, of_products_look_at_all_offers_and_take_few_ranks) {
  for (std::size_t i = 0; i < kinds; ++i) {
    const auto x = static_cast<merge_kind>(i);
    EXPECT_EQ(compares_offers(x), robust(x) || x == merge_kind::product_svd);
    EXPECT_EQ(takes_few_ranks(x),
              x == merge_kind::padded || x == merge_kind::product_svd);
  }
  EXPECT_EQ(to_string(merge_kind::product_svd), "product_svd");
}

TEST(server_numbers, stay_where_the_papers_define_them) {
  EXPECT_TRUE(check(server_numbers{}));
  EXPECT_TRUE(check(server_numbers{.beta1 = 0, .beta2 = 0}));
  for (const double bad : {-0.1, 1.0, nan}) {
    EXPECT_FALSE(check(server_numbers{.beta1 = bad})) << bad;
    EXPECT_FALSE(check(server_numbers{.beta2 = bad})) << bad;
  }
  for (const double bad : {0.0, -1.0, nan, HUGE_VAL}) {
    EXPECT_FALSE(check(server_numbers{.rate = bad})) << bad;
    EXPECT_FALSE(check(server_numbers{.tau = bad})) << bad;
  }
  EXPECT_EQ(check(server_numbers{.beta1 = 1}).error().context,
            "server beta1 is 1; from 0 and below 1 would do");
}

} // namespace troupe::policies
