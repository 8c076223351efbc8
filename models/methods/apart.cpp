// An anchor of DDOME: one expert is its own. It trains that by the loss of the
// expert alone, and teaches the gate that all of its rows are of that expert,
//
//   L_gate = mean of -log softmax(gate(h))[own],   L_expert = mean of l(f(x),
//   y),
//
// two losses that share no parameter: neither step knows of the other.

#include "models/methods/built_in.hpp"
#include "models/methods/gated.hpp"

namespace troupe::models {

namespace {

/// Gives the gate's mean loss before the step.
task<double> teach(visit& v, learning_gate& gate, row_span batch,
                   std::uint32_t owner) {
  const auto at = co_await gate_view_of(v, gate, batch);
  const auto experts = gate.shape.experts;
  std::vector<float> slopes(at.logits.size());
  double loss = 0;
  for (std::size_t i = 0; i < batch.size(); ++i)
    loss += kernels::owner_slopes(line(at.logits, i, experts), owner,
                                  line(slopes, i, experts));
  divide(slopes, batch.size());
  co_await step_gate(v, gate, at, slopes);
  co_return loss / static_cast<double>(batch.size());
}

task<done> train_apart(visit& v) {
  const auto x = co_await gated_of(v);
  const auto who = learners_of(v);
  const auto own = co_await expert_of(v, x.instances.front());
  auto gate = co_await learning_gate_of(v, x);
  v.on.model.begin();
  v.load(own.model.values);
  co_await v.copy(own.buffers, v.on.model.buffers());
  optimiser by{v.on, v.parameters().size()};
  const step_terms none{};
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const auto on = from.next_batch();
    double taught = 0;
    if (who.gate)
      taught = co_await teach(v, gate, on.rows, x.instances.front());
    if (who.experts)
      total += co_await v.step(on, by, none);
    else
      total += taught;
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  co_await v.offer(x.gate, gate.values);
  if (!who.experts)
    co_return {};
  co_await v.offer(x.experts.front(), v.parameters());
  if (!x.buffers.empty())
    co_await v.offer(x.buffers.front(), v.on.model.buffers());
  co_return {};
}

} // namespace

const local_method apart_sgd{.train = train_apart,
                             .score = score_gated,
                             .summary = summarise_gated,
                             .needs = check_gated,
                             .answer = answer_gated};

} // namespace troupe::models
