// The gate's layers, over every backend: two by hand, the laws of a row and of
// sums, the way back. What happens to one row's logits is in gate_share_test.

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/unit/kernels/backend_fixture.hpp"

namespace troupe::kernels::gate_test {

namespace {

floats drawn(std::size_t size, std::uint64_t seed) {
  random_stream random{seed};
  floats out(size);
  for (auto& x : out)
    x = static_cast<float>(random.uniform() - 0.5);
  return out;
}

/// A gate, and rows that it sees.
struct scene {
  gate_shape of;
  std::size_t count;
  floats gate = drawn(of.size(), 1);
  floats rows = drawn(count * of.inputs, 2);

  std::span<const float> row(std::size_t r) const {
    return std::span{rows}.subspan(r * of.inputs, of.inputs);
  }
};

struct passed {
  floats hidden, logits;

  friend bool operator==(const passed&, const passed&) = default;
};

passed forward(backend& by, const scene& x, std::span<const float> rows) {
  const auto n = rows.size() / x.of.inputs;
  passed out{floats(n * x.of.hidden), floats(n * x.of.experts)};
  const auto ok = by.gate_forward(x.of, x.gate, rows, {out.hidden, out.logits});
  EXPECT_TRUE(ok) << ok.error().context;
  return out;
}

floats backward(backend& by, const scene& x, const floats& hidden,
                const floats& along, floats gradient) {
  const auto ok =
    by.gate_backward(x.of, x.gate, x.rows, hidden, along, gradient);
  EXPECT_TRUE(ok) << ok.error().context;
  return gradient;
}

doubles scores(backend& by, const scene& x, std::span<const float> rows,
               doubles sum) {
  const auto ok = by.gate_scores(x.of, x.gate, rows, sum);
  EXPECT_TRUE(ok) << ok.error().context;
  return sum;
}

template <class T>
void expect_near(const std::vector<T>& found, const std::vector<T>& expected,
                 double by) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j)
    ASSERT_NEAR(found[j], expected[j], by) << j;
}

// Around the tile of rows and the four outputs that go together.
constexpr gate_shape shapes[] = {{1, 1, 1},   {3, 5, 2},    {7, 4, 8},
                                 {64, 64, 5}, {33, 17, 12}, {200, 3, 1}};
constexpr std::size_t counts[] = {1, 7, 8, 9, 33};

/// What the two layers come to in double, times `along`, summed.
double value_of(const gate_shape& of, const doubles& gate, const floats& rows,
                const floats& along) {
  double sum = 0;
  for (std::size_t r = 0; r < rows.size() / of.inputs; ++r) {
    doubles hidden(of.hidden);
    for (std::size_t h = 0; h < of.hidden; ++h) {
      hidden[h] = gate[of.hidden_bias_at() + h];
      for (std::size_t i = 0; i < of.inputs; ++i)
        hidden[h] += gate[h * of.inputs + i]
                     * static_cast<double>(rows[r * of.inputs + i]);
      hidden[h] = std::max(hidden[h], 0.0);
    }
    for (std::size_t k = 0; k < of.experts; ++k) {
      auto logit = gate[of.output_bias_at() + k];
      for (std::size_t h = 0; h < of.hidden; ++h)
        logit += gate[of.output_at() + k * of.hidden + h] * hidden[h];
      sum += logit * static_cast<double>(along[r * of.experts + k]);
    }
  }
  return sum;
}

} // namespace

class gate_test : public backend_test {};

TEST_P(gate_test, by_hand) {
  // Layers (1 2; -1 1) + (0.5, -4) and (1 0; 0 1; 2 -1) + (0, 1, -1).
  const scene x{{2, 2, 3},
                2,
                {1, 2, -1, 1, 0.5f, -4, 1, 0, 0, 1, 2, -1, 0, 1, -1},
                {1, 2, -3, 4}};
  const auto found = forward(*testee, x, x.rows);
  EXPECT_EQ(found.hidden, (floats{5.5f, 0, 5.5f, 3}));
  EXPECT_EQ(found.logits, (floats{5.5f, 1, 10, 5.5f, 4, 7}));
  // ReLU holds back what goes to the first row's second value.
  EXPECT_EQ(
    backward(*testee, x, found.hidden, {1, 0, -1, 0, 2, 0.5f}, floats(15, 1)),
    (floats{-3, 3, -3.5f, 7, 1, 2.5f, 6.5f, 1, 12, 7, -1.75f, 2.5f, 2, 3,
            0.5f}));
}

