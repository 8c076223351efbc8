// Norms, activations, feed-forward blocks and distances, by hand.

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/torch/language/distances.hpp"
#include "models/torch/language/feed_forward.hpp"
#include "models/torch/language/norms.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::models::blocks_test {

namespace {

using test::apart;

at::Tensor row_of(std::vector<double> values) {
  return torch::tensor(values, at::kDouble);
}

double at_one(activation_kind how) {
  return activated(how, row_of({1})).item<double>();
}

/// What a result goes back through first.
std::string way_back_of(const at::Tensor& x) {
  return x.grad_fn()->name();
}

} // namespace

TEST(language_norms, of_a_layer_take_its_mean_away) {
  const auto y = layer_norm(row_of({1, 3}), row_of({2, 10}), row_of({5, 7}), 0);
  EXPECT_LT(apart(y, row_of({3, 17})), 1e-12);
  EXPECT_LT(
    apart(layer_norm(row_of({1, 3}), row_of({2, 10}), {}, 0), row_of({-2, 10})),
    1e-12)
    << "without a bias";
}

TEST(language_norms, by_the_mean_square_keep_the_mean) {
  // (1 + 49) / 2 = 25.
  const auto y = rms_norm(row_of({1, 7}), row_of({10, 5}), 0);
  EXPECT_LT(apart(y, row_of({2, 7})), 1e-12);
  EXPECT_NEAR(rms_norm(row_of({1}), row_of({1}), 3).item<double>(), 0.5, 1e-12)
    << "epsilon is added to the square";
}

TEST(language_norms, have_written_slopes_by_what_nobody_trains) {
  const auto x = row_of({1, 7, 2}).requires_grad_();
  const auto frozen = row_of({2, 10, 3});
  for (const auto& y :
       {rms_norm(x, frozen, 0), layer_norm(x, frozen, frozen, 0),
        layer_norm(x, frozen, {}, 0)})
    EXPECT_NE(way_back_of(y).find("norm_function"), std::string::npos)
      << way_back_of(y);
  EXPECT_FALSE(rms_norm(x.detach(), frozen, 0).requires_grad());
}

TEST(language_norms, have_slopes_along_what_is_trained) {
  const auto x = row_of({1, 7, 2}).requires_grad_();
  const auto frozen = row_of({2, 10, 3});
  const auto trained = row_of({2, 10, 3}).requires_grad_();
  const auto slope_of = [&](const at::Tensor& y) {
    return torch::autograd::grad({y.sum()}, {trained})[0];
  };
  const auto square = rms_norm(x, trained, 0);
  EXPECT_LT(apart(slope_of(square), (square / trained).detach()), 1e-12);
  EXPECT_LT(apart(square, rms_norm(x, frozen, 0)), 1e-12);
  const auto layer = layer_norm(x, trained, frozen, 0);
  EXPECT_LT(apart(slope_of(layer), ((layer - frozen) / trained).detach()),
            1e-12);
  EXPECT_LT(apart(slope_of(layer_norm(x, frozen, trained, 0)),
                  at::ones({3}, at::kDouble)),
            1e-12)
    << "a bias alone is trained";
}

TEST(language_activations, are_four) {
  EXPECT_NEAR(at_one(activation_kind::gelu), 0.8413447, 1e-7);
  EXPECT_NEAR(at_one(activation_kind::gelu_tanh), 0.8411920, 1e-7);
  EXPECT_NEAR(at_one(activation_kind::silu), 1 / (1 + std::exp(-1.)), 1e-12);
  EXPECT_EQ(at_one(activation_kind::relu), 1);
  EXPECT_EQ(activated(activation_kind::relu, row_of({-1})).item<double>(), 0);
}

TEST(language_feed_forward, multiplies_by_its_gate) {
  layer_places layer{};
  layer.up = 0;
  layer.gate = 1;
  layer.down = 2;
  layer.up_bias = layer.down_bias = no_place;
  language_spec spec;
  spec.activation = activation_kind::relu;
  // Of x = 2: up is 6 and 10, the gate 2 and nothing, down 5 times the first.
  const auto of =
    parts_of({row_of({3, 5}).reshape({2, 1}), row_of({1, -1}).reshape({2, 1}),
              row_of({5, 100}).reshape({1, 2})});
  const auto x = row_of({2});
  EXPECT_EQ(feed_forward(*of, spec, layer, x).item<double>(), 60);
  layer.gate = no_place;
  EXPECT_EQ(feed_forward(*of, spec, layer, x).item<double>(), 30 + 1000);
}

TEST(language_distances, that_are_near_have_a_bucket_each) {
  language_spec x;
  x.relative_buckets = 8;
  x.relative_span = 32;
  EXPECT_EQ(distances_of(x), 8);
  for (std::int64_t d = -4; d <= 4; ++d)
    EXPECT_EQ(bucket_of(d, x), d);
  // ceil(3 ln(d / 4) / ln(31 / 4)) + 4: up to 7.9, 15.7 and 31.
  EXPECT_EQ(bucket_of(5, x), 5);
  EXPECT_EQ(bucket_of(7, x), 5);
  EXPECT_EQ(bucket_of(8, x), 6);
  EXPECT_EQ(bucket_of(15, x), 6);
  EXPECT_EQ(bucket_of(16, x), 7);
  EXPECT_EQ(bucket_of(31, x), 7);
  EXPECT_EQ(bucket_of(-31, x), -7);
}

TEST(language_distances,
     are_kept_apart_without_buckets_and_end_with_the_table) {
  language_spec x;
  x.relative_span = 2;
  const auto rows = rows_of_distances(4, x);
  const auto expected = torch::tensor(
    {{2, 1, 0, 0}, {3, 2, 1, 0}, {3, 3, 2, 1}, {3, 3, 3, 2}}, at::kLong);
  EXPECT_TRUE(torch::equal(rows, expected)) << rows;
}

} // namespace troupe::models::blocks_test
