// Why gate and experts learn together (DDOME's theorem 1): a truth of regions
// C_j = {x : v*_j x is largest}, in each of which y = w*_j x. Who fits experts
// to the regions of a random gate, and then a gate to these experts, ends with
// experts that are all near the mean of the true ones; who learns both at once
// does not. Losses are relative to that of the model that always says zero.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"

namespace troupe::test::ddome_theory_test {

namespace {

constexpr std::size_t inputs = 64;

using parameters = std::vector<double>;

struct samples {
  std::vector<double> x;
  std::vector<double> y;

  const double* row(std::size_t i) const {
    return x.data() + i * inputs;
  }
};

struct learning {
  bool experts = true; ///< False: the gate alone moves.
  std::size_t steps = 1500;
  std::size_t batch = 128;
};

/// Solves a x = b by elimination with the largest pivot. @pre a is regular
std::vector<double> solved(std::vector<std::vector<double>> a,
                           std::vector<double> b) {
  const auto n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    auto best = i;
    for (auto k = i + 1; k < n; ++k)
      if (std::abs(a[k][i]) > std::abs(a[best][i]))
        best = k;
    std::swap(a[i], a[best]);
    std::swap(b[i], b[best]);
    for (auto k = i + 1; k < n; ++k) {
      const auto by = a[k][i] / a[i][i];
      for (auto j = i; j < n; ++j)
        a[k][j] -= by * a[i][j];
      b[k] -= by * b[i];
    }
  }
  for (auto i = n; i-- > 0;) {
    for (auto j = i + 1; j < n; ++j)
      b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return b;
}

/// A truth of so many regions, and what models of as many experts make of it.
template <std::size_t Regions>
struct theorem {
  /// Vectors of a gate in the first columns, of experts in the others, by
  /// input: what belongs to one input lies together.
  static constexpr std::size_t columns = 2 * Regions;
  using said = std::array<double, columns>;

  static double& at(parameters& of, std::size_t input, std::size_t column) {
    return of[input * columns + column];
  }

  static double at(const parameters& of, std::size_t input,
                   std::size_t column) {
    return of[input * columns + column];
  }

  static said products(const parameters& of, const double* x) {
    said sum{};
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        sum[j] += x[i] * of[i * columns + j];
    return sum;
  }

  static std::size_t region_of(const said& x) {
    const auto last = x.begin() + Regions;
    return static_cast<std::size_t>(std::max_element(x.begin(), last)
                                    - x.begin());
  }

  /// Of the region that the gate says.
  static double answer(const parameters& of, const double* x) {
    const auto all = products(of, x);
    return all[Regions + region_of(all)];
  }

  /// Gate's and experts' vectors, each of them orthonormal.
  static parameters draw_truth(random_stream& draws) {
    parameters x(inputs * columns);
    for (auto& value : x)
      value = draws.normal();
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t k = j < Regions ? 0 : Regions; k < j; ++k) {
        double shared = 0;
        for (std::size_t i = 0; i < inputs; ++i)
          shared += at(x, i, j) * at(x, i, k);
        for (std::size_t i = 0; i < inputs; ++i)
          at(x, i, j) -= shared * at(x, i, k);
      }
      double squares = 0;
      for (std::size_t i = 0; i < inputs; ++i)
        squares += at(x, i, j) * at(x, i, j);
      for (std::size_t i = 0; i < inputs; ++i)
        at(x, i, j) /= std::sqrt(squares);
    }
    return x;
  }

  static samples draw_samples(const parameters& truth, std::size_t count,
                              random_stream& draws) {
    samples out;
    out.x.resize(count * inputs);
    for (auto& value : out.x)
      value = draws.normal();
    for (std::size_t i = 0; i < count; ++i)
      out.y.push_back(answer(truth, out.row(i)));
    return out;
  }

  /// Of the hard gate, relative to that of zero.
  static double loss(const parameters& of, const samples& on) {
    double off = 0;
    double all = 0;
    for (std::size_t i = 0; i < on.y.size(); ++i) {
      const auto error = answer(of, on.row(i)) - on.y[i];
      off += error * error;
      all += on.y[i] * on.y[i];
    }
    return off / all;
  }

  /// Least squares in each region of the gate that is there.
  static void fit_experts(parameters& of, const samples& on) {
    using square = std::vector<std::vector<double>>;
    std::vector<square> moments(Regions,
                                square(inputs, std::vector<double>(inputs)));
    std::vector<std::vector<double>> sums(Regions, std::vector<double>(inputs));
    for (std::size_t s = 0; s < on.y.size(); ++s) {
      const auto* x = on.row(s);
      const auto j = region_of(products(of, x));
      for (std::size_t i = 0; i < inputs; ++i) {
        sums[j][i] += x[i] * on.y[s];
        for (std::size_t k = 0; k < inputs; ++k)
          moments[j][i][k] += x[i] * x[k];
      }
    }
    for (std::size_t j = 0; j < Regions; ++j) {
      const auto expert = solved(std::move(moments[j]), std::move(sums[j]));
      for (std::size_t i = 0; i < inputs; ++i)
        at(of, i, Regions + j) = expert[i];
    }
  }

  /// Adds the slope of half the squared error of the soft gate's mixture.
  static void add_slope(const parameters& of, const double* x, double y,
                        parameters& to) {
    const auto all = products(of, x);
    const auto most = *std::max_element(all.begin(), all.begin() + Regions);
    std::array<double, Regions> share{};
    double sum = 0;
    for (std::size_t j = 0; j < Regions; ++j)
      sum += share[j] = std::exp(all[j] - most);
    double mixed = 0;
    for (std::size_t j = 0; j < Regions; ++j) {
      share[j] /= sum;
      mixed += share[j] * all[Regions + j];
    }
    said slope{};
    for (std::size_t j = 0; j < Regions; ++j) {
      slope[j] = share[j] * (all[Regions + j] - mixed) * (mixed - y);
      slope[Regions + j] = share[j] * (mixed - y);
    }
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        to[i * columns + j] += x[i] * slope[j];
  }

