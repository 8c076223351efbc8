#pragma once

// The CPU's backend behind another, which takes part in what it overrides.

#include <memory>

#include "kernels/backend.hpp"

namespace troupe::test {

class passing_backend : public kernels::backend {
public:
  std::string_view name() const noexcept override {
    return behind_->name();
  }

  result<void> accumulate(std::span<const kernels::term> terms, kernels::grid g,
                          std::span<double> sum) override {
    return behind_->accumulate(terms, g, sum);
  }

  result<void> accumulate(std::span<const kernels::f16_term> terms,
                          kernels::grid g, std::span<double> sum) override {
    return behind_->accumulate(terms, g, sum);
  }

  result<void> accumulate(std::span<const kernels::int8_term> terms,
                          kernels::grid g, std::span<double> sum) override {
    return behind_->accumulate(terms, g, sum);
  }

  result<void> finish(std::span<const float> base, std::span<const double> sum,
                      kernels::scale by, std::span<float> out) override {
    return behind_->finish(base, sum, by, out);
  }

  result<void> finish(std::span<const float> base, std::span<const double> sum,
                      double total, const kernels::server_step& step,
                      std::span<double> moments,
                      std::span<float> out) override {
    return behind_->finish(base, sum, total, step, moments, out);
  }

  result<double> norm(kernels::const_array values) override {
    return behind_->norm(values);
  }

  result<double> clip(std::span<float> values, double limit) override {
    return behind_->clip(values, limit);
  }

  result<void> step(std::span<const kernels::sgd_call> all) override {
    return behind_->step(all);
  }

  result<void> step(std::span<const kernels::adamw_call> all) override {
    return behind_->step(all);
  }

  result<void> copy(kernels::const_array from, kernels::array to) override {
    return behind_->copy(from, to);
  }

  result<void> move(kernels::const_array from, float by,
                    kernels::const_array along, kernels::array to) override {
    return behind_->move(from, by, along, to);
  }

  result<void> mean_slope(kernels::const_array from, kernels::const_array to,
                          double way, kernels::const_array less,
                          kernels::array out) override {
    return behind_->mean_slope(from, to, way, less, out);
  }

  result<void> expand(std::span<const float> base, const kernels::low_rank& x,
                      std::span<float> out) override {
    return behind_->expand(base, x, out);
  }

  result<void> shrink(std::span<const float> gradient,
                      const kernels::low_rank& x,
                      kernels::low_rank_slopes out) override {
    return behind_->shrink(gradient, x, out);
  }

  result<void> gate_forward(const kernels::gate_shape& of,
                            kernels::const_array gate,
                            std::span<const float> rows,
                            kernels::gate_pass out) override {
    return behind_->gate_forward(of, gate, rows, out);
  }

  result<void> gate_backward(const kernels::gate_shape& of,
                             kernels::const_array gate,
                             std::span<const float> rows,
                             std::span<const float> hidden,
                             std::span<const float> along_logits,
                             kernels::array gradient) override {
    return behind_->gate_backward(of, gate, rows, hidden, along_logits,
                                  gradient);
  }

  result<void> gate_scores(const kernels::gate_shape& of,
                           kernels::const_array gate,
                           std::span<const float> rows,
                           std::span<double> sum) override {
    return behind_->gate_scores(of, gate, rows, sum);
  }

  result<void> side_forward(const kernels::side_terms& of,
                            std::span<const float> rows, std::span<float> inner,
                            std::span<float> y) override {
    return behind_->side_forward(of, rows, inner, y);
  }

  result<void> side_backward(const kernels::side_terms& of,
                             std::span<const float> rows,
                             std::span<const float> inner,
                             std::span<const float> along_y,
                             kernels::side_slopes out) override {
    return behind_->side_backward(of, rows, inner, along_y, out);
  }

private:
  std::unique_ptr<kernels::backend> behind_ = kernels::make_backend({}).value();
};

} // namespace troupe::test
