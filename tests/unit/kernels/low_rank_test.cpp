// Products of low rank: a mixture of adapters, and the way back.

#include <algorithm>

#include "tests/unit/kernels/backend_fixture.hpp"

namespace troupe::kernels::low_rank_test {

namespace {

struct factors {
  std::size_t rows, columns;
  floats u, v, scale;

  factors(std::size_t rows_, std::size_t columns_, std::size_t rank)
    : rows(rows_),
      columns(columns_),
      u(draw(rank * rows_, 1)),
      v(draw(rank * columns_, 2)),
      scale(draw(rank, 3)) {
    // nop
  }

  low_rank view() const {
    return {rows, columns, u, v, scale};
  }
};

struct slopes {
  floats u, v;
  doubles scale;

  explicit slopes(const factors& of)
    : u(of.u.size(), 7),
      v(of.v.size(), 7),
      scale(of.scale.size(), 7) {
    // nop
  }

  low_rank_slopes view() {
    return {u, v, scale};
  }
};

template <class T>
void expect_near(const std::vector<T>& found, const std::vector<T>& expected,
                 double size) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j)
    ASSERT_NEAR(found[j], expected[j], 1e-6 * size) << j;
}

constexpr std::size_t shapes[][3] = {{1, 1, 1},   {3, 5, 2},   {10, 200, 4},
                                     {7, 33, 12}, {64, 17, 3}, {2, 3, 0},
                                     {0, 4, 2}};

} // namespace

class low_rank_test : public backend_test {
protected:
  void SetUp() override {
    backend_test::SetUp();
    if (GetParam() == "cuda" && testee)
      GTEST_SKIP() << "products of low rank are not built for CUDA yet";
  }
};

TEST_P(low_rank_test, by_hand) {
  // base + 2 (1, 3)^T (1, 0, -1) + 1/2 (2, 0)^T (0, 4, 2)
  const floats base{1, 1, 1, 0, 0, 0}, u{1, 3, 2, 0}, v{1, 0, -1, 0, 4, 2},
    scale{2, 0.5};
  const low_rank x{2, 3, u, v, scale};
  floats out(6);
  ASSERT_TRUE(testee->expand(base, x, out));
  EXPECT_EQ(out, (floats{3, 5, 1, 6, 0, -6}));
  // G = (1 2 3; 4 5 6): G v_1 = (-2, -2), G^T u_1 = (13, 17, 21).
  const floats gradient{1, 2, 3, 4, 5, 6};
  floats du(4), dv(6);
  doubles ds(2);
  ASSERT_TRUE(testee->shrink(gradient, x, {du, dv, ds}));
  EXPECT_EQ(du, (floats{-2, -2, 14, 32}));
  EXPECT_EQ(dv, (floats{13, 17, 21, 2, 4, 6}));
  EXPECT_EQ(ds, (doubles{-8, 28}));
}

TEST_P(low_rank_test, agrees_with_the_reference) {
  for (const auto& [rows, columns, rank] : shapes) {
    const factors x{rows, columns, rank};
    const auto base = draw(rows * columns, 4);
    floats out(base.size()), exact(base.size());
    ASSERT_TRUE(testee->expand(base, x.view(), out));
    ASSERT_TRUE(reference->expand(base, x.view(), exact));
    expect_near(out, exact, 10);
    slopes ours{x}, theirs{x};
    ASSERT_TRUE(testee->shrink(base, x.view(), ours.view()));
    ASSERT_TRUE(reference->shrink(base, x.view(), theirs.view()));
    expect_near(ours.u, theirs.u, 10);
    expect_near(ours.v, theirs.v, 10);
    expect_near(ours.scale, theirs.scale, 100);
  }
}

// The ranks of two adapters behind each other are the mixture of the two.
TEST_P(low_rank_test, ranks_add_up) {
  const factors both{6, 40, 5};
  const auto base = draw(240, 4);
  floats whole(240), first(240), then(240);
  ASSERT_TRUE(testee->expand(base, both.view(), whole));
  const std::span u{both.u}, v{both.v}, s{both.scale};
  ASSERT_TRUE(
    testee->expand(base, {6, 40, u.first(12), v.first(80), s.first(2)}, first));
  ASSERT_TRUE(testee->expand(
    first, {6, 40, u.subspan(12), v.subspan(80), s.subspan(2)}, then));
  expect_near(then, whole, 10);
}

TEST_P(low_rank_test, slopes_are_those_of_finite_differences) {
  factors x{4, 9, 3};
  const auto gradient = draw(36, 5);
  slopes found{x};
  ASSERT_TRUE(testee->shrink(gradient, x.view(), found.view()));
  // Of <gradient, matrix> in the reference's digits; the factor's scale is
  // not in the slopes.
  const auto value = [&] {
    floats out(36);
    EXPECT_TRUE(reference->expand(floats(36), x.view(), out));
    double sum = 0;
    for (std::size_t j = 0; j < 36; ++j)
      sum += static_cast<double>(gradient[j]) * static_cast<double>(out[j]);
    return sum;
  };
  const auto slope_at = [&](float& at) {
    const float before = at, step = 0.25f; // The value is linear in each.
    at = before + step;
    const auto above = value();
    at = before - step;
    const auto below = value();
    at = before;
    return (above - below) / (2 * static_cast<double>(step));
  };
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(slope_at(x.scale[k]), found.scale[k], 1e-4);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(slope_at(x.u[k * 4 + i]), x.scale[k] * found.u[k * 4 + i],
                  1e-4);
    for (std::size_t j = 0; j < 9; ++j)
      EXPECT_NEAR(slope_at(x.v[k * 9 + j]), x.scale[k] * found.v[k * 9 + j],
                  1e-4);
  }
}

TEST_P(low_rank_test, refuses_what_does_not_fit) {
  const factors x{3, 5, 2};
  floats base(15), out(15);
  slopes to{x};
  auto short_factor = x.view();
  short_factor.u = short_factor.u.first(5);
  EXPECT_FALSE(testee->expand(base, short_factor, out));
  EXPECT_FALSE(testee->expand(std::span{base}.first(14), x.view(), out));
  EXPECT_FALSE(testee->shrink(std::span{base}.first(14), x.view(), to.view()));
  auto few = to.view();
  few.scale = few.scale.first(1);
  EXPECT_FALSE(testee->shrink(base, x.view(), few));
  EXPECT_EQ(out, floats(15));
}

TROUPE_FOR_ALL_BACKENDS(low_rank_test);

} // namespace troupe::kernels::low_rank_test
