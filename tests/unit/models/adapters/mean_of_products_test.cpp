// FlexLoRA's merge: what clients add is averaged, and factored anew.

#include "models/adapters/mean_of_products.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/adapters/rank_prefix.hpp"
#include "models/adapters/spectrum.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models::mean_of_products_test {

namespace {

constexpr std::size_t rows = 6;
constexpr std::size_t columns = 5;

/// Two factors of a matrix of 6 x 5, and its bias behind them.
block_layout block_of_rank(std::uint32_t rank) {
  block_layout x;
  x.name = "adapter";
  x.rank = rank;
  x.tensors = {{"w.u", {rank, rows}}, {"w.v", {rank, columns}}, {"b", {2}}};
  x.size = size_of(x.tensors);
  return x;
}

/// What a block adds to its matrix, of its first ranks.
dense product_of(const block_layout& block, std::span<const float> values,
                 std::size_t ranks) {
  dense w{rows, columns, std::vector<double>(rows * columns)};
  const auto v = values.subspan(block.rank * rows);
  for (std::size_t k = 0; k < ranks; ++k)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        w.at(i, j) += static_cast<double>(values[k * rows + i])
                      * static_cast<double>(v[k * columns + j]);
  return w;
}

dense product_of(const block_layout& block, const floats& values) {
  return product_of(block, values, block.rank);
}

void add(dense& to, double part, const dense& x) {
  for (std::size_t j = 0; j < to.values.size(); ++j)
    to.values[j] += part * x.values[j];
}

double distance(dense a, const dense& b) {
  add(a, -1, b);
  double squares = 0;
  for (const auto x : a.values)
    squares += x * x;
  return std::sqrt(squares);
}

floats sum_of(const floats& a, std::span<const float> b) {
  auto sum = a;
  for (std::size_t j = 0; j < sum.size(); ++j)
    sum[j] += b[j];
  return sum;
}

floats merged(const block_layout& block, const floats& base,
              const std::vector<merged_offer>& offers) {
  const auto made = mean_of_products(block, base, offers);
  EXPECT_TRUE(made) << made.error().context;
  return made ? *made : floats(block.size);
}

/// A version, and three clients' ways from there.
struct merge_case {
  block_layout block = block_of_rank(3);
  floats base = draw(block.size, 1);
  std::vector<floats> deltas{draw(block.size, 2), draw(block.size, 3),
                             draw(block.size, 4)};
  std::vector<double> parts{0.5, 0.3, 0.2};

  std::vector<merged_offer> offers() const {
    std::vector<merged_offer> all;
    for (std::size_t i = 0; i < deltas.size(); ++i)
      all.push_back({deltas[i], parts[i]});
    return all;
  }

  /// The mean of products, written out.
  dense mean() const {
    dense sum{rows, columns, std::vector<double>(rows * columns)};
    for (std::size_t i = 0; i < deltas.size(); ++i)
      add(sum, parts[i], product_of(block, sum_of(base, deltas[i])));
    return sum;
  }
};

/// What is left of a spectrum beyond a rank.
double tail_of(const std::vector<double>& values, std::size_t rank) {
  double squares = 0;
  for (auto k = rank; k < values.size(); ++k)
    squares += values[k] * values[k];
  return std::sqrt(squares);
}

} // namespace

TEST(mean_of_products, of_one_client_is_its_product) {
  const merge_case c;
  const auto now = sum_of(c.base, c.deltas[0]);
  const auto found = merged(c.block, c.base, {{c.deltas[0], 1}});
  EXPECT_LT(distance(product_of(c.block, found), product_of(c.block, now)),
            1e-5);
}

// As good as the decomposition of the whole matrix, which nobody makes.
TEST(mean_of_products, is_the_best_of_its_rank_and_so_are_its_first_ranks) {
  const merge_case c;
  const auto mean = c.mean();
  const auto values = singular_values(mean);
  const auto found = merged(c.block, c.base, c.offers());
  for (const std::size_t rank : {1, 2, 3})
    EXPECT_NEAR(distance(mean, product_of(c.block, found, rank)),
                tail_of(values, rank), 1e-5)
      << rank;
}

