// Products of low rank beside a layer's, over every backend: by hand, the laws
// of a row and of sums, the way back, and what is refused.

#include <algorithm>
#include <numeric>
#include <utility>

#include "tests/unit/kernels/backend_fixture.hpp"

namespace troupe::kernels::side_terms_test {

namespace {

using counts = std::vector<std::size_t>;

floats drawn(std::size_t size, std::uint64_t seed) {
  random_stream random{seed};
  floats out(size);
  for (auto& x : out)
    x = static_cast<float>(random.uniform() - 0.5);
  return out;
}

enum class weighing { none, per_term, per_row };

/// Terms, and rows that they stand beside.
struct scene {
  std::size_t inputs = 0, outputs = 0, count = 0;
  counts ranks;
  weighing how = weighing::none;
  std::size_t rank = std::accumulate(ranks.begin(), ranks.end(), 0ul);
  floats u = drawn(rank * outputs, 1);
  floats v = drawn(rank * inputs, 2);
  floats rows = drawn(count * inputs, 3);
  floats weights = drawn(how == weighing::none       ? 0
                         : how == weighing::per_term ? ranks.size()
                                                     : count * ranks.size(),
                         4);
  float scale = 0.75f;

  side_terms view() const {
    return {.inputs = inputs,
            .outputs = outputs,
            .ranks = ranks,
            .u = u,
            .v = v,
            .scale = scale,
            .weights = weights};
  }

  std::span<const float> row(std::size_t r) const {
    return std::span{rows}.subspan(r * inputs, inputs);
  }

  /// One row as if there were no other.
  scene alone(std::size_t r) const {
    auto one = *this;
    one.count = 1;
    one.rows.assign(row(r).begin(), row(r).end());
    if (how == weighing::per_row) {
      const std::span all{weights};
      const auto own = all.subspan(r * ranks.size(), ranks.size());
      one.weights.assign(own.begin(), own.end());
    }
    return one;
  }
};

struct passed {
  floats inner, y;

  friend bool operator==(const passed&, const passed&) = default;
};

passed forward(backend& by, const scene& x, floats y) {
  passed out{floats(x.count * x.rank), std::move(y)};
  const auto ok = by.side_forward(x.view(), x.rows, out.inner, out.y);
  EXPECT_TRUE(ok) << ok.error().context;
  return out;
}

struct slopes {
  floats u, v, rows;
  doubles weights;

  friend bool operator==(const slopes&, const slopes&) = default;
};

/// Begin as draws, so that adding is seen.
slopes backward(backend& by, const scene& x, const floats& inner,
                const floats& along) {
  slopes out{drawn(x.u.size(), 11), drawn(x.v.size(), 12),
             drawn(x.rows.size(), 13), doubles(x.weights.size(), 0.25)};
  const auto ok = by.side_backward(x.view(), x.rows, inner, along,
                                   {out.u, out.v, out.rows, out.weights});
  EXPECT_TRUE(ok) << ok.error().context;
  return out;
}

template <class T>
void expect_near(const std::vector<T>& found, const std::vector<T>& expected,
                 double by) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j)
    ASSERT_NEAR(found[j], expected[j], by) << j;
}

/// Inputs, outputs and rows, around lanes and what goes by fours.
constexpr std::size_t sizes[][3] = {
  {1, 1, 1}, {16, 33, 5}, {47, 7, 9}, {3, 64, 4}, {20, 20, 0}};

std::vector<scene> scenes() {
  const counts ranks[] = {{1}, {8}, {8, 2}, {}, {0, 3}, {1, 1, 1, 1, 1}};
  std::vector<scene> all;
  for (const auto how : {weighing::none, weighing::per_term, weighing::per_row})
    for (const auto& each : ranks)
      for (const auto& size : sizes)
        all.push_back({.inputs = size[0],
                       .outputs = size[1],
                       .count = size[2],
                       .ranks = each,
                       .how = how});
  return all;
}

/// What a refusal says. @pre it is one
std::string refused(const result<void>& x) {
  EXPECT_FALSE(x);
  EXPECT_EQ(x ? errc::unsupported : x.error().code, errc::invalid_argument);
  return x ? "" : x.error().context;
}

} // namespace

class side_terms_test : public backend_test {};

TEST_P(side_terms_test, by_hand) {
  // V x of (1, 2) is 3, -1 and 4; the terms count 2 and 10, and all twice.
  scene x{.inputs = 2, .outputs = 3, .count = 1, .ranks = {2, 1}};
  x.u = {1, 0, 0, 0, 1, 0, 0, 1, 1};
  x.v = {1, 1, 1, -1, 0, 2};
  x.rows = {1, 2};
  x.weights = {2, 10};
  x.scale = 2;
  const auto found = forward(*testee, x, {100, 100, 100});
  EXPECT_EQ(found.inner, (floats{3, -1, 4}));
  EXPECT_EQ(found.y, (floats{112, 176, 180}));
  // U g of (1, 0, -1) is 1, 0 and -1.
  slopes out{floats(9), floats(6), floats(2), doubles(2)};
  const floats along{1, 0, -1};
  ASSERT_TRUE(testee->side_backward(x.view(), x.rows, found.inner, along,
                                    {out.u, out.v, out.rows, out.weights}));
  EXPECT_EQ(out.u, (floats{12, 0, -12, -4, 0, 4, 80, 0, -80}));
  EXPECT_EQ(out.v, (floats{4, 8, 0, 0, -20, -40}));
  EXPECT_EQ(out.rows, (floats{4, 4 - 40}));
  EXPECT_EQ(out.weights, (doubles{6, -8}));
}

