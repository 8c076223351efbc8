// The laws of an exact merge.

#include <algorithm>
#include <limits>

#include "kernels/elementwise.hpp"
#include "tests/unit/kernels/backend_fixture.hpp"

namespace troupe::kernels {

namespace {

std::vector<floats> draw_offers(std::size_t count, std::size_t size,
                                std::uint64_t seed) {
  std::vector<floats> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(draw(size, derive_seed(seed, "offer", i)));
  return result;
}

std::vector<term> terms_of(const std::vector<floats>& offers) {
  std::vector<term> result;
  for (const auto& x : offers)
    result.push_back({x, 1.0 / (1.0 + static_cast<double>(result.size()))});
  return result;
}

const auto infinity = std::numeric_limits<float>::infinity();
const auto nan = std::numeric_limits<float>::quiet_NaN();

} // namespace

class merge_test : public backend_test {
protected:
  template <class Term>
  doubles sum_of(const std::vector<Term>& terms, std::size_t size) {
    doubles sum(size);
    EXPECT_TRUE(testee->accumulate(std::span{terms}, g, sum));
    return sum;
  }

  template <class Term>
  void expect_refused(const std::vector<Term>& terms, errc code) {
    doubles sum(terms.size() > 0 ? 4099 : 4, 7.0);
    const auto answer = testee->accumulate(std::span{terms}, g, sum);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, code);
    EXPECT_EQ(sum, doubles(sum.size(), 7.0));
  }

  grid g;
};

TEST_P(merge_test, equals_extended_precision_within_the_grid) {
  for (std::size_t size : odd_sizes) {
    const auto offers = draw_offers(5, size, size + 1);
    const auto terms = terms_of(offers);
    const auto sum = sum_of(terms, size);
    for (std::size_t j = 0; j < size; ++j) {
      long double exact = 0;
      for (const auto& x : terms)
        exact += static_cast<long double>(x.weight) * x.values[j];
      // Each term is off by half a step at most, and by the product's own
      // rounding.
      ASSERT_NEAR(sum[j], static_cast<double>(exact),
                  0.5001 * g.step() * static_cast<double>(terms.size()))
        << "size " << size << ", index " << j;
    }
  }
}

TEST_P(merge_test, has_the_bits_of_the_reference) {
  for (std::size_t size : odd_sizes) {
    const auto offers = draw_offers(7, size, size + 2);
    const auto terms = terms_of(offers);
    doubles expected(size);
    ASSERT_TRUE(reference->accumulate(terms, g, expected));
    ASSERT_EQ(sum_of(terms, size), expected) << size;
    floats out(size), expected_out(size);
    const auto base = draw(size, 3);
    const scale by{.rate = 0.7, .total = 2.3};
    ASSERT_TRUE(reference->finish(base, expected, by, expected_out));
    ASSERT_TRUE(testee->finish(base, expected, by, out));
    ASSERT_EQ(out, expected_out) << size;
  }
}

TEST_P(merge_test, no_permutation_of_the_terms_changes_a_bit) {
  const auto offers = draw_offers(20, 257, 1);
  auto terms = terms_of(offers);
  const auto expected = sum_of(terms, 257);
  random_stream random{2};
  for (int i = 0; i < 50; ++i) {
    random.shuffle(terms);
    ASSERT_EQ(sum_of(terms, 257), expected);
  }
}

TEST_P(merge_test, no_split_into_calls_changes_a_bit) {
  // In calls of one it is folding on arrival.
  const auto offers = draw_offers(20, 257, 3);
  const auto terms = terms_of(offers);
  const auto expected = sum_of(terms, 257);
  for (std::size_t chunk = 1; chunk <= terms.size(); ++chunk) {
    doubles sum(257);
    for (std::span rest{terms}; !rest.empty();) {
      const auto n = std::min(chunk, rest.size());
      ASSERT_TRUE(testee->accumulate(rest.first(n), g, sum));
      rest = rest.subspan(n);
    }
    ASSERT_EQ(sum, expected) << chunk;
  }
}

