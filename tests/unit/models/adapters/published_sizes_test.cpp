// What FLoRAL costs: the published tables of ranks, parameters and message
// sizes, by the options of the recipe.

#include <gtest/gtest.h>

#include "models/shapes.hpp"
#include "policies/catalogue.hpp"

namespace troupe::models::published_sizes_test {

namespace {

tensor_list linear(const std::string& name, std::int64_t from,
                   std::int64_t to) {
  return {{name + ".weight", {to, from}}, {name + ".bias", {to}}};
}

tensor_list kernel(const std::string& name, std::int64_t from, std::int64_t to,
                   std::int64_t width) {
  return {{name + ".weight", {to, from, width, width}}, {name + ".bias", {to}}};
}

tensor_list all_of(const std::vector<tensor_list>& layers) {
  tensor_list result;
  for (const auto& x : layers)
    result.insert(result.end(), x.begin(), x.end());
  return result;
}

const tensor_list one = linear("a", 10, 3);
const tensor_list two = all_of({linear("a", 10, 20), linear("b", 20, 1)});
const tensor_list mnist = all_of({linear("a", 784, 200), linear("b", 200, 10)});
const tensor_list cifar = all_of({kernel("a", 3, 32, 5), kernel("b", 32, 64, 3),
                                  linear("c", 1024, 64), linear("d", 64, 10)});
const tensor_list vgg =
  all_of({kernel("a", 3, 16, 3), kernel("b", 16, 32, 3), kernel("c", 32, 64, 3),
          kernel("d", 64, 128, 3), kernel("e", 128, 512, 3),
          linear("f", 512, 512), linear("g", 512, 512), linear("h", 512, 100)});

using counts = std::vector<std::size_t>;

struct row {
  const tensor_list& model;
  double components;
  options said;
  std::size_t base;
  counts ranks;
  std::size_t factors;
  std::size_t biases;
  std::size_t total; ///< Values that travel, each way.
};

const options percent{{"budget", 0.01}};
const options ten_percent{{"budget", 0.1}};
const options released{{"budget", 0.01}, {"rank_rule", 1}};
const options ten_released{{"budget", 0.1}, {"rank_rule", 1}};

// Specification, 3.8 and 2.7.
const row rows[] = {
  {one, 2, percent, 33, {1}, 13, 3, 65},
  {one, 2, ten_percent, 33, {1}, 13, 3, 65},
  {two, 4, percent, 241, {1, 1}, 51, 21, 529},
  {two, 4, ten_percent, 241, {1, 1}, 51, 21, 529},
  {mnist, 4, percent, 159'010, {1, 1}, 1194, 210, 164'626},
  {mnist, 4, ten_percent, 159'010, {15, 1}, 14'970, 210, 219'730},
  {cifar, 4, percent, 87'178, {1, 1, 1, 1}, 1625, 170, 94'358},
  {cifar, 4, released, 87'178, {1, 1, 1, 1}, 1625, 170, 94'358},
  {cifar, 4, ten_percent, 87'178, {1, 6, 6, 1}, 8505, 170, 121'878},
  {cifar, 4, ten_released, 87'178, {1, 4, 6, 1}, 7929, 170, 87'178 + 32'396},
  {vgg,
   10,
   percent,
   1'264'388,
   {1, 1, 1, 1, 3, 2, 2, 1},
   11'533,
   1876,
   1'398'478},
  {vgg,
   10,
   released,
   1'264'388,
   {1, 1, 1, 1, 2, 2, 2, 1},
   9613,
   1876,
   1'264'388 + 114'890},
  {vgg,
   10,
   ten_percent,
   1'264'388,
   {1, 3, 6, 12, 30, 25, 25, 8},
   122'825,
   1876,
   2'511'398},
  {vgg,
   10,
   ten_released,
   1'264'388,
   {1, 2, 4, 8, 20, 25, 25, 8},
   100'601,
   1876,
   1'264'388 + 1'024'770}};

/// All that the blocks of a method hold.
std::size_t travelling(std::string_view method, double components,
                       const tensor_list& model, const tensor_list& adapter) {
  const auto counted = policies::with_options(*policies::find_recipe(method),
                                              {{"components", components}});
  const auto blocks = make_layout(
    counted.value(),
    {{"model", model}, {"adapter", adapter}, {"model.buffers", {}}}, {});
  std::size_t sum = 0;
  for (const auto& x : blocks.value().blocks)
    sum += x.size;
  return sum;
}

} // namespace

TEST(published_sizes, are_those_of_the_recipe) {
  const auto& floral = *policies::find_recipe("floral");
  for (const auto& x : rows) {
    SCOPED_TRACE(x.total);
    const auto plan = adapters_for(floral, x.model, x.said).value().value();
    counts ranks;
    std::size_t factors = 0;
    for (const auto& m : plan.matrices) {
      ranks.push_back(m.rank);
      factors += m.rank * (m.rows + m.columns);
    }
    EXPECT_EQ(plan.model_size, x.base);
    EXPECT_EQ(ranks, x.ranks);
    EXPECT_EQ(factors, x.factors);
    EXPECT_EQ(plan.size(), x.factors + x.biases);
    EXPECT_EQ(travelling("floral", x.components, x.model, plan.tensors),
              x.total);
    EXPECT_EQ(travelling("ensemble", x.components, x.model, {}),
              static_cast<std::size_t>(x.components) * x.base);
  }
}

TEST(published_sizes, are_not_those_of_another_choice) {
  const auto& floral = *policies::find_recipe("floral");
  const auto plan = [&](const options& said) {
    return adapters_for(floral, mnist, said).value().value();
  };
  EXPECT_EQ(plan({{"rank", 8}}).matrices[1].rank, 8u);
  EXPECT_EQ(plan({{"budget", 0.01}, {"adapter_bias", 0}}).size(), 1194u);
}

TEST(published_sizes, are_of_convolutions_that_go_by_these_names) {
  const auto& words =
    find_option(*policies::find_recipe("floral"), "convolution")->words;
  EXPECT_EQ(words.at(static_cast<int>(kernel_split::none)), "none");
  EXPECT_EQ(words.at(static_cast<int>(kernel_split::in)), "in");
  EXPECT_EQ(words.at(static_cast<int>(kernel_split::out)), "out");
  EXPECT_EQ(words.at(static_cast<int>(kernel_split::balanced)), "balanced");
  EXPECT_EQ(words.at(static_cast<int>(kernel_split::filter)), "filter");
  EXPECT_EQ(words.at(static_cast<int>(kernel_split::balanced_2d)),
            "balanced_2d");
}

} // namespace troupe::models::published_sizes_test
