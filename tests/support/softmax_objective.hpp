#pragma once

#include <memory>

#include "models/aligned.hpp"
#include "models/data/example_set.hpp"
#include "models/objective.hpp"

namespace troupe::test {

/// Softmax regression by hand, W (classes x dimensions) and b, on a data set
/// whose one input is floats. It begins at zero. For tests that want real
/// learning without a deep-learning library.
class softmax_objective : public models::objective {
public:
  explicit softmax_objective(std::shared_ptr<const models::dataset> data);

  const models::tensor_list& parameter_list() const noexcept override;
  const models::tensor_list& buffer_list() const noexcept override;
  std::span<float> parameters() noexcept override;
  std::span<float> gradient() noexcept override;
  std::span<float> buffers() noexcept override;
  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override;
  result<models::scores> evaluate(models::split part,
                                  std::span<const std::uint32_t> rows) override;
  std::vector<float> initial_parameters(std::uint64_t seed) override;
  std::vector<float> initial_buffers() override;

private:
  /// Writes the class probabilities of a row; returns its loss.
  double predict(const models::example_set& from, std::uint32_t row);

  std::shared_ptr<const models::dataset> data_;
  std::size_t classes_;
  std::size_t dimensions_;
  models::tensor_list parameter_list_;
  models::tensor_list buffer_list_;
  models::aligned_floats parameters_;
  models::aligned_floats gradient_;
  std::vector<float> share_; // Of each class, for the row at hand.
};

} // namespace troupe::test
