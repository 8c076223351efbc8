#include "models/methods/gated.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "policies/invitations.hpp"

namespace troupe::models {

namespace {

/// Those that are embedded by one question, so that a visit may be dismissed
/// between two: a large common model needs milliseconds for each.
constexpr std::size_t rows_at_once = 100;

/// The experts that a visit may train.
std::vector<std::uint32_t> instances_of(const visit& v) {
  const auto all = v.on.blocks.family(model_family);
  const auto& roles = v.on.method.roles;
  if (v.in.role < roles.size() && roles[v.in.role].choice_fixed)
    return {static_cast<std::uint32_t>(
      policies::place_in_role(v.in.visit.client, roles) % all.size())};
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (v.in.chosen.empty()
          ? v.in.find(all[i]) != nullptr
          : std::ranges::find(v.in.chosen, all[i]) != v.in.chosen.end())
      found.push_back(i);
  return found;
}

/// An instance of a family. @pre the layout has it
result<base_block> instance_of(const visit& v, std::string_view family,
                               std::uint32_t instance, std::size_t size) {
  const auto id = v.on.blocks.family(family)[instance];
  return v.base(v.on.blocks.find(id)->name, size);
}

task<std::vector<double>>
summed_scores(visit& v, split part, kernels::gate_shape shape, row_span rows) {
  const auto gate = co_await v.base(gate_family, shape.size());
  // In the order of the rows, whichever they came in.
  std::vector<std::uint32_t> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted);
  std::vector<double> sum(shape.experts);
  std::vector<float> seen;
  for (row_span left{sorted}; !left.empty();) {
    const auto some = left.first(std::min(left.size(), rows_at_once));
    left = left.subspan(some.size());
    seen.resize(some.size() * shape.inputs);
    co_await v.embed(part, some, seen);
    co_await v.on.arithmetic.gate_scores(shape, gate.values, seen, sum);
  }
  co_return sum;
}

/// The largest logit's, of equals the first. @pre `among` ascends
std::uint32_t best_of(std::span<const float> logits,
                      std::span<const std::uint32_t> among) {
  auto best = among.front();
  for (const auto i : among)
    if (logits[i] > logits[best])
      best = i;
  return best;
}

} // namespace

result<kernels::gate_shape> shape_of_gate(const visit& v) {
  if (v.on.common == nullptr)
    return fail(errc::invalid_config,
                "method '" + v.on.method.name
                  + "' has a gate, and there is no common model that it looks "
                    "at; a frozen block 'common' would do");
  const auto* block = v.on.blocks.find(gate_family);
  if (block == nullptr)
    return fail(errc::invalid_argument,
                "the recipe has no travelling block 'gate', which its "
                "procedure trains");
  const auto width = v.on.common->width();
  const auto experts = v.on.blocks.family(model_family).size();
  // Each hidden value has a weight per input, a bias, and one per expert.
  const auto each = width + 1 + experts;
  const kernels::gate_shape shape{
    .inputs = width,
    .hidden = block->size > experts ? (block->size - experts) / each : 0,
    .experts = experts};
  if (shape.hidden > 0 && experts > 0 && shape.size() == block->size)
    return shape;
  return fail(errc::invalid_config,
              "block 'gate' has " + std::to_string(block->size)
                + " values, and no gate over embeddings of "
                + std::to_string(width) + " values has so many for "
                + std::to_string(experts)
                + " experts; a common model of the same width would do");
}