TEST(mean_of_products, has_inner_factors_of_length_one_and_the_values_outside) {
  const merge_case c;
  const auto values = singular_values(c.mean());
  const auto found = merged(c.block, c.base, c.offers());
  const auto dot = [&](std::size_t at, std::size_t size, std::size_t a,
                       std::size_t b) {
    double sum = 0;
    for (std::size_t j = 0; j < size; ++j)
      sum += static_cast<double>(found[at + a * size + j])
             * static_cast<double>(found[at + b * size + j]);
    return sum;
  };
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      EXPECT_NEAR(dot(3 * rows, columns, a, b), a == b ? 1 : 0, 1e-6);
      EXPECT_NEAR(dot(0, rows, a, b), a == b ? values[a] * values[a] : 0, 1e-4);
    }
}

TEST(mean_of_products, has_one_sign) {
  const merge_case c;
  const auto found = merged(c.block, c.base, c.offers());
  for (std::size_t k = 0; k < 3; ++k) {
    float largest = 0;
    for (std::size_t j = 0; j < columns; ++j)
      if (const auto x = found[3 * rows + k * columns + j];
          std::abs(x) > std::abs(largest))
        largest = x;
    EXPECT_GT(largest, 0) << k;
  }
}

TEST(mean_of_products, has_the_same_bits_each_time_and_averages_vectors) {
  const merge_case c;
  const auto found = merged(c.block, c.base, c.offers());
  EXPECT_EQ(merged(c.block, c.base, c.offers()), found);
  for (auto j = c.block.size - 2; j < c.block.size; ++j) {
    double mean = 0;
    for (std::size_t i = 0; i < 3; ++i)
      mean += c.parts[i] * static_cast<double>(c.base[j] + c.deltas[i][j]);
    EXPECT_NEAR(found[j], mean, 1e-6);
  }
}

TEST(mean_of_products, lacks_the_ranks_that_a_client_lacks) {
  const merge_case c;
  const auto few = take_prefix(c.block, 1, std::span{c.deltas[1]});
  auto offers = c.offers();
  offers[1].delta = few;
  // The same client, with all ranks, of which the others are zeros.
  auto zeroed = c.deltas[1];
  for (std::size_t j = rows; j < 3 * rows; ++j)
    zeroed[j] = -c.base[j];
  for (std::size_t j = 3 * rows + columns; j < 3 * (rows + columns); ++j)
    zeroed[j] = -c.base[j];
  auto whole = c.offers();
  whole[1].delta = zeroed;
  const auto found = merged(c.block, c.base, offers);
  EXPECT_EQ(found, merged(c.block, c.base, whole));
  EXPECT_NE(found, merged(c.block, c.base, c.offers()));
}

// All begin with outer factors of zeros: ranks that nobody has moved stay where
// they can be learned.
TEST(mean_of_products, keeps_the_inner_factor_of_a_rank_without_a_value) {
  const auto block = block_of_rank(2);
  auto base = draw(block.size, 1);
  std::fill_n(base.begin(), 2 * rows, 0.f);
  floats delta(block.size);
  delta[0] = 1; // Of the first rank alone.
  const auto found = merged(block, base, {{delta, 1}});
  for (std::size_t i = 0; i < rows; ++i)
    EXPECT_EQ(found[rows + i], 0);
  for (std::size_t j = 0; j < columns; ++j)
    EXPECT_EQ(found[2 * rows + columns + j], base[2 * rows + columns + j]);
  EXPECT_LT(
    distance(product_of(block, found), product_of(block, sum_of(base, delta))),
    1e-6);
}

// More ranks together than the matrix has rows: its core is as small as it.
TEST(mean_of_products, takes_more_clients_than_the_matrix_has_rows) {
  merge_case c;
  for (std::uint64_t i = 0; i < 5; ++i) {
    c.deltas.push_back(draw(c.block.size, 10 + i));
    c.parts.push_back(0.2);
  }
  for (auto& x : c.parts)
    x /= 2;
  const auto mean = c.mean();
  EXPECT_NEAR(
    distance(mean, product_of(c.block, merged(c.block, c.base, c.offers()))),
    tail_of(singular_values(mean), 3), 1e-5);
}

TEST(mean_of_products, refuses_a_factor_without_another) {
  auto block = block_of_rank(3);
  block.tensors[1].shape = {2, 5};
  block.size = size_of(block.tensors);
  const floats base(block.size);
  const merged_offer offer{base, 1};
  const auto found = mean_of_products(block, base, {&offer, 1});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().context,
            "block 'adapter' is merged as products, and its factor 'w.u' has "
            "no other of its ranks behind it");
}

} // namespace troupe::models::mean_of_products_test
