#pragma once

// What the procedures of a gate over a frozen common model have in common: what
// a visit has of gate and experts, which of these its rows ask for, and how the
// gate learns. An instance of `model` is called an expert here.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/gate.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

using row_span = std::span<const std::uint32_t>;

/// What a visit has of a gate, and of the experts that it may train.
struct gated_visit {
  base_block gate;
  kernels::gate_shape shape;
  std::vector<base_block> experts; ///< In the order of the instances.
  std::vector<base_block>
    buffers; ///< Theirs; none where they travel with none.
  std::vector<std::uint32_t> instances; ///< Ascending.
};

/// By the layout and the common model. Returns `invalid_config` if there is no
/// common model, or no gate over it has as many values.
result<kernels::gate_shape> shape_of_gate(const visit& v);

/// A role with a fixed choice has the one that is its client's; others have
/// what they chose, or all that came where nothing is chosen.
result<gated_visit> gated_of(const visit& v);

/// An expert that came, with buffers: its own, or a fresh model's where they
/// travel with none.
struct fetched_expert {
  base_block model;
  std::vector<float> buffers;
};

result<fetched_expert> expert_of(const visit& v, std::uint32_t instance);

/// Whether a client is never invited: it asks to be answered, and not to train.
bool is_held_out(const local_problem& on, client_id x);

/// How many experts a client asks for: option `chosen`, or all where the recipe
/// has none.
std::size_t wanted_of(const visit& v, const kernels::gate_shape& shape);

/// The instances that rows ask for, best first: those with the largest sums of
/// the gate's chances. No rows ask for the first ones. @pre the gate is fetched
task<std::vector<std::uint32_t>> asked_for(visit& v, split part, row_span rows);

/// What the fetched gate says of rows, in their order: logits, one per expert.
result<std::vector<float>> gate_logits(visit& v, split part, row_span rows);

/// Of each row the expert among `asked` whose logit is largest, as an instance.
/// @pre somebody is asked
result<std::vector<std::uint32_t>>
routes_of(visit& v, split part, std::span<const std::uint32_t> rows,
          std::span<const std::uint32_t> asked);

/// Of each row the weights of these experts, row by row. @pre they ascend
std::vector<double> weights_of(const visit& v, const kernels::gate_shape& shape,
                               std::span<const float> logits,
                               std::span<const std::uint32_t> experts);

/// The part of row `i` of what is `size` values a row.
template <class Values>
auto line(Values& of, std::size_t i, std::size_t size) {
  return std::span{of}.subspan(i * size, size);
}

/// Rows as the common model sees them. They are sorted, so that nothing that is
/// summed over them depends on how they came.
struct seen_rows {
  std::vector<std::uint32_t> rows;
  std::vector<float> values; ///< Row after row.
  std::size_t width = 0;

  /// @pre the row is one of them
  std::span<const float> of(std::uint32_t row) const;
};

task<seen_rows> see(visit& v, split part, row_span rows);

/// What stands still for the half of a run that it is at.
struct learners {
  bool gate = true;
  bool experts = true;
};

learners learners_of(const visit& v);

/// What a gate says of a batch, and what the way back needs.
struct gate_view {
  std::vector<float> seen;
  std::vector<float> hidden;
  std::vector<float> logits;
};

/// A gate that a visit trains, at a rate of its own that has no schedule.
struct learning_gate {
  kernels::gate_shape shape;
  seen_rows rows; ///< Of the client.
  array values;
  array gradient; ///< Zeros between steps.
};

task<learning_gate> learning_gate_of(visit& v, const gated_visit& x);

/// Returns `diverged` if the gate is no number any more.
result<gate_view> gate_view_of(visit& v, const learning_gate& gate,
                               row_span batch);

/// One plain step along the slopes of a batch's mean loss along its logits.
task<done> step_gate(visit& v, learning_gate& gate, const gate_view& at,
                     std::span<const float> along_logits);

/// Below it a chance is taken for this, and nothing is learned from the row.
inline constexpr double least_chance = 1e-9;

/// Of what is right, where experts mix the chances that they give.
double loss_of_chance(double chance);

/// Refuses what experts can't be stepped by.
result<void> check_gated(const recipe& method, const training_options& how);

/// Refuses a kind of model that says nothing that could be mixed.
result<void> check_says(const visit& v);

// What both roles have, as members of `local_method`.

/// A client's rows, without labels, decide whom they ask; those of nobody, and
/// of who never trains, are the ones that are scored.
task<scores> score_gated(visit& v, split part, row_span rows);

/// What the gate makes of all clients' test rows.
void summarise_gated(const evaluation_input& x, const local_problem& on,
                     evaluated& to);

/// Answers rows of the training set without their labels, each by the one of
/// the chosen experts whose logit is largest, or by all of them together.
task<answers> answer_gated(visit& v, row_span rows);

} // namespace troupe::models
