#pragma once

// What visits compute with, and fails at a call that a test names.

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/tasks/quadratic.hpp"
#include "tests/support/passing_backend.hpp"

namespace troupe::test {

/// What breaks, and how. Those that share it are counted together.
struct breakage {
  enum class kind : std::uint8_t { error, exception, no_memory };

  std::uint64_t calls = 0;
  std::optional<std::uint64_t> at = {}; ///< That call fails; from 0.
  kind how = kind::error;

  void set(std::uint64_t call, kind x) {
    *this = {.at = call, .how = x};
  }

  /// @returns the text of the error that a visit ends with
  std::string text() const {
    return how == kind::no_memory
             ? "there is not enough memory for this visit's arithmetic"
             : "call " + std::to_string(*at);
  }

  result<void> call() {
    if (calls++ != at)
      return {};
    switch (how) {
      case kind::exception:
        throw std::runtime_error{text()};
      case kind::no_memory:
        throw std::bad_alloc{};
      default:
        return fail(errc::device_failure, text());
    }
  }
};

class brittle_quadratic final : public models::quadratic {
public:
  brittle_quadratic(std::shared_ptr<const models::quadratic_problem> problem,
                    breakage& by)
    : quadratic(std::move(problem)),
      by_(by) {
    // nop
  }

  using row_span = std::span<const std::uint32_t>;

  result<double> backward(row_span rows, std::uint64_t seed) override {
    return by_.call().and_then([&] { return quadratic::backward(rows, seed); });
  }

  result<void> curve(row_span rows, std::uint64_t seed,
                     std::span<const float> direction) override {
    return by_.call().and_then(
      [&] { return quadratic::curve(rows, seed, direction); });
  }

  result<models::scores> evaluate(models::split part, row_span rows) override {
    return by_.call().and_then([&] { return quadratic::evaluate(part, rows); });
  }

  result<void> say(models::split part, row_span rows,
                   std::span<float> out) override {
    return by_.call().and_then([&] { return quadratic::say(part, rows, out); });
  }

  result<models::utterance> speak(row_span rows, std::uint64_t seed) override {
    return quadratic::speak(rows, seed).map([&](models::utterance x) {
      x.pull_back = [this, back = std::move(x.pull_back)](auto slopes) {
        return by_.call().and_then([&] { return back(slopes); });
      };
      return x;
    });
  }

private:
  breakage& by_;
};

class brittle_backend final : public passing_backend {
public:
  explicit brittle_backend(breakage& by) : by_(by) {
    // nop
  }

  result<double> norm(kernels::const_array values) override {
    return by_.call().and_then([&] { return passing_backend::norm(values); });
  }

  result<double> clip(std::span<float> values, double limit) override {
    return by_.call().and_then(
      [&] { return passing_backend::clip(values, limit); });
  }

  result<void> step(std::span<const kernels::sgd_call> all) override {
    return by_.call().and_then([&] { return passing_backend::step(all); });
  }

  result<void> step(std::span<const kernels::adamw_call> all) override {
    return by_.call().and_then([&] { return passing_backend::step(all); });
  }

  result<void> copy(kernels::const_array from, kernels::array to) override {
    return by_.call().and_then([&] { return passing_backend::copy(from, to); });
  }

  result<void> move(kernels::const_array from, float by,
                    kernels::const_array along, kernels::array to) override {
    return by_.call().and_then(
      [&] { return passing_backend::move(from, by, along, to); });
  }

  result<void> mean_slope(kernels::const_array from, kernels::const_array to,
                          double way, kernels::const_array less,
                          kernels::array out) override {
    return by_.call().and_then(
      [&] { return passing_backend::mean_slope(from, to, way, less, out); });
  }

  result<void> expand(std::span<const float> base, const kernels::low_rank& x,
                      std::span<float> out) override {
    return by_.call().and_then(
      [&] { return passing_backend::expand(base, x, out); });
  }

  result<void> shrink(std::span<const float> gradient,
                      const kernels::low_rank& x,
                      kernels::low_rank_slopes out) override {
    return by_.call().and_then(
      [&] { return passing_backend::shrink(gradient, x, out); });
  }

  result<void> gate_forward(const kernels::gate_shape& of,
                            kernels::const_array gate,
                            std::span<const float> rows,
                            kernels::gate_pass out) override {
    return by_.call().and_then(
      [&] { return passing_backend::gate_forward(of, gate, rows, out); });
  }

  result<void> gate_backward(const kernels::gate_shape& of,
                             kernels::const_array gate,
                             std::span<const float> rows,
                             std::span<const float> hidden,
                             std::span<const float> along_logits,
                             kernels::array gradient) override {
    return by_.call().and_then([&] {
      return passing_backend::gate_backward(of, gate, rows, hidden,
                                            along_logits, gradient);
    });
  }

  result<void> gate_scores(const kernels::gate_shape& of,
                           kernels::const_array gate,
                           std::span<const float> rows,
                           std::span<double> sum) override {
    return by_.call().and_then(
      [&] { return passing_backend::gate_scores(of, gate, rows, sum); });
  }

private:
  breakage& by_;
};

} // namespace troupe::test
