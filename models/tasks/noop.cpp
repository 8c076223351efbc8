#include "models/tasks/noop.hpp"

#include <algorithm>

#include "core/assert.hpp"

namespace troupe::models {

noop_trainer::noop_trainer(const layout& blocks, const noop_options& how)
  : how_(how) {
  for (const auto& x : blocks.blocks)
    deltas_.push_back(share(std::vector<float>(x.size, how.value)));
}

result<choice> noop_trainer::choose(const visit_input&) {
  return choice{};
}

result<trained> noop_trainer::train_one(const visit_input& x) {
  trained out;
  out.parts.reserve(x.fetched.size());
  for (const auto& y : x.fetched) {
    if (!x.chosen.empty()
        && std::ranges::find(x.chosen, y.block) == x.chosen.end())
      continue;
    TROUPE_ASSERT(y.block.value >= 1 && y.block.value <= deltas_.size());
    out.parts.push_back({.block = y.block,
                         .weight = how_.weight,
                         .delta = deltas_[y.block.value - 1]});
  }
  if (x.state)
    out.next = *x.state;
  ++out.next.visits;
  out.steps = how_.steps;
  return out;
}

result<evaluated> noop_trainer::evaluate(const evaluation_input&) {
  return evaluated{};
}

std::uint64_t noop_trainer::examples(client_id) const {
  return how_.examples;
}

std::uint64_t noop_trainer::steps(const visit_input&) const {
  return how_.steps;
}

trainer_factory noop_trainers(const layout& blocks, const noop_options& how) {
  const noop_trainer first{blocks, how};
  return [first]() -> result<std::unique_ptr<trainer>> {
    return std::make_unique<noop_trainer>(first);
  };
}

} // namespace troupe::models