TEST_P(side_terms_test, agree_with_the_reference) {
  for (const auto& x : scenes()) {
    const auto y = drawn(x.count * x.outputs, 5);
    const auto ours = forward(*testee, x, y);
    const auto exact = forward(*reference, x, y);
    expect_near(ours.inner, exact.inner, 1e-5);
    expect_near(ours.y, exact.y, 1e-5);
    const auto along = drawn(y.size(), 6);
    const auto back = backward(*testee, x, exact.inner, along);
    const auto exactly = backward(*reference, x, exact.inner, along);
    expect_near(back.u, exactly.u, 1e-5);
    expect_near(back.v, exactly.v, 1e-5);
    expect_near(back.rows, exactly.rows, 1e-5);
    expect_near(back.weights, exactly.weights, 1e-5);
  }
}

TEST_P(side_terms_test, have_the_bits_of_the_cpu) {
  if (!has_bits_of_cpu())
    GTEST_SKIP() << "the reference has more digits";
  for (const auto& x : scenes()) {
    const auto y = drawn(x.count * x.outputs, 5);
    const auto exact = forward(*cpu, x, y);
    EXPECT_EQ(forward(*testee, x, y), exact);
    const auto along = drawn(y.size(), 6);
    EXPECT_EQ(backward(*testee, x, exact.inner, along),
              backward(*cpu, x, exact.inner, along));
  }
}

// Neither how many there are, nor their order, nor what is beside it.
TEST_P(side_terms_test, see_each_row_as_if_it_were_alone) {
  for (const auto& x : scenes()) {
    const auto y = drawn(x.count * x.outputs, 5);
    const auto along = drawn(y.size(), 6);
    const auto all = forward(*testee, x, y);
    floats of_rows(x.rows.size());
    ASSERT_TRUE(testee->side_backward(x.view(), x.rows, all.inner, along,
                                      {.rows = of_rows}));
    const auto part = [](const floats& of, std::size_t r, std::size_t width) {
      const auto some = std::span{of}.subspan(r * width, width);
      return floats(some.begin(), some.end());
    };
    for (std::size_t r = 0; r < x.count; ++r) {
      const auto one = x.alone(r);
      const auto seen = forward(*testee, one, part(y, r, x.outputs));
      EXPECT_EQ(seen.inner, part(all.inner, r, x.rank));
      EXPECT_EQ(seen.y, part(all.y, r, x.outputs));
      floats back(x.inputs);
      ASSERT_TRUE(testee->side_backward(one.view(), one.rows, seen.inner,
                                        part(along, r, x.outputs),
                                        {.rows = back}));
      EXPECT_EQ(back, part(of_rows, r, x.inputs));
    }
  }
}

TEST_P(side_terms_test, whose_outer_factor_is_zero_change_no_bit) {
  for (auto x : scenes()) {
    std::ranges::fill(x.u, 0.f);
    const auto y = drawn(x.count * x.outputs, 5);
    EXPECT_EQ(forward(*testee, x, y).y, y);
  }
}

TEST_P(side_terms_test, without_weights_count_as_if_each_were_one) {
  const scene bare{.inputs = 20, .outputs = 9, .count = 6, .ranks = {3, 2}};
  const auto y = drawn(54, 5);
  const auto expected = forward(*testee, bare, y);
  for (const std::size_t n : {2u, 12u}) {
    auto x = bare;
    x.weights.assign(n, 1.f);
    EXPECT_EQ(forward(*testee, x, y), expected) << n;
  }
}

TEST_P(side_terms_test, add_up_to_what_each_would_alone) {
  const scene both{.inputs = 20,
                   .outputs = 9,
                   .count = 6,
                   .ranks = {3, 2},
                   .how = weighing::per_term};
  const auto y = drawn(54, 5);
  const std::span u{both.u}, v{both.v};
  auto first = both, second = both;
  first.ranks = {3};
  first.rank = 3;
  first.u.assign(u.begin(), u.begin() + 27);
  first.v.assign(v.begin(), v.begin() + 60);
  first.weights = {both.weights[0]};
  second.ranks = {2};
  second.rank = 2;
  second.u.assign(u.begin() + 27, u.end());
  second.v.assign(v.begin() + 60, v.end());
  second.weights = {both.weights[1]};
  const auto then = forward(*testee, second, forward(*testee, first, y).y);
  expect_near(then.y, forward(*testee, both, y).y, 1e-6);
}

