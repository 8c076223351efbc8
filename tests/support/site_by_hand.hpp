#pragma once

// A client so small that its visits can be computed by hand.

#include <memory>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "models/local_trainer.hpp"
#include "models/tasks/quadratic.hpp"
#include "policies/catalogue.hpp"

namespace troupe::test {

inline std::shared_ptr<const models::quadratic_problem>
bowl_around_three(std::size_t dimension) {
  const models::quadratic_options how{.dimension = dimension, .clients = 1};
  const std::vector<double> centre(dimension, 3);
  return std::make_shared<const models::quadratic_problem>(
    models::quadratic_problem{.how = how,
                              .curvature = std::vector<double>(dimension, 1),
                              .centre = centre,
                              .row_centre = centre});
}

/// A method of the catalogue, with so many components if it has some.
inline recipe with_components(std::uint32_t count, std::string_view name) {
  const auto* found = policies::find_recipe(name);
  if (!find_option(*found, "components"))
    return *found;
  auto method = policies::with_options(*found, {{"components", count}});
  EXPECT_TRUE(method);
  return *method;
}

/// Counts how often it is differentiated.
class counted_quadratic final : public models::quadratic {
public:
  counted_quadratic(std::shared_ptr<const models::quadratic_problem> problem,
                    int& passes)
    : quadratic(std::move(problem)),
      passes_(passes) {
    // nop
  }

  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override {
    ++passes_;
    return quadratic::backward(rows, seed);
  }

private:
  int& passes_;
};

/// One client with f(w) = |w - 3|^2 / 2, of two components where the method has
/// several, that makes one step of 0.1 with all it has.
struct site_by_hand {
  explicit site_by_hand(std::string_view name, options said = {},
                        std::size_t dimension = 1) {
    method = with_components(2, name);
    if (find_option(method, "components"))
      said["components"] = 2;
    said = with_defaults(method, std::move(said));
    const auto problem = bowl_around_three(dimension);
    models::quadratic model{problem};
    const auto adapters =
      models::adapters_for(method, model.parameter_list(), said).value();
    blocks = models::make_layout(method, models::shapes_of(model, adapters),
                                 {.weight_max = 30})
               .value();
    auto task = std::make_shared<models::local_task>();
    task->method = method;
    task->blocks = blocks;
    task->how.local_steps = 1;
    task->how.batch_size = 0;
    task->how.learning_rate = 0.1;
    task->how.method = said;
    task->clients = models::partition_of(*problem);
    task->weights = {10};
    task->adapters = adapters;
    trainer = models::make_local_trainer(
                task, std::make_unique<counted_quadratic>(problem, passes),
                kernels::make_backend({}).value())
                .value();
  }

  models::visit_input visit(const std::vector<float>& values) const {
    models::visit_input x{
      .visit = {{1}, {1}}, .fetched = {}, .chosen = {}, .state = {}};
    for (std::size_t i = 0; i < values.size(); ++i)
      x.fetched.push_back(
        {blocks.blocks[i].id,
         {0},
         share(std::vector<float>(blocks.blocks[i].size, values[i]))});
    return x;
  }

  int passes = 0; ///< Of the model, backward.
  recipe method;
  models::layout blocks;
  std::unique_ptr<models::trainer> trainer;
};

/// What is offered to a block; its first value.
inline double delta_of(const models::trained& x, std::uint64_t block) {
  for (const auto& part : x.parts)
    if (part.block == block_id{block})
      return part.delta->front();
  ADD_FAILURE() << "nothing offered to block " << block;
  return 0;
}

} // namespace troupe::test