  /// Adam, with a rate of 0.02, and a tenth of that in the last third.
  static void learn(parameters& of, const samples& on, const learning& how) {
    parameters first(of.size());
    parameters second(of.size());
    parameters slope(of.size());
    std::size_t next = 0;
    for (std::size_t step = 1; step <= how.steps; ++step) {
      std::ranges::fill(slope, 0.0);
      for (std::size_t b = 0; b < how.batch; ++b) {
        add_slope(of, on.row(next), on.y[next], slope);
        next = (next + 1) % on.y.size();
      }
      const auto rate = 3 * step < 2 * how.steps ? 0.02 : 0.002;
      const auto t = static_cast<double>(step);
      const auto of_first = 1 - std::pow(0.9, t);
      const auto of_second = 1 - std::pow(0.999, t);
      for (std::size_t i = 0; i < of.size(); ++i) {
        if (!how.experts && i % columns >= Regions)
          continue;
        const auto g = slope[i] / static_cast<double>(how.batch);
        first[i] = 0.9 * first[i] + 0.1 * g;
        second[i] = 0.999 * second[i] + 0.001 * g * g;
        of[i] -= rate * (first[i] / of_first)
                 / (std::sqrt(second[i] / of_second) + 1e-8);
      }
    }
  }

  /// From the nearest true expert, of any expert.
  static double least_distance(const parameters& of, const parameters& truth) {
    auto least = 1e9;
    for (std::size_t j = 0; j < Regions; ++j)
      for (std::size_t k = 0; k < Regions; ++k) {
        double squares = 0;
        for (std::size_t i = 0; i < inputs; ++i) {
          const auto off = at(of, i, Regions + j) - at(truth, i, Regions + k);
          squares += off * off;
        }
        least = std::min(least, std::sqrt(squares));
      }
    return least;
  }

  /// A gate and experts of normal values that are next to nothing.
  static parameters draw_start(random_stream& draws) {
    parameters x(inputs * columns);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = (i % columns < Regions ? 0.02 : 0.01) * draws.normal();
    return x;
  }
};

/// What comes of some starts, disjoint and joint from each.
struct outcomes {
  std::vector<double> distances; ///< Of a disjoint expert, the least.
  std::vector<double> disjoint;
  std::vector<double> joint;

  std::size_t learned() const {
    return static_cast<std::size_t>(
      std::ranges::count_if(joint, [](double left) { return left <= 0.1; }));
  }
};

struct search {
  std::size_t starts_max = 24;
  std::size_t arrive = 3;    ///< Of joint learning; then it is over.
  std::size_t disjoint = 24; ///< Starts that disjoint learning has, too.
  learning how = {};
};

/// From as many starts as it takes.
template <std::size_t Regions>
outcomes of_starts(const search& x) {
  using theory = theorem<Regions>;
  random_stream draws{derive_seed(1, "ddome theory")};
  const auto truth = theory::draw_truth(draws);
  const auto train = theory::draw_samples(truth, 50'000, draws);
  const auto test = theory::draw_samples(truth, 10'000, draws);
  EXPECT_EQ(theory::loss(truth, test), 0);
  auto gate_alone = x.how;
  gate_alone.experts = false;
  outcomes all;
  while (all.joint.size() < x.starts_max && all.learned() < x.arrive) {
    const auto start = theory::draw_start(draws);
    if (all.disjoint.size() < x.disjoint) {
      auto disjoint = start;
      theory::fit_experts(disjoint, train);
      all.distances.push_back(theory::least_distance(disjoint, truth));
      theory::learn(disjoint, train, gate_alone);
      all.disjoint.push_back(theory::loss(disjoint, test));
    }
    auto joint = start;
    theory::learn(joint, train, x.how);
    all.joint.push_back(theory::loss(joint, test));
    ::testing::Test::RecordProperty("joint " + std::to_string(all.joint.size()),
                                    std::to_string(all.joint.back()));
  }
  return all;
}

} // namespace

// Of joint learning half of the starts end in a local optimum with two regions,
// three in four with four, and two in three with eight in four thousand larger
// steps, as those of mixtures of linear experts do; of disjoint learning all
// do.
TEST(ddome_theory, disjoint_stays_joint_learns) {
  const auto found = of_starts<4>({});
  EXPECT_GE(std::ranges::min(found.distances), 0.6);
  EXPECT_GE(std::ranges::min(found.disjoint), 0.5);
  EXPECT_EQ(found.learned(), 3u);
}

TEST(ddome_theory, disjoint_stays_joint_learns_with_two_regions) {
  const auto found = of_starts<2>({});
  EXPECT_GE(std::ranges::min(found.distances), 0.55); // At the limit 0.71,
  EXPECT_GE(std::ranges::min(found.disjoint), 0.35);  // and 0.5.
  EXPECT_EQ(found.learned(), 3u);
}

TEST(ddome_theory, disjoint_stays_joint_learns_with_eight_regions) {
  const auto found = of_starts<8>({.starts_max = 16,
                                   .arrive = 1,
                                   .disjoint = 3,
                                   .how = {.steps = 4000, .batch = 256}});
  EXPECT_GE(std::ranges::min(found.distances), 0.6);
  EXPECT_GE(std::ranges::min(found.disjoint), 0.6);
  EXPECT_EQ(found.learned(), 1u);
}

} // namespace troupe::test::ddome_theory_test
