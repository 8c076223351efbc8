#include "tests/support/softmax_objective.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::test {

namespace {

const float* row_of(const models::example_set& from, std::uint32_t row,
                    std::size_t dimensions) {
  return std::get<std::vector<float>>(from.inputs[0].values).data()
         + row * dimensions;
}

} // namespace

softmax_objective::softmax_objective(
  std::shared_ptr<const models::dataset> data)
  : data_(std::move(data)),
    classes_(static_cast<std::size_t>(data_->classes)),
    dimensions_(static_cast<std::size_t>(data_->train.inputs[0].shape[0])),
    parameter_list_{
      {"weight", {data_->classes, static_cast<std::int64_t>(dimensions_)}},
      {"bias", {data_->classes}}},
    parameters_(classes_ * (dimensions_ + 1)),
    gradient_(parameters_.size()),
    share_(classes_) {
  // nop
}

const models::tensor_list& softmax_objective::parameter_list() const noexcept {
  return parameter_list_;
}

const models::tensor_list& softmax_objective::buffer_list() const noexcept {
  return buffer_list_;
}

std::span<float> softmax_objective::parameters() noexcept {
  return parameters_;
}

std::span<float> softmax_objective::gradient() noexcept {
  return gradient_;
}

std::span<float> softmax_objective::buffers() noexcept {
  return {};
}

double softmax_objective::predict(const models::example_set& from,
                                  std::uint32_t row) {
  const auto* x = row_of(from, row, dimensions_);
  const auto* bias = parameters_.data() + classes_ * dimensions_;
  for (std::size_t c = 0; c < classes_; ++c) {
    const auto* w = parameters_.data() + c * dimensions_;
    float lanes[4]{bias[c], 0, 0, 0};
    std::size_t j = 0;
    for (; j + 4 <= dimensions_; j += 4)
      for (int lane = 0; lane < 4; ++lane)
        lanes[lane] += w[j + lane] * x[j + lane];
    for (; j < dimensions_; ++j)
      lanes[0] += w[j] * x[j];
    share_[c] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
  const auto label = static_cast<std::size_t>(from.labels[row]);
  const float top = *std::ranges::max_element(share_);
  const float own = share_[label] - top;
  float total = 0;
  for (auto& s : share_) {
    s = std::exp(s - top);
    total += s;
  }
  for (auto& s : share_)
    s /= total;
  return std::log(static_cast<double>(total)) - static_cast<double>(own);
}

result<double> softmax_objective::backward(std::span<const std::uint32_t> rows,
                                           std::uint64_t) {
  const auto part = 1 / static_cast<float>(rows.size());
  double loss = 0;
  for (const auto row : rows) {
    loss += predict(data_->train, row);
    share_[static_cast<std::size_t>(data_->train.labels[row])] -= 1;
    const auto* x = row_of(data_->train, row, dimensions_);
    for (std::size_t c = 0; c < classes_; ++c) {
      const auto slope = part * share_[c];
      auto* g = gradient_.data() + c * dimensions_;
      for (std::size_t j = 0; j < dimensions_; ++j)
        g[j] += slope * x[j];
      gradient_[classes_ * dimensions_ + c] += slope;
    }
  }
  return loss * static_cast<double>(part);
}

result<models::scores>
softmax_objective::evaluate(models::split part,
                            std::span<const std::uint32_t> rows) {
  const auto& from = part == models::split::train ? data_->train : data_->test;
  models::scores result;
  for (const auto row : rows) {
    result.loss += predict(from, row);
    const auto guess = std::ranges::max_element(share_) - share_.begin();
    result.correct += guess == from.labels[row];
    ++result.count;
  }
  return result;
}

std::vector<float> softmax_objective::initial_parameters(std::uint64_t) {
  return std::vector<float>(parameters_.size());
}

std::vector<float> softmax_objective::initial_buffers() {
  return {};
}

} // namespace troupe::test
