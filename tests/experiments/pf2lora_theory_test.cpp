// PF2LoRA's convergence (pf2lora.md, 8.5) where x and y have several values:
// f(x, y) is a quadratic form that is strongly convex, so that y*(x), the outer
// objective and its gradient are known. What production's step does on the
// publication's scalar form is in two_level_theory_test; here are the lemmas
// themselves, at each step, and what is wrong in the printed rate.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/random.hpp"
#include "tests/support/small_matrices.hpp"

namespace troupe::test::pf2lora_theory_test {

namespace {

/// L of f together, and mu of f by y alone.
struct curvature_bounds {
  double smooth = 1;
  double convex = 1;

  double inner_rate() const {
    return 1 / (4 * smooth);
  }

  double of_outer() const {
    return smooth + smooth * smooth / convex;
  }

  /// The least of these is theorem 7.2's outer rate.
  std::array<double, 4> outer_rates() const {
    const auto kappa = smooth / convex;
    const auto n =
      25 * std::pow(smooth, 4) * (4 * kappa + 1) / (16 * convex * convex);
    return {
      convex * convex
        / (5 * std::pow(smooth, 3) * std::sqrt(4 * kappa - 1 / (4 * kappa))),
      1 / (8 * of_outer()), std::sqrt(1 / (16 * n)),
      std::cbrt(1 / (81 * n * of_outer()))};
  }

  double outer_rate() const {
    const auto all = outer_rates();
    return *std::min_element(all.begin(), all.end());
  }

  /// What is left of a distance by one step of y.
  double shrinks() const {
    return std::sqrt(1 - inner_rate() * convex);
  }

  /// Lemma I.5's constant.
  double bias() const {
    return smooth * (inner_rate() * smooth + 1) * shrinks();
  }

  /// Lemma I.7's C and D.
  std::pair<double, double> drift(double outer) const {
    const auto a = inner_rate() * convex;
    const auto both =
      2 * (1 + 1 / a) * outer * outer * smooth * smooth / (convex * convex);
    return {1 - a * a + both * bias() * bias(), both};
  }
};

/// f = (a x, x) / 2 + (b y, x) + (h y, y) / 2.
struct two_level_form {
  models::dense a, b, h;
  models::dense best; ///< y*(x) = - best x.
  curvature_bounds known;
};

two_level_form drawn_form(random_stream& draws) {
  constexpr std::size_t outer = 4;
  constexpr std::size_t inner = 3;
  const auto whole = drawn_positive({.size = outer + inner, .ridge = 1}, draws);
  two_level_form f{.a = part_of(whole, {0, 0, outer, outer}),
                   .b = part_of(whole, {0, outer, outer, inner}),
                   .h = part_of(whole, {outer, outer, inner, inner}),
                   .best = zeros(inner, outer),
                   .known = {}};
  for (std::size_t j = 0; j < outer; ++j) {
    vector_of_reals column(inner);
    for (std::size_t i = 0; i < inner; ++i)
      column[i] = f.b.at(j, i);
    const auto found = solved(f.h, column);
    for (std::size_t i = 0; i < inner; ++i)
      f.best.at(i, j) = found[i];
  }
  f.known = {.smooth = eigenvalues_of(whole).largest,
             .convex = eigenvalues_of(f.h).least};
  return f;
}

/// How far y is from y*(x).
vector_of_reals away(const two_level_form& f, const vector_of_reals& x,
                     const vector_of_reals& y) {
  return sum(y, 1, product(f.best, x));
}

vector_of_reals slope_of_inner(const two_level_form& f,
                               const vector_of_reals& x,
                               const vector_of_reals& y) {
  return sum(product(transposed(f.b), x), 1, product(f.h, y));
}

vector_of_reals slope_of_outer(const two_level_form& f,
                               const vector_of_reals& x,
                               const vector_of_reals& y) {
  return sum(product(f.a, x), 1, product(f.b, y));
}

/// By lemma I.2 it is the slope at y*.
vector_of_reals true_slope(const two_level_form& f, const vector_of_reals& x) {
  auto at_best = product(f.best, x);
  for (auto& value : at_best)
    value = -value;
  return slope_of_outer(f, x, at_best);
}

/// b (1 + sign rate h) (1 - rate h) e.
vector_of_reals bent(const two_level_form& f, double rate, double sign,
                     const vector_of_reals& e) {
  const auto once = sum(e, -rate, product(f.h, e));
  return product(f.b, sum(once, sign * rate, product(f.h, once)));
}

/// One step of the algorithm at a point, and what it is off.
struct seen_step {
  vector_of_reals after; ///< y'.
  vector_of_reals slope; ///< h.
};

/// @param sign of the correction: minus one is the algorithm's
seen_step step_at(const two_level_form& f, const vector_of_reals& x,
                  const vector_of_reals& y, double sign = -1) {
  const auto rate = f.known.inner_rate();
  seen_step s{.after = sum(y, -rate, slope_of_inner(f, x, y)), .slope = {}};
  s.slope = sum(slope_of_outer(f, x, s.after), sign * rate,
                product(f.b, slope_of_inner(f, x, s.after)));
  return s;
}

} // namespace

TEST(pf2lora_theory, correction_takes_the_bias_of_the_first_order_away) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    random_stream draws{seed};
    const auto f = drawn_form(draws);
    const auto rate = f.known.inner_rate();
    const auto x = drawn_reals(4, draws), y = drawn_reals(3, draws);
    const auto e = away(f, x, y);
    const auto off = [&](double sign) {
      return sum(step_at(f, x, y, sign).slope, -1, true_slope(f, x));
    };
    const auto corrected = bent(f, rate, -1, e), plain = bent(f, rate, 0, e),
               wrong = bent(f, rate, 1, e);
    EXPECT_LT(length(sum(off(-1), -1, corrected)), 1e-12 * length(wrong));
    EXPECT_LT(length(sum(off(0), -1, plain)), 1e-12 * length(wrong));
    EXPECT_LT(length(sum(off(1), -1, wrong)), 1e-12 * length(wrong));
    // In the norm in which (1 - rate h) shrinks all, which is y's own.
    const auto inner = [&](double sign) {
      const auto once = sum(e, -rate, product(f.h, e));
      return length(sum(once, sign * rate, product(f.h, once)));
    };
    EXPECT_LT(inner(-1), inner(0)) << seed;
    EXPECT_LT(inner(0), inner(1)) << seed;
  }
}