result<gated_visit> gated_of(const visit& v) {
  const auto shape = shape_of_gate(v);
  if (!shape)
    return tl::unexpected{shape.error()};
  const auto gate = v.base(gate_family, shape->size());
  if (!gate)
    return tl::unexpected{gate.error()};
  gated_visit x;
  x.gate = *gate;
  x.shape = *shape;
  x.instances = instances_of(v);
  if (x.instances.empty())
    return fail(errc::invalid_argument,
                "the visit did not fetch any block of family 'model'; a leg of "
                "the recipe must name it");
  const bool have_buffers = !v.on.blocks.family(buffers_family).empty();
  for (const auto i : x.instances) {
    const auto expert = instance_of(v, model_family, i, v.parameters().size());
    if (!expert)
      return tl::unexpected{expert.error()};
    x.experts.push_back(*expert);
    if (!have_buffers)
      continue;
    const auto own =
      instance_of(v, buffers_family, i, v.on.model.buffers().size());
    if (!own)
      return tl::unexpected{own.error()};
    x.buffers.push_back(*own);
  }
  return x;
}

result<fetched_expert> expert_of(const visit& v, std::uint32_t instance) {
  const auto model =
    instance_of(v, model_family, instance, v.parameters().size());
  if (!model)
    return tl::unexpected{model.error()};
  fetched_expert x;
  x.model = *model;
  if (v.on.blocks.family(buffers_family).empty()) {
    x.buffers = v.on.model.initial_buffers();
    return x;
  }
  const auto own =
    instance_of(v, buffers_family, instance, v.on.model.buffers().size());
  if (!own)
    return tl::unexpected{own.error()};
  x.buffers = brought_here(own->values);
  return x;
}

bool is_held_out(const local_problem& on, client_id x) {
  if (on.clients == nullptr)
    return false;
  const auto all = on.clients->test.size();
  return x.value > all - std::min(all, on.clients->held_out);
}

std::size_t wanted_of(const visit& v, const kernels::gate_shape& shape) {
  const auto said = static_cast<std::size_t>(v.option("chosen"));
  return said > 0 ? std::min(said, shape.experts) : shape.experts;
}

task<std::vector<std::uint32_t>> asked_for(visit& v, split part,
                                           row_span rows) {
  const auto shape = co_await shape_of_gate(v);
  // Zeros, if there are no rows, and of equals the first ones come first.
  const auto sum = co_await summed_scores(v, part, shape, rows);
  co_return kernels::top_of(sum, wanted_of(v, shape));
}

result<std::vector<float>> gate_logits(visit& v, split part, row_span rows) {
  const auto shape = shape_of_gate(v);
  if (!shape)
    return tl::unexpected{shape.error()};
  const auto gate = v.base(gate_family, shape->size());
  if (!gate)
    return tl::unexpected{gate.error()};
  std::vector<float> logits(rows.size() * shape->experts);
  std::vector<float> seen, hidden;
  std::span<float> to{logits};
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_at_a_time));
    rows = rows.subspan(some.size());
    seen.resize(some.size() * shape->inputs);
    hidden.resize(some.size() * shape->hidden);
    const auto now = to.first(some.size() * shape->experts);
    to = to.subspan(now.size());
    const auto done = v.on.common->embed(part, some, seen).and_then([&] {
      return v.on.arithmetic.gate_forward(*shape, gate->values, seen,
                                          {.hidden = hidden, .logits = now});
    });
    if (!done)
      return tl::unexpected{done.error()};
  }
  return logits;
}

result<std::vector<std::uint32_t>>
routes_of(visit& v, split part, std::span<const std::uint32_t> rows,
          std::span<const std::uint32_t> asked) {
  std::vector<std::uint32_t> among(asked.begin(), asked.end());
  std::ranges::sort(among);
  std::vector<std::uint32_t> routes;
  routes.reserve(rows.size());
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_at_a_time));
    rows = rows.subspan(some.size());
    const auto logits = gate_logits(v, part, some);
    if (!logits)
      return tl::unexpected{logits.error()};
    const auto experts = logits->size() / some.size();
    for (std::size_t i = 0; i < some.size(); ++i)
      routes.push_back(best_of(line(*logits, i, experts), among));
  }
  return routes;
}

