#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "actors/kernel_worker/workshop.hpp"
#include "core/recipe.hpp"
#include "models/layout.hpp"
#include "models/trainer.hpp"
#include "tests/support/sim/faults.hpp"
#include "tests/support/world.hpp"

namespace troupe::test {

/// Where the values of a block are pulled to: the optimum of the simulated
/// task.
float optimum_of(block_id block);

/// Half the way to the optimum, with a little noise that the visit's seed
/// draws.
std::vector<float> pull(const models::visit_input& x,
                        const models::fetched_block& from);

/// What a client's state counts its last visits by.
inline constexpr const char* last_visits = "last_visits";

/// Pulls every block a part of the way to its optimum, with a little noise that
/// the visit's seed draws. Small enough to check by hand.
class pull_trainer final : public models::one_by_one_trainer {
public:
  explicit pull_trainer(const models::layout& blocks, recipe method = {})
    : blocks_(blocks),
      method_(std::move(method)) {
    // nop
  }

  result<models::choice> choose(const models::visit_input& x) override;
  result<models::trained> train_one(const models::visit_input& x) override;
  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override;

  std::uint64_t examples(client_id x) const override {
    return 10 + x.value;
  }

  std::uint64_t steps(const models::visit_input&) const override {
    return 1;
  }

private:
  const models::layout& blocks_;
  recipe method_;
};

/// Computes at once, and delivers after a while or with an error.
class sim_workshop final : public actors::workshop {
public:
  sim_workshop(world& w, chances& luck, std::unique_ptr<models::trainer> own)
    : world_(w),
      luck_(luck),
      trainer_(std::move(own)) {
    // nop
  }

  void submit(key when, work what, deliver to) override;

private:
  world& world_;
  chances& luck_;
  std::unique_ptr<models::trainer> trainer_;
};

} // namespace troupe::test
