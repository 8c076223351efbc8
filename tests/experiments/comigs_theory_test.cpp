// What CoMiGS's alternation rests on (comigs.md, 8.3). Of a quadratic loss of
// experts and routers together each exact step of one after the other brings
// both nearer to where they end, by a factor that the loss's curvature says, in
// the norm that its part for the experts gives; by plain length it need not.
// And of linear experts whose shares are free of the router, at a price, all
// three steps lower the loss, which falls geometrically.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "tests/support/small_matrices.hpp"

namespace troupe::test::comigs_theory_test {

namespace {

/// f = (a θ, θ) / 2 + (b φ, φ) / 2 + (c θ, φ), which ends at zero.
struct alternation {
  models::dense a, b, c;
  double bound = 0; ///< (L - mu) / L of both together.

  /// Experts after a step of the routers and one of their own.
  vector_of_reals next(const vector_of_reals& experts) const {
    return solved(a, product(transposed(c), solved(b, product(c, experts))));
  }

  /// The same of the routers' alternation with the experts.
  alternation turned() const {
    return {.a = b, .b = a, .c = transposed(c), .bound = bound};
  }

  double norm(const vector_of_reals& experts) const {
    return std::sqrt(inner_product(experts, product(a, experts)));
  }
};

alternation drawn_alternation(random_stream& draws) {
  constexpr std::size_t experts = 3;
  constexpr std::size_t routers = 2;
  const auto whole = drawn_positive(
    {.size = experts + routers, .ridge = 0.01, .spread = 1}, draws);
  const auto range = eigenvalues_of(whole);
  return {.a = part_of(whole, {0, 0, experts, experts}),
          .b = part_of(whole, {experts, experts, routers, routers}),
          .c = part_of(whole, {experts, 0, routers, experts}),
          .bound = (range.largest - range.least) / range.largest};
}

/// The largest part of what a step may leave of a distance that it leaves, in
/// the experts' norm and by length.
struct left_parts {
  double by_norm = 0;
  double by_length = 0;
};

left_parts largest_left(const alternation& of, vector_of_reals at) {
  left_parts most;
  // Ever nearer to the direction that shrinks least.
  for (int k = 0; k < 20; ++k) {
    auto next = of.next(at);
    most.by_norm =
      std::max(most.by_norm, of.norm(next) / (of.bound * of.norm(at)));
    most.by_length =
      std::max(most.by_length, length(next) / (of.bound * length(at)));
    const auto size = length(next);
    for (auto& x : next)
      x /= size;
    at = std::move(next);
  }
  return most;
}

constexpr std::size_t inputs = 5;
constexpr std::size_t experts = 3;
constexpr std::size_t examples = 60;
constexpr std::size_t weights = inputs * experts; // Of experts, or routers.

using per_expert = std::array<double, experts>;

struct shared_example {
  std::array<double, inputs> x{}; ///< Of length one.
  double label = 1;               ///< Or minus one.
  per_expert shares{};            ///< On the simplex.
};

per_expert products(const vector_of_reals& of, const shared_example& e) {
  per_expert sums{};
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t j = 0; j < experts; ++j)
      sums[j] += e.x[i] * of[i * experts + j];
  return sums;
}

double mixed(const per_expert& shares, const per_expert& said) {
  double all = 0;
  for (std::size_t j = 0; j < experts; ++j)
    all += shares[j] * said[j];
  return all;
}

per_expert softmax(per_expert logits) {
  const auto most = *std::max_element(logits.begin(), logits.end());
  double all = 0;
  for (auto& x : logits)
    all += x = std::exp(x - most);
  for (auto& x : logits)
    x /= all;
  return logits;
}

double loss_of(const shared_example& e, double said) {
  return std::log1p(std::exp(-e.label * said));
}

double loss_slope(const shared_example& e, double said) {
  return -e.label / (1 + std::exp(e.label * said));
}

/// F of the publication with mu = 1 and the logistic loss.
class decoupled_mixture {
public:
  decoupled_mixture(double ridge, random_stream& draws)
    : ridge_(ridge),
      experts_(drawn_reals(weights, draws)),
      routers_(drawn_reals(weights, draws)),
      all_(examples) {
    for (auto& e : all_) {
      double squares = 0;
      for (auto& x : e.x) {
        x = draws.normal();
        squares += x * x;
      }
      for (auto& x : e.x)
        x /= std::sqrt(squares);
      e.label = draws.chance(0.5) ? 1 : -1;
    }
  }

  /// F after each of the three steps of a sweep.
  std::array<double, 3> sweep() {
    for (auto& e : all_)
      e.shares = best_shares(e);
    const auto after_shares = value();
    minimise(routers_,
             [this](const shared_example& e, vector_of_reals& slope,
                    models::dense& bend) { add_of_router(e, slope, bend); });
    const auto after_routers = value();
    minimise(experts_,
             [this](const shared_example& e, vector_of_reals& slope,
                    models::dense& bend) { add_of_experts(e, slope, bend); });
    return {after_shares, after_routers, value()};
  }

private:
  double value() const {
    double sum = 0;
    for (const auto& e : all_) {
      const auto logits = products(routers_, e);
      double powers = 0;
      for (std::size_t j = 0; j < experts; ++j) {
        powers += std::exp(logits[j]);
        sum += e.shares[j] * (std::log(e.shares[j]) - logits[j]);
      }
      sum +=
        std::log(powers) + loss_of(e, mixed(e.shares, products(experts_, e)));
    }
    return sum / examples
           + ridge_ / 2
               * (inner_product(experts_, experts_)
                  + inner_product(routers_, routers_));
  }