TEST(pf2lora_theory,
     lemmas_hold_at_each_step_and_the_sum_of_squares_is_bounded) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    random_stream draws{seed};
    const auto f = drawn_form(draws);
    const auto eta = f.known.outer_rate();
    const auto [keeps, adds] = f.known.drift(eta);
    auto x = drawn_reals(4, draws), y = drawn_reals(3, draws);
    double squares = 0, squares_before = 0;
    constexpr int steps = 40'000;
    for (int t = 0; t < steps; ++t) {
      const auto s = step_at(f, x, y);
      const auto slope = true_slope(f, x);
      const auto far = length(away(f, x, y));
      constexpr double rounding = 1e-9, least = 1e-200;
      // I.1.
      ASSERT_LE(length(away(f, x, s.after)),
                f.known.shrinks() * far * (1 + rounding) + least)
        << seed << ' ' << t;
      // I.5.
      ASSERT_LE(length(sum(s.slope, -1, slope)),
                f.known.bias() * far * (1 + rounding) + rounding * length(slope)
                  + least)
        << seed << ' ' << t;
      // I.3 and I.4, along the step.
      const auto next = sum(x, -eta, s.slope);
      const auto moved = eta * length(s.slope);
      ASSERT_LE(length(product(f.best, sum(next, -1, x))),
                f.known.smooth / f.known.convex * moved * (1 + rounding)
                  + least);
      ASSERT_LE(length(sum(true_slope(f, next), -1, slope)),
                f.known.of_outer() * moved * (1 + rounding)
                  + rounding * length(slope) + least);
      // I.7.
      const auto left = length(away(f, next, s.after));
      ASSERT_LE(left * left,
                (keeps * far * far + adds * inner_product(slope, slope))
                    * (1 + rounding)
                  + least)
        << seed << ' ' << t;
      squares += inner_product(slope, slope);
      if (t + 1 == steps / 4)
        squares_before = squares;
      x = next;
      y = s.after;
    }
    // Four times as many steps: what is left is that T times the average stays.
    EXPECT_LT(squares, 1.01 * squares_before) << seed;
    EXPECT_LT(length(x), 1e-2) << seed;
  }
}

// The theorem asks for C below one, and its own rate does not give that; a
// little less than half of it does, and then what is lost by y's lag is less
// than what is won.
TEST(pf2lora_theory, printed_rate_is_about_twice_what_its_proof_carries) {
  for (int kappa = 2; kappa <= 31; ++kappa) {
    const curvature_bounds x{.smooth = static_cast<double>(kappa), .convex = 1};
    const auto all = x.outer_rates();
    ASSERT_EQ(std::min_element(all.begin(), all.end()), all.begin());
    const auto printed = x.drift(x.outer_rate()).first;
    EXPECT_NEAR(printed, 1 + 1 / (16.0 * kappa * kappa), 1e-12) << kappa;
    const auto eta = 0.45 * x.outer_rate();
    const auto [keeps, adds] = x.drift(eta);
    EXPECT_LT(keeps, 1) << kappa;
    EXPECT_GT(0.5 - eta * x.of_outer()
                - (0.5 + eta * x.of_outer()) * x.bias() * x.bias() * adds
                    / (1 - keeps),
              0)
      << kappa;
  }
}

} // namespace troupe::test::pf2lora_theory_test