TEST_P(side_terms_test, compute_only_the_slopes_that_are_wanted) {
  const scene x{.inputs = 20,
                .outputs = 9,
                .count = 6,
                .ranks = {3, 2},
                .how = weighing::per_row};
  const auto inner = forward(*testee, x, floats(54)).inner;
  const auto along = drawn(54, 6);
  const auto all = backward(*testee, x, inner, along);
  auto u = drawn(x.u.size(), 11), v = drawn(x.v.size(), 12),
       rows = drawn(x.rows.size(), 13);
  doubles weights(x.weights.size(), 0.25);
  const auto back = [&](side_slopes out) {
    EXPECT_TRUE(testee->side_backward(x.view(), x.rows, inner, along, out));
  };
  back({.u = u});
  back({.v = v});
  back({.rows = rows});
  back({.weights = weights});
  EXPECT_EQ(u, all.u);
  EXPECT_EQ(v, all.v);
  EXPECT_EQ(rows, all.rows);
  EXPECT_EQ(weights, all.weights);
}

TEST_P(side_terms_test, have_the_slopes_of_finite_differences) {
  scene x{.inputs = 4,
          .outputs = 3,
          .count = 5,
          .ranks = {2, 1},
          .how = weighing::per_row};
  const auto along = drawn(15, 6);
  const auto value = [&] {
    const auto y = forward(*reference, x, floats(15)).y;
    double sum = 0;
    for (std::size_t j = 0; j < y.size(); ++j)
      sum += static_cast<double>(along[j]) * static_cast<double>(y[j]);
    return sum;
  };
  const auto inner = forward(*testee, x, floats(15)).inner;
  slopes found{floats(x.u.size()), floats(x.v.size()), floats(x.rows.size()),
               doubles(x.weights.size())};
  ASSERT_TRUE(
    testee->side_backward(x.view(), x.rows, inner, along,
                          {found.u, found.v, found.rows, found.weights}));
  const auto slope_at = [&](float& at) {
    const float before = at, step = 0.5f; // The value is linear in each.
    at = before + step;
    const auto above = value();
    at = before - step;
    const auto below = value();
    at = before;
    return above - below;
  };
  for (std::size_t j = 0; j < x.u.size(); ++j)
    EXPECT_NEAR(static_cast<double>(found.u[j]), slope_at(x.u[j]), 1e-6) << j;
  for (std::size_t j = 0; j < x.v.size(); ++j)
    EXPECT_NEAR(static_cast<double>(found.v[j]), slope_at(x.v[j]), 1e-6) << j;
  for (std::size_t j = 0; j < x.rows.size(); ++j)
    EXPECT_NEAR(static_cast<double>(found.rows[j]), slope_at(x.rows[j]), 1e-6);
  for (std::size_t j = 0; j < x.weights.size(); ++j)
    EXPECT_NEAR(found.weights[j], slope_at(x.weights[j]), 1e-6) << j;
}

TEST_P(side_terms_test, that_do_not_fit_are_refused) {
  const floats u(12288), v(5760), rows(1152);
  const counts ranks{8, 2};
  side_terms x{.inputs = 576, .outputs = 1536, .ranks = ranks, .u = u, .v = v};
  floats inner(20), y(3072);
  const auto forward = [&] { return testee->side_forward(x, rows, inner, y); };
  EXPECT_EQ(refused(forward()),
            "side terms of ranks 8 + 2 over 576 x 1536 have 15360 values of u, "
            "found 12288; factors of the same ranks would do");
  const floats whole(15360);
  x.u = whole;
  x.v = std::span{v}.first(576);
  EXPECT_EQ(refused(forward()),
            "side terms of ranks 8 + 2 over 576 x 1536 have 5760 values of v, "
            "found 576; factors of the same ranks would do");
  x.v = v;
  EXPECT_EQ(
    refused(testee->side_forward(x, std::span{rows}.first(577), inner, y)),
    "rows of side terms of ranks 8 + 2 over 576 x 1536 have 576 values "
    "each, found 577 together; whole rows would do");
  inner.resize(10);
  EXPECT_EQ(refused(forward()),
            "2 rows of side terms of ranks 8 + 2 over 576 x 1536 meet 10 "
            "values; 10 for each would do");
  inner.resize(20);
  const floats weights(3);
  x.weights = weights;
  EXPECT_EQ(refused(forward()),
            "side terms of ranks 8 + 2 over 576 x 1536 have 3 weights over 2 "
            "rows; none, one per term, or one per row and term would do");
  x.weights = {};
  floats some(7);
  EXPECT_EQ(refused(testee->side_backward(x, rows, inner, y, {.u = some})),
            "slopes of side terms of ranks 8 + 2 over 576 x 1536 differ in "
            "size from what they are along; none, or as many, would do");
  EXPECT_EQ(some, floats(7));
  x = {.inputs = 0, .outputs = 3};
  EXPECT_EQ(refused(testee->side_forward(x, {}, {}, {})),
            "no side terms over 0 x 3 stand beside a layer without values; at "
            "least one input and one output would do");
}

TROUPE_FOR_ALL_BACKENDS(side_terms_test);

} // namespace troupe::kernels::side_terms_test