  /// They are a softmax of the router's logits less what the loss says of each
  /// expert, which depends on them through one number.
  per_expert best_shares(const shared_example& e) const {
    const auto said = products(experts_, e);
    const auto logits = products(routers_, e);
    const auto shares_at = [&](double mean) {
      auto x = logits;
      for (std::size_t j = 0; j < experts; ++j)
        x[j] -= loss_slope(e, mean) * said[j];
      return softmax(x);
    };
    auto low = *std::min_element(said.begin(), said.end());
    auto high = *std::max_element(said.begin(), said.end());
    for (int k = 0; k < 100; ++k) {
      const auto middle = (low + high) / 2;
      (mixed(shares_at(middle), said) > middle ? low : high) = middle;
    }
    return shares_at((low + high) / 2);
  }

  void add_of_experts(const shared_example& e, vector_of_reals& slope,
                      models::dense& bend) const {
    const auto by = loss_slope(e, mixed(e.shares, products(experts_, e)));
    const auto curve = std::abs(by) * (1 - std::abs(by));
    vector_of_reals feature(weights);
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t j = 0; j < experts; ++j)
        feature[i * experts + j] = e.x[i] * e.shares[j];
    for (std::size_t p = 0; p < weights; ++p) {
      slope[p] += by * feature[p] / examples;
      for (std::size_t q = 0; q < weights; ++q)
        bend.at(p, q) += curve * feature[p] * feature[q] / examples;
    }
  }

  void add_of_router(const shared_example& e, vector_of_reals& slope,
                     models::dense& bend) const {
    const auto chances = softmax(products(routers_, e));
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t j = 0; j < experts; ++j) {
        const auto p = i * experts + j;
        slope[p] += e.x[i] * (chances[j] - e.shares[j]) / examples;
        for (std::size_t k = 0; k < inputs; ++k)
          for (std::size_t l = 0; l < experts; ++l)
            bend.at(p, k * experts + l) += e.x[i] * e.x[k] * chances[j]
                                           * ((j == l ? 1 : 0) - chances[l])
                                           / examples;
      }
  }

  /// Newton's steps, to the end.
  template <class Add>
  void minimise(vector_of_reals& of, Add add) {
    for (int k = 0; k < 30; ++k) {
      auto slope = sum(vector_of_reals(weights), ridge_, of);
      auto bend = zeros(weights, weights);
      for (std::size_t p = 0; p < weights; ++p)
        bend.at(p, p) = ridge_;
      for (const auto& e : all_)
        add(e, slope, bend);
      const auto step = solved(bend, slope);
      of = sum(of, -1, step);
      if (length(step) < 1e-14)
        return;
    }
  }

  double ridge_;
  vector_of_reals experts_;
  vector_of_reals routers_;
  std::vector<shared_example> all_;
};

/// How much of what is left to lose a sweep may leave.
struct wanted_fall {
  double ridge = 0;
  double most = 0;
};

} // namespace

TEST(comigs_theory, alternation_contracts_in_the_norm_of_who_moves) {
  random_stream draws{7};
  double by_length = 0;
  for (int i = 0; i < 200; ++i) {
    const auto of = drawn_alternation(draws);
    const auto by_experts = largest_left(of, drawn_reals(3, draws));
    const auto by_routers = largest_left(of.turned(), drawn_reals(2, draws));
    ASSERT_LE(by_experts.by_norm, 1 + 1e-9) << i;
    ASSERT_LE(by_routers.by_norm, 1 + 1e-9) << i;
    by_length = std::max(by_length, by_experts.by_length);
  }
  EXPECT_GT(by_length, 1.5) << "by length the bound does not hold";
}

TEST(comigs_theory, decoupled_mixtures_lose_less_with_each_step) {
  for (const auto& wanted :
       {wanted_fall{2, 4e-3}, wanted_fall{0.5, 0.05}, wanted_fall{0.1, 0.4}})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      random_stream draws{seed};
      decoupled_mixture mixture{wanted.ridge, draws};
      std::vector<double> ends;
      auto before = mixture.sweep();
      ends.push_back(before[2]);
      for (int k = 0; k < 39; ++k) {
        const auto now = mixture.sweep();
        ASSERT_LE(now[0], before[2] + 1e-13) << wanted.ridge << ' ' << k;
        ASSERT_LE(now[1], now[0] + 1e-13) << wanted.ridge << ' ' << k;
        ASSERT_LE(now[2], now[1] + 1e-13) << wanted.ridge << ' ' << k;
        ends.push_back(now[2]);
        before = now;
      }
      for (std::size_t k = 0; k < 5; ++k)
        if (const auto left = ends[k] - ends.back(); left > 1e-10) {
          EXPECT_LT((ends[k + 1] - ends.back()) / left, wanted.most)
            << wanted.ridge << ' ' << seed << ' ' << k;
        }
      EXPECT_GT(ends[0] - ends.back(), 0.05) << "there was something to lose";
    }
}

} // namespace troupe::test::comigs_theory_test