TEST_P(merge_test, no_tiling_changes_a_bit) {
  constexpr std::size_t size = 4099;
  const auto offers = draw_offers(5, size, 4);
  const auto terms = terms_of(offers);
  const auto expected = sum_of(terms, size);
  for (std::size_t tile : {7, 64, 1000, 2048}) {
    doubles sum(size);
    for (std::size_t first = 0; first < size; first += tile) {
      const auto n = std::min(tile, size - first);
      std::vector<term> part;
      for (const auto& x : terms)
        part.push_back({x.values.subspan(first, n), x.weight});
      ASSERT_TRUE(
        testee->accumulate(part, g, std::span{sum}.subspan(first, n)));
    }
    ASSERT_EQ(sum, expected) << tile;
  }
}

TEST_P(merge_test, equal_offers_make_the_same_step_as_one) {
  const auto offer = draw(4099, 5);
  const auto weight = g.snap(0.3);
  const auto step = [&](std::size_t count) {
    const std::vector<term> terms(count, {offer, weight});
    floats out(offer.size());
    const auto total = static_cast<double>(count) * weight;
    EXPECT_TRUE(testee->finish(floats(offer.size(), 0.1f),
                               sum_of(terms, offer.size()),
                               {.rate = 0.7, .total = total}, out));
    return out;
  };
  const auto once = step(1);
  // 49 is where 49 * (1 / 49) is not 1: a factor instead of a quotient fails
  // here.
  for (std::size_t count : {2, 3, 5, 7, 10, 49, 100})
    ASSERT_EQ(step(count), once) << count;
}

TEST_P(merge_test, finishes_as_by_hand) {
  floats out(2);
  ASSERT_TRUE(testee->finish(floats{1.f, -1.f}, doubles{3.0, 6.0},
                             {.rate = 0.5, .total = 3}, out));
  EXPECT_EQ(out, (floats{1.5f, 0.f}));
}

TEST_P(merge_test, may_finish_in_place) {
  floats values{1.f, -1.f};
  ASSERT_TRUE(testee->finish(values, doubles{3.0, 6.0},
                             {.rate = 0.5, .total = 3}, values));
  EXPECT_EQ(values, (floats{1.5f, 0.f}));
}

