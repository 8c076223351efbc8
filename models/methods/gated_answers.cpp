// How a client that nobody trained on gets an answer for each of its rows: from
// the one expert of those that it asked for that the gate prefers for the row,
// or from all of these together, as the option `answer` says. No label is
// looked at, and nothing learns.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "models/methods/gated.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

result<void> check_experts_say_classes(const visit& v) {
  const auto* outputs = v.on.model.outputs();
  if (outputs != nullptr && outputs->kind() == output_kind::logits)
    return {};
  return fail(errc::invalid_config,
              "method '" + v.on.method.name
                + "' answers with classes, and this kind of model knows none; "
                  "a network or a script would do");
}

/// The first of the largest. @pre there is one
std::int64_t said_class(std::span<const float> said) {
  return std::ranges::max_element(said) - said.begin();
}

model_at expert_of(const gated_visit& x, std::size_t e) {
  return {.parameters = x.experts[e].values,
          .buffers = x.buffers.empty() ? const_array{} : x.buffers[e].values};
}

/// Puts answers from `first` on, each of the expert that its row is sent to.
task<done> answer_by_one(visit& v, const gated_visit& x, row_span rows,
                         std::size_t first, answers& to) {
  const auto routes = co_await routes_of(v, split::train, rows, x.instances);
  const auto size = v.on.model.outputs()->size();
  for (std::size_t e = 0; e < x.instances.size(); ++e) {
    std::vector<std::uint32_t> own;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (routes[i] == x.instances[e]) {
        own.push_back(rows[i]);
        places.push_back(first + i);
      }
    if (own.empty())
      continue;
    std::vector<float> said(own.size() * size);
    const auto expert = expert_of(x, e);
    co_await v.say(split::train, own, said, expert);
    for (std::size_t i = 0; i < own.size(); ++i) {
      to.classes[places[i]] =
        said_class(std::span{said}.subspan(i * size, size));
      to.instances[places[i]] = x.instances[e];
    }
  }
  co_return {};
}

/// What each expert weighs in the answer to each row.
task<std::vector<std::vector<double>>>
weights_of(visit& v, const gated_visit& x, row_span rows) {
  std::vector<float> seen(rows.size() * x.shape.inputs);
  co_await v.on.common->embed(split::train, rows, seen);
  std::vector<float> hidden(rows.size() * x.shape.hidden);
  std::vector<float> logits(rows.size() * x.shape.experts);
  const kernels::gate_pass pass{.hidden = hidden, .logits = logits};
  co_await v.on.arithmetic.gate_forward(x.shape, x.gate.values, seen, pass);
  const bool renormalised = v.option("renormalise") != 0;
  std::vector<std::vector<double>> weights(
    rows.size(), std::vector<double>(x.instances.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    kernels::gate_weights(
      std::span{logits}.subspan(i * x.shape.experts, x.shape.experts),
      x.instances, renormalised, weights[i]);
  co_return weights;
}

/// The same of all together; who weighs most is the one that is named.
task<done> answer_by_all(visit& v, const gated_visit& x, row_span rows,
                         std::size_t first, answers& to) {
  const auto weights = co_await weights_of(v, x, rows);
  const auto size = v.on.model.outputs()->size();
  const bool as_chances = v.option("mix") != 0;
  std::vector<float> together(rows.size() * size);
  std::vector<float> said(together.size());
  for (std::size_t e = 0; e < x.instances.size(); ++e) {
    const auto expert = expert_of(x, e);
    co_await v.say(split::train, rows, said, expert);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto one = std::span{said}.subspan(i * size, size);
      const auto sum = std::span{together}.subspan(i * size, size);
      if (as_chances)
        add_chances(one, size, weights[i][e], sum);
      else
        add_said(one, weights[i][e], sum);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    to.classes[first + i] =
      said_class(std::span{together}.subspan(i * size, size));
    const auto most = std::ranges::max_element(weights[i]) - weights[i].begin();
    to.instances[first + i] = x.instances[static_cast<std::size_t>(most)];
  }
  co_return {};
}

} // namespace

task<answers> answer_gated(visit& v, row_span rows) {
  co_await check_experts_say_classes(v);
  const auto x = co_await gated_of(v);
  v.on.model.begin();
  const bool by_all = v.option("answer") != 0;
  answers out;
  out.classes.resize(rows.size());
  out.instances.resize(rows.size());
  for (std::size_t at = 0; at < rows.size(); at += rows_at_a_time) {
    const auto some =
      rows.subspan(at, std::min(rows_at_a_time, rows.size() - at));
    if (by_all)
      co_await answer_by_all(v, x, some, at, out);
    else
      co_await answer_by_one(v, x, some, at, out);
  }
  co_return out;
}

} // namespace troupe::models
