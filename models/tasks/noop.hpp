#pragma once

#include <cstdint>
#include <memory>

#include "models/layout.hpp"
#include "models/trainer.hpp"

namespace troupe::models {

struct noop_options {
  float value = 0.001f; ///< Of every coordinate of every delta.
  double weight = 1;
  std::uint64_t examples = 1;
  std::uint64_t steps = 1;
};

/// Learns nothing at no cost, so that what remains of a run is the runtime. A
/// visit offers each block that it fetched (that it chose, where a choice was
/// made) with one delta per block that all visits and trainers share. Scores
/// are empty.
class noop_trainer : public one_by_one_trainer {
public:
  noop_trainer(const layout& blocks, const noop_options& how);

  result<choice> choose(const visit_input& x) override;
  result<trained> train_one(const visit_input& x) override;
  result<evaluated> evaluate(const evaluation_input& x) override;
  std::uint64_t examples(client_id x) const override;
  std::uint64_t steps(const visit_input& x) const override;

private:
  noop_options how_;
  std::vector<shared_values> deltas_; // By block id, from 1.
};

/// Trainers that share their deltas.
trainer_factory noop_trainers(const layout& blocks, const noop_options& how);

} // namespace troupe::models
