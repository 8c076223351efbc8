#pragma once

// A quadratic with statistics, as modules with batch norm have: each pass moves
// them, and what it finds depends on them and on how many passes there were
// since the visit began.

#include <array>
#include <vector>

#include "models/tasks/quadratic.hpp"
#include "tests/support/brittle.hpp"

namespace troupe::test {

class moving_statistics : public models::quadratic {
public:
  /// @param by null: its passes never fail
  explicit moving_statistics(
    std::shared_ptr<const models::quadratic_problem> problem,
    breakage* by = nullptr)
    : quadratic(std::move(problem)),
      by_(by) {
    // nop
  }

  const models::tensor_list& buffer_list() const noexcept override {
    static const models::tensor_list all{{"statistics", {2}}};
    return all;
  }

  std::span<float> buffers() noexcept override {
    return live_;
  }

  std::vector<float> initial_buffers() override {
    return {0.5f, 1.f};
  }

  void begin() override {
    passes_ = 0;
  }

  /// One that fails leaves a mess.
  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override {
    if (by_ != nullptr)
      if (auto ok = by_->call(); !ok) {
        live_[0] = 99;
        gradient()[0] += 7;
        return tl::unexpected{ok.error()};
      }
    const auto loss = quadratic::backward(rows, seed);
    for (auto& x : gradient())
      x += 0.01f * live_[0] + 0.001f * static_cast<float>(passes_);
    live_[0] = 0.9f * live_[0] + 0.1f * static_cast<float>(rows.front() % 7);
    live_[1] += 0.25f;
    ++passes_;
    return loss.map([&](double x) { return x + live_[1]; });
  }

  result<models::scores>
  evaluate(models::split part, std::span<const std::uint32_t> rows) override {
    scored_with.push_back(live_);
    return quadratic::evaluate(part, rows).map([&](models::scores x) {
      x.loss += live_[0];
      return x;
    });
  }

  std::vector<std::array<float, 2>> scored_with;

private:
  breakage* by_;
  std::array<float, 2> live_{};
  int passes_ = 0;
};

} // namespace troupe::test
