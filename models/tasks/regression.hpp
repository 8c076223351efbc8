#pragma once

// Real numbers learned from real numbers: a multilayer perceptron with the mean
// squared error, written out by hand. The synthetic tasks of FLoRAL are so
// small that a step takes a microsecond here, and a hundred in a deep-learning
// library.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/aligned.hpp"
#include "models/data/example_set.hpp"
#include "models/embeddings.hpp"
#include "models/objective.hpp"
#include "models/outputs.hpp"

namespace troupe::models {

/// Rows of inputs and of targets, row-major.
struct regression_set {
  std::vector<float> inputs;
  std::vector<float> targets;
};

struct regression_problem {
  std::size_t inputs = 0; ///< Of one row.
  std::size_t targets = 0;
  regression_set train;
  regression_set test;
  partition clients;
  bool has_bias = true;        ///< Each layer has one.
  bool sums_targets = false;   ///< A row's loss is a sum, not a mean.
  bool begins_at_zero = false; ///< All first values are zeros.

  std::size_t rows(split part) const noexcept {
    return (part == split::train ? train : test).inputs.size() / inputs;
  }
};

/// FLoRAL's synthetic tasks: clients in groups, one after the other, whose
/// truths differ by a matrix of rank one.
///
///   linear  y = the first 3 of W_c x + b, for x in R^10
///   mlp     y = Phi (W_c x + b)_+, with 10 hidden values and one y
///
/// W_c = W + 2 u_c v_c^T. Entries are normal with the deviation one over the
/// root of what they are summed over; inputs are standard normal; no noise.
struct cluster_options {
  enum class truth : std::uint8_t { linear, mlp };

  truth task = truth::linear;
  std::uint64_t seed = 1;
  std::size_t clients = 10;
  std::size_t groups = 2;
  std::size_t train_rows = 7;  ///< Of a client.
  std::size_t test_rows = 500; ///< Of a client, fresh.
};

/// @pre clients, groups and rows are positive
std::shared_ptr<const regression_problem>
make_cluster_problem(const cluster_options& how);

/// Layers of these hidden widths with ReLU between them, and a linear one. The
/// tensors are named as those of `mlp`, and so are their first values' ranges.
class regression final : public objective,
                         public model_outputs,
                         public model_embeddings {
public:
  regression(std::shared_ptr<const regression_problem> problem,
             const std::vector<std::size_t>& hidden);

  const tensor_list& parameter_list() const noexcept override;
  const tensor_list& buffer_list() const noexcept override;
  std::span<float> parameters() noexcept override;
  std::span<float> gradient() noexcept override;
  std::span<float> buffers() noexcept override;

  /// The loss is the mean over rows and, unless the problem sums, over targets.
  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override;
  result<void> curve(std::span<const std::uint32_t> rows, std::uint64_t seed,
                     std::span<const float> direction) override;

  /// A row's loss is that of its targets.
  result<scores> evaluate(split part,
                          std::span<const std::uint32_t> rows) override;
  std::vector<float> initial_parameters(std::uint64_t seed) override;
  std::vector<float> initial_buffers() override;

  model_outputs* outputs() noexcept override {
    return this;
  }

  output_kind kind() const noexcept override {
    return output_kind::numbers;
  }

  std::size_t size() const noexcept override {
    return problem_->targets;
  }

  result<void> say(split part, std::span<const std::uint32_t> rows,
                   std::span<float> out) override;
  result<utterance> speak(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override;
  judgement judge(split part, std::span<const std::uint32_t> rows,
                  std::span<const float> outputs,
                  std::span<float> slopes) const override;

  model_embeddings* embeddings() noexcept override {
    return this;
  }

  std::size_t width() const noexcept override {
    return layers_.back().from;
  }

  result<void> embed(split part, std::uint32_t row,
                     std::span<float> out) override;

private:
  struct layer {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t weight_at = 0; ///< In the parameters, as is the next.
    std::size_t bias_at = 0;
  };

  result<void> check(split part, std::span<const std::uint32_t> rows) const;
  double run(split part, std::uint32_t row);
  void pull_row_back(std::span<const float> slopes);
  void push_forward(std::span<const float> direction);
  void pull_back_curved(std::span<const float> direction, float factor);
  float factor_of(std::size_t rows) const;

  std::shared_ptr<const regression_problem> problem_;
  std::vector<layer> layers_;
  tensor_list parameter_list_;
  tensor_list buffer_list_;
  aligned_floats parameters_;
  aligned_floats gradient_;
  /// Of the last row: what goes into each layer, and what comes out.
  std::vector<std::vector<float>> values_;
  std::vector<float> errors_;
  /// What `values_` change by along a direction.
  std::vector<std::vector<float>> tangents_;
};

} // namespace troupe::models
