#pragma once

// Tells how many local steps came in each call.

#include <vector>

#include "tests/support/passing_backend.hpp"

namespace troupe::test {

class counting_backend final : public passing_backend {
public:
  explicit counting_backend(std::shared_ptr<std::vector<std::size_t>> calls)
    : calls_(std::move(calls)) {
    // nop
  }

  result<void> step(std::span<const kernels::sgd_call> all) override {
    calls_->push_back(all.size());
    return passing_backend::step(all);
  }

  result<void> step(std::span<const kernels::adamw_call> all) override {
    calls_->push_back(all.size());
    return passing_backend::step(all);
  }

private:
  std::shared_ptr<std::vector<std::size_t>> calls_;
};

} // namespace troupe::test