TEST_P(gate_test, agrees_with_the_reference) {
  for (const auto& of : shapes)
    for (const auto count : counts) {
      const scene x{of, count};
      const auto ours = forward(*testee, x, x.rows);
      const auto exact = forward(*reference, x, x.rows);
      expect_near(ours.hidden, exact.hidden, 1e-5);
      expect_near(ours.logits, exact.logits, 1e-5);
      const auto along = drawn(count * of.experts, 3);
      const auto before = drawn(of.size(), 4);
      expect_near(backward(*testee, x, exact.hidden, along, before),
                  backward(*reference, x, exact.hidden, along, before), 1e-4);
      const doubles none(of.experts);
      expect_near(scores(*testee, x, x.rows, none),
                  scores(*reference, x, x.rows, none), 1e-4);
    }
}

TEST_P(gate_test, has_the_bits_of_the_cpu) {
  if (!has_bits_of_cpu())
    GTEST_SKIP() << "the reference has more digits";
  for (const auto& of : shapes) {
    const scene x{of, 33};
    const auto exact = forward(*cpu, x, x.rows);
    EXPECT_EQ(forward(*testee, x, x.rows), exact);
    const auto along = drawn(33 * of.experts, 3);
    const auto before = drawn(of.size(), 4);
    EXPECT_EQ(backward(*testee, x, exact.hidden, along, before),
              backward(*cpu, x, exact.hidden, along, before));
    const doubles none(of.experts);
    EXPECT_EQ(scores(*testee, x, x.rows, none), scores(*cpu, x, x.rows, none));
  }
}

// Neither how many there are, nor their order, nor what is beside it.
TEST_P(gate_test, sees_each_row_as_if_it_were_alone) {
  for (const auto& of : shapes) {
    const scene x{of, 37};
    const auto all = forward(*testee, x, x.rows);
    floats reversed;
    for (std::size_t r = 37; r-- > 0;)
      reversed.insert(reversed.end(), x.row(r).begin(), x.row(r).end());
    const auto backwards = forward(*testee, x, reversed);
    for (std::size_t r = 0; r < 37; ++r) {
      const auto one = forward(*testee, x, x.row(r));
      for (std::size_t h = 0; h < of.hidden; ++h) {
        ASSERT_EQ(one.hidden[h], all.hidden[r * of.hidden + h]) << r;
        ASSERT_EQ(one.hidden[h], backwards.hidden[(36 - r) * of.hidden + h]);
      }
      for (std::size_t k = 0; k < of.experts; ++k) {
        ASSERT_EQ(one.logits[k], all.logits[r * of.experts + k]) << r;
        ASSERT_EQ(one.logits[k], backwards.logits[(36 - r) * of.experts + k]);
      }
    }
  }
}

TEST_P(gate_test, scores_of_parts_are_those_of_all) {
  const scene x{{33, 17, 12}, 37};
  const doubles before(12, 0.1);
  const auto all = scores(*testee, x, x.rows, before);
  for (const std::size_t first : {0, 1, 7, 8, 20, 37}) {
    const std::span rows{x.rows};
    const auto part = scores(*testee, x, rows.first(first * 33), before);
    EXPECT_EQ(scores(*testee, x, rows.subspan(first * 33), part), all) << first;
  }
}

TEST_P(gate_test, scores_are_sums_of_softmax_in_the_order_of_the_rows) {
  const scene x{{5, 6, 4}, 21};
  const auto seen = forward(*testee, x, x.rows);
  doubles sum(4), share(4);
  for (std::size_t r = 0; r < 21; ++r) {
    softmax_of(std::span{seen.logits}.subspan(4 * r, 4), share);
    for (std::size_t k = 0; k < 4; ++k)
      sum[k] += share[k];
  }
  const auto found = scores(*testee, x, x.rows, doubles(4));
  expect_near(found, sum, 1e-5);
  if (has_bits_of_cpu()) {
    EXPECT_EQ(found, sum);
  }
  EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 21, 1e-9);
}

TEST_P(gate_test, the_way_back_is_that_of_finite_differences) {
  const scene x{{6, 5, 4}, 9};
  const auto along = drawn(9 * 4, 3);
  const auto seen = forward(*reference, x, x.rows);
  const auto found =
    backward(*testee, x, seen.hidden, along, floats(x.of.size()));
  doubles at(x.gate.begin(), x.gate.end());
  for (std::size_t j = 0; j < at.size(); ++j) {
    constexpr double step = 1e-6;
    const auto before = at[j];
    at[j] = before + step;
    const auto above = value_of(x.of, at, x.rows, along);
    at[j] = before - step;
    const auto below = value_of(x.of, at, x.rows, along);
    at[j] = before;
    EXPECT_NEAR(static_cast<double>(found[j]), (above - below) / (2 * step),
                1e-6)
      << j;
  }
}