TEST_P(merge_test, refuses_a_total_that_divides_nothing) {
  floats out(1, 7);
  for (double total : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_FALSE(testee->finish(floats{1}, doubles{1}, {.total = total}, out));
  EXPECT_FALSE(testee->finish(floats{1}, doubles{1, 2}, {}, out));
  EXPECT_EQ(out, floats{7});
}

TEST_P(merge_test, half_floats_add_as_if_widened_first) {
  random_stream random{6};
  std::vector<std::uint16_t> bits(4099);
  floats widened;
  for (auto& x : bits) {
    do
      x = static_cast<std::uint16_t>(random.below(1 << 16));
    while (!(std::abs(widen_half(x)) <= 1024));
    widened.push_back(widen_half(x));
  }
  EXPECT_EQ(sum_of(std::vector<f16_term>{{{bits}, 0.3}, {{bits}, 0.9}}, 4099),
            sum_of(std::vector<term>{{widened, 0.9}, {widened, 0.3}}, 4099));
}

TEST_P(merge_test, small_integers_add_as_if_widened_first) {
  std::vector<std::int8_t> values;
  floats widened;
  for (int i = 0; i < 4099; ++i) {
    values.push_back(static_cast<std::int8_t>(i % 256 - 128));
    widened.push_back(0.375f * static_cast<float>(values.back()));
  }
  EXPECT_EQ(sum_of(std::vector<int8_term>{{{values, 0.375f}, 0.3}}, 4099),
            sum_of(std::vector<term>{{widened, 0.3}}, 4099));
}

TEST_P(merge_test, a_small_integer_is_not_rounded_before_the_weight) {
  // As a float 127 * 0.1f loses bits that a fine grid can see.
  g = {.fraction_bits = 44, .terms_max = 2};
  const std::vector<std::int8_t> values{127};
  const auto exact = 127.0 * static_cast<double>(0.1f);
  EXPECT_EQ(sum_of(std::vector<int8_term>{{{values, 0.1f}, 1.0}}, 1)[0], exact);
  EXPECT_NE(exact, static_cast<double>(127 * 0.1f));
}

TEST_P(merge_test, refuses_what_cannot_be_added_exactly_and_writes_nothing) {
  const auto over = std::nextafter(1024.f, infinity); // product_max() is 1024.
  const auto fits = draw(4099, 7);
  for (std::size_t at : {0, 3000, 4098})
    for (float x : {nan, infinity, -infinity, over, -over}) {
      auto bad = fits;
      bad[at] = x;
      expect_refused(std::vector<term>{{fits, 1.0}, {bad, 1.0}, {fits, 0.1}},
                     errc::malformed_values);
    }
  expect_refused(std::vector<term>{{fits, HUGE_VAL}}, errc::malformed_values);
  const std::vector<std::uint16_t> half_infinity(4099, 0x7c00);
  expect_refused(std::vector<f16_term>{{{half_infinity}, 1.0}},
                 errc::malformed_values);
  const std::vector<std::int8_t> most(4099, 127);
  expect_refused(std::vector<int8_term>{{{most, 100.f}, 1.0}},
                 errc::malformed_values);
  const floats largest(4, 1024.f);
  EXPECT_EQ(sum_of(std::vector<term>{{largest, -1.0}}, 4), doubles(4, -1024));
}

TEST_P(merge_test, refuses_terms_of_another_size_and_writes_nothing) {
  const floats fits(4099, 1.f), shorter(4098, 1.f);
  expect_refused(std::vector<term>{{fits, 1.0}, {shorter, 1.0}},
                 errc::invalid_argument);
}

TEST_P(merge_test, refuses_more_terms_than_the_grid_has_room_for) {
  g.terms_max = 2;
  const floats fits(4099, 1.f);
  expect_refused(std::vector<term>(3, {fits, 1.0}), errc::invalid_argument);
}

TEST_P(merge_test, the_largest_sum_is_still_exact) {
  const floats most(1, 1024.f), least(1, static_cast<float>(g.step()));
  std::vector<term> terms(g.terms_max - 1, {most, 1.0});
  terms.push_back({least, 1.0});
  EXPECT_EQ(sum_of(terms, 1)[0], 1024.0 * (g.terms_max - 1) + g.step());
}

TROUPE_FOR_ALL_BACKENDS(merge_test);

TEST(widen_half, agrees_with_the_definition_for_every_bit_pattern) {
  for (unsigned i = 0; i < 1 << 16; ++i) {
    const int exponent = (i >> 10) & 31;
    const auto fraction = static_cast<float>(i & 1023);
    const float sign = i & 0x8000 ? -1 : 1;
    const auto x = widen_half(static_cast<std::uint16_t>(i));
    if (exponent == 31 && fraction != 0)
      ASSERT_TRUE(std::isnan(x)) << i;
    else if (exponent == 31)
      ASSERT_EQ(x, sign * infinity) << i;
    else if (exponent == 0)
      ASSERT_EQ(x, sign * std::ldexp(fraction, -24)) << i;
    else
      ASSERT_EQ(x, sign * std::ldexp(1024 + fraction, exponent - 25)) << i;
    ASSERT_EQ(std::signbit(x), sign < 0) << i;
  }
}

TEST(check_term, says_how_many_values_do_not_fit) {
  const floats values{1.f, 2000.f, nan};
  const auto answer = check_term({values, 1.0}, grid{});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().context,
            "2 of 3 values times weight are not finite or "
            "above 1024.000000");
  EXPECT_TRUE(check_term({std::span{values}.first(1), 1024.0}, grid{}));
}

TEST(make_backend, says_why_there_is_no_such_device) {
  const auto made = make_backend({device_kind::cuda, 1000});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unsupported);
  EXPECT_NE(made.error().context.find("CUDA"), std::string::npos);
}

} // namespace troupe::kernels