std::vector<double> weights_of(const visit& v, const kernels::gate_shape& shape,
                               std::span<const float> logits,
                               std::span<const std::uint32_t> experts) {
  const bool renormalised = v.option("renormalise") != 0;
  const auto rows = logits.size() / shape.experts;
  std::vector<double> weights(rows * experts.size());
  for (std::size_t i = 0; i < rows; ++i)
    kernels::gate_weights(line(logits, i, shape.experts), experts, renormalised,
                          line(weights, i, experts.size()));
  return weights;
}

std::span<const float> seen_rows::of(std::uint32_t row) const {
  const auto at = std::ranges::lower_bound(rows, row) - rows.begin();
  return line(values, static_cast<std::size_t>(at), width);
}

task<seen_rows> see(visit& v, split part, row_span rows) {
  seen_rows x;
  x.rows.assign(rows.begin(), rows.end());
  std::ranges::sort(x.rows);
  x.width = v.on.common->width();
  x.values.resize(x.rows.size() * x.width);
  std::span<float> to{x.values};
  for (row_span left{x.rows}; !left.empty();) {
    const auto some = left.first(std::min(left.size(), rows_at_once));
    left = left.subspan(some.size());
    co_await v.embed(part, some, to.first(some.size() * x.width));
    to = to.subspan(some.size() * x.width);
  }
  co_return x;
}

learners learners_of(const visit& v) {
  const bool disjoint = v.option("disjoint") != 0;
  const bool late = v.in.progress >= 0.5;
  return {.gate = v.option("gate_rate") > 0 && (!disjoint || late),
          .experts = !disjoint || !late};
}

task<learning_gate> learning_gate_of(visit& v, const gated_visit& x) {
  learning_gate gate;
  gate.shape = x.shape;
  gate.rows = co_await see(v, split::train, v.on.rows);
  gate.values = v.copy_of(x.gate.values);
  gate.gradient = v.room(x.shape.size());
  co_return gate;
}

result<gate_view> gate_view_of(visit& v, const learning_gate& gate,
                               row_span batch) {
  gate_view x;
  x.seen.reserve(batch.size() * gate.shape.inputs);
  for (const auto row : batch) {
    const auto one = gate.rows.of(row);
    x.seen.insert(x.seen.end(), one.begin(), one.end());
  }
  x.hidden.resize(batch.size() * gate.shape.hidden);
  x.logits.resize(batch.size() * gate.shape.experts);
  auto done = v.on.arithmetic.gate_forward(
    gate.shape, gate.values, x.seen, {.hidden = x.hidden, .logits = x.logits});
  if (done)
    return x;
  if (done.error().code != errc::malformed_values)
    return tl::unexpected{std::move(done.error())};
  return fail(errc::diverged,
              "block 'gate' diverged: what it says is not finite any more; a "
              "smaller gate_rate or learning_rate may help");
}

task<done> step_gate(visit& v, learning_gate& gate, const gate_view& at,
                     std::span<const float> along_logits) {
  co_await v.on.arithmetic.gate_backward(
    gate.shape, gate.values, at.seen, at.hidden, along_logits, gate.gradient);
  const kernels::sgd_step how{.rate =
                                static_cast<float>(v.option("gate_rate"))};
  const kernels::step_buffers on{.weights = gate.values,
                                 .gradient = gate.gradient};
  co_await v.update(how, on);
  co_return {};
}

double loss_of_chance(double chance) {
  return -std::log(chance <= least_chance ? least_chance : chance);
}

result<void> check_gated(const recipe& method, const training_options& how) {
  if (how.optimiser == optimiser_kind::sgd)
    return {};
  return fail(errc::invalid_config,
              "method '" + method.name
                + "' learns by SGD, with momentum or without: "
                  "training.optimiser = \"sgd\" would do");
}

result<void> check_says(const visit& v) {
  if (v.on.model.outputs() != nullptr)
    return {};
  return fail(errc::invalid_config,
              "method '" + v.on.method.name
                + "' mixes what models say, and this kind of model says "
                  "nothing; \"regression\", a network or a script does");
}

} // namespace troupe::models