TEST_P(gate_test, adds_to_a_gradient_row_after_row) {
  if (!has_bits_of_cpu())
    GTEST_SKIP() << "the reference rounds once in a call";
  const scene x{{33, 17, 5}, 11};
  const auto hidden = forward(*testee, x, x.rows).hidden;
  const auto along = drawn(11 * 5, 3);
  const auto before = drawn(x.of.size(), 4);
  const auto all = backward(*testee, x, hidden, along, before);
  auto parts = before;
  for (std::size_t r = 0; r < 11; ++r)
    ASSERT_TRUE(testee->gate_backward(
      x.of, x.gate, x.row(r), std::span{hidden}.subspan(17 * r, 17),
      std::span{along}.subspan(5 * r, 5), parts));
  EXPECT_EQ(parts, all);
}

TEST_P(gate_test, of_no_rows_is_nothing) {
  const scene x{{3, 4, 2}, 0};
  EXPECT_EQ(forward(*testee, x, {}), passed{});
  EXPECT_EQ(backward(*testee, x, {}, {}, floats(x.of.size(), 1)),
            floats(x.of.size(), 1));
  EXPECT_EQ(scores(*testee, x, {}, {1, 2}), (doubles{1, 2}));
}

TEST_P(gate_test, refuses_what_does_not_fit) {
  const scene x{{64, 64, 5}, 2};
  floats hidden(128, 7), logits(10, 7), gradient(4485, 7);
  doubles sum(5, 7);
  const auto refused = [](const result<void>& x, const std::string& text) {
    ASSERT_FALSE(x);
    EXPECT_EQ(x.error().code, errc::invalid_argument);
    EXPECT_EQ(x.error().context, text);
  };
  const std::span gate{x.gate}, rows{x.rows};
  refused(testee->gate_forward(x.of, gate.first(4480), rows, {hidden, logits}),
          "a gate of 64-64-5 has 4485 values, found 4480; a gate of the same "
          "width would do");
  refused(testee->gate_scores(x.of, gate, rows.first(100), sum),
          "rows of a gate of 64-64-5 have 64 values each, found 100 together; "
          "whole rows would do");
  refused(testee->gate_forward(x.of, gate, rows,
                               {std::span{hidden}.first(127), logits}),
          "2 rows of a gate of 64-64-5 meet 127 values; 64 for each would do");
  refused(testee->gate_backward(x.of, gate, rows, hidden,
                                std::span{logits}.first(9), gradient),
          "2 rows of a gate of 64-64-5 meet 9 values; 5 for each would do");
  refused(testee->gate_backward(x.of, gate, rows, hidden, logits,
                                std::span{gradient}.first(4480)),
          "values of 4485 and of 4480 meet");
  refused(testee->gate_scores(x.of, gate, rows, std::span{sum}.first(4)),
          "a gate of 64-64-5 has 5 scores, found room for 4; as much as there "
          "are experts would do");
  refused(testee->gate_scores({64, 64, 0}, gate, rows, sum),
          "a gate of 64-64-0 has a layer without values; at least one would "
          "do");
  EXPECT_EQ(hidden, floats(128, 7));
  EXPECT_EQ(logits, floats(10, 7));
  EXPECT_EQ(gradient, floats(4485, 7));
  EXPECT_EQ(sum, doubles(5, 7));
}

// In the second tile of rows: nothing is written of the first one either.
TEST_P(gate_test, refuses_logits_that_are_not_finite) {
  for (const auto bad : {std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::infinity()}) {
    scene x{{3, 16, 2}, 10};
    x.rows[8 * 3 + 1] = bad;
    floats hidden(160, 7), logits(20, 7);
    doubles sum(2, 7);
    const auto seen =
      testee->gate_forward(x.of, x.gate, x.rows, {hidden, logits});
    const auto scored = testee->gate_scores(x.of, x.gate, x.rows, sum);
    for (const auto* found : {&seen, &scored}) {
      ASSERT_FALSE(*found);
      EXPECT_EQ(found->error().code, errc::malformed_values);
      EXPECT_EQ(found->error().context,
                "row 9: what the gate says of expert 0 is not finite; finite "
                "rows and a gate that has not diverged (a smaller rate) would "
                "do");
    }
    EXPECT_EQ(hidden, floats(160, 7));
    EXPECT_EQ(logits, floats(20, 7));
    EXPECT_EQ(sum, doubles(2, 7));
  }
}

TROUPE_FOR_ALL_BACKENDS(gate_test);

} // namespace troupe::kernels::gate_test
