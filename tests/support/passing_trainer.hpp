#pragma once

// A trainer that does what another does: for tests that look at what comes of
// it, or change some of that.

#include <cstdint>
#include <span>
#include <vector>

#include "models/trainer.hpp"

namespace troupe::test {

class passing_trainer : public models::trainer {
public:
  explicit passing_trainer(models::trainer& by) : by_(by) {
    // nop
  }

  using models::trainer::train;

  result<models::choice> choose(const models::visit_input& x) override {
    return by_.choose(x);
  }

  std::vector<result<models::trained>>
  train(std::span<const models::visit_input> xs) override {
    return by_.train(xs);
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    return by_.evaluate(x);
  }

  std::uint64_t examples(client_id x) const override {
    return by_.examples(x);
  }

  std::uint64_t steps(const models::visit_input& x) const override {
    return by_.steps(x);
  }

  void dismiss() noexcept override {
    by_.dismiss();
  }

private:
  models::trainer& by_;
};

} // namespace troupe::test
