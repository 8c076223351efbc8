// A common client of DDOME, and any client of FedMix: gate and experts learn
// together, from the loss of what the K experts that came say together,
//
//   z = sum over these of softmax(gate(h))_i f(x, V_i),   L = mean of l(z, y),
//
// where the softmax is over all M experts, so that weights add up to less than
// one, or, renormalised, over the K. With `mix` = probabilities experts mix the
// chances they give instead: L = mean of -log(sum of weight_i exp(-l_i)).
//
// One pass forward and one back of each expert; all slopes are of the point
// before the step. The slope along what an expert says is its weight times that
// of z, and the slope along a weight is the product of that of z with what its
// expert says.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "models/methods/built_in.hpp"
#include "models/methods/gated.hpp"

namespace troupe::models {

namespace {

struct joint_visit {
  gated_visit of;
  learning_gate gate;
  learners who;
  bool mixes_chances = false;
  std::vector<array> models;
  std::vector<array> buffers;
  std::vector<optimiser> by; ///< Each begins anew.
};

using many_said = std::vector<utterance>;

/// What a batch comes to.
struct joint_slopes {
  double loss = 0;                            ///< The mean over the rows.
  std::vector<std::vector<float>> along_said; ///< Of that, by expert.
  std::vector<double> along_weights; ///< Of each row's own loss, row by row.
};

double product(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(
    a.begin(), a.end(), b.begin(), 0.0, std::plus{}, [](float x, float y) {
      return static_cast<double>(x) * static_cast<double>(y);
    });
}

/// The weights of one expert.
std::vector<double> weights_of_one(std::span<const double> weights,
                                   std::size_t expert, std::size_t experts) {
  std::vector<double> one;
  for (auto i = expert; i < weights.size(); i += experts)
    one.push_back(weights[i]);
  return one;
}

joint_slopes slopes_of_sum(const model_outputs& outputs, row_span rows,
                           const many_said& each,
                           std::span<const double> weights) {
  const auto experts = each.size();
  const auto size = outputs.size();
  std::vector<float> together(rows.size() * size);
  for (std::size_t e = 0; e < experts; ++e)
    for (std::size_t i = 0; i < rows.size(); ++i)
      add_said(line(each[e].values, i, size), weights[i * experts + e],
               line(together, i, size));
  std::vector<float> slopes(together.size());
  const auto judged = outputs.judge(split::train, rows, together, slopes);
  joint_slopes x;
  x.loss = std::accumulate(judged.losses.begin(), judged.losses.end(), 0.0)
           / static_cast<double>(rows.size());
  x.along_weights.resize(weights.size());
  for (std::size_t e = 0; e < experts; ++e) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      x.along_weights[i * experts + e] =
        product(line(slopes, i, size), line(each[e].values, i, size));
    auto& own = x.along_said.emplace_back(slopes);
    divide(own, rows.size());
    weigh(weights_of_one(weights, e, experts), own);
  }
  return x;
}

joint_slopes slopes_of_chances(const model_outputs& outputs, row_span rows,
                               const many_said& each,
                               std::span<const double> weights) {
  const auto experts = each.size();
  joint_slopes x;
  x.along_weights.resize(weights.size());
  std::vector<double> given(weights.size()); // To what is right.
  std::vector<double> together(rows.size());
  for (std::size_t e = 0; e < experts; ++e) {
    auto& own = x.along_said.emplace_back(each[e].values.size());
    const auto judged = outputs.judge(split::train, rows, each[e].values, own);
    divide(own, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      given[i * experts + e] = std::exp(-judged.losses[i]);
      together[i] += weights[i * experts + e] * given[i * experts + e];
    }
  }
  for (std::size_t e = 0; e < experts; ++e) {
    std::vector<double> parts(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!(together[i] <= least_chance)) {
        const auto part = given[i * experts + e] / together[i];
        parts[i] = weights[i * experts + e] * part;
        x.along_weights[i * experts + e] = -part;
      }
    weigh(parts, x.along_said[e]);
  }
  for (const auto chance : together)
    x.loss += loss_of_chance(chance) / static_cast<double>(rows.size());
  return x;
}

/// From slopes along the weights of these to those of the mean loss along the
/// logits of all.
std::vector<float> slopes_of_logits(const visit& v, const joint_visit& x,
                                    const gate_view& at,
                                    std::span<const double> along_weights) {
  const auto experts = x.of.shape.experts;
  const auto rows = at.logits.size() / experts;
  const bool renormalised = v.option("renormalise") != 0;
  std::vector<float> slopes(at.logits.size());
  for (std::size_t i = 0; i < rows; ++i)
    kernels::gate_slopes(
      line(at.logits, i, experts), x.of.instances, renormalised,
      line(along_weights, i, x.of.instances.size()), line(slopes, i, experts));
  divide(slopes, rows);
  return slopes;
}

/// Each expert has its own buffers live, and what its pass leaves there is its
/// own again.
task<many_said> hear(visit& v, joint_visit& x, batch on) {
  many_said each;
  for (std::size_t e = 0; e < x.models.size(); ++e) {
    const model_at at{.parameters = x.models[e], .buffers = x.buffers[e]};
    auto said = co_await v.speak(on, at);
    each.push_back(std::move(said));
    co_await v.copy(v.on.model.buffers(), x.buffers[e]);
  }
  co_return each;
}

/// Gives the mean loss before.
task<double> step(visit& v, joint_visit& x, batch on) {
  const auto at = co_await gate_view_of(v, x.gate, on.rows);
  const auto each = co_await hear(v, x, on);
  const auto weights = weights_of(v, x.of.shape, at.logits, x.of.instances);
  const auto& outputs = *v.on.model.outputs();
  const auto found = x.mixes_chances
                       ? slopes_of_chances(outputs, on.rows, each, weights)
                       : slopes_of_sum(outputs, on.rows, each, weights);
  if (x.who.gate) {
    const auto along = slopes_of_logits(v, x, at, found.along_weights);
    co_await step_gate(v, x.gate, at, along);
  }
  for (std::size_t e = 0; x.who.experts && e < each.size(); ++e) {
    const model_at speaker{.parameters = x.models[e]};
    co_await v.pull_back(each[e], found.along_said[e], speaker);
    const auto next = x.by[e].next(x.models[e], v.gradient());
    co_await v.update(next);
  }
  co_return found.loss;
}

/// One expert with all of the weight: what it learns is a plain step of it, and
/// there is nothing that the gate could.
bool is_plain(const visit& v, const joint_visit& x) {
  return x.models.size() == 1 && x.who.experts && !x.mixes_chances
         && v.option("renormalise") != 0;
}

result<void> check_mix(const visit& v, const joint_visit& x) {
  if (auto ok = check_says(v); !ok)
    return ok;
  if (!x.mixes_chances || v.on.model.outputs()->kind() == output_kind::logits)
    return {};
  return fail(errc::invalid_config,
              "method '" + v.on.method.name
                + "' has mix = \"probabilities\", and this kind of model says "
                  "numbers; mix = \"logits\" would do");
}

task<double> learn(visit& v, joint_visit& x) {
  if (is_plain(v, x)) {
    v.load(x.models.front());
    co_await v.copy(x.buffers.front(), v.on.model.buffers());
    const auto loss = co_await v.descend(v.plan.steps, v.in.seed);
    co_await v.copy(v.parameters(), x.models.front());
    co_await v.copy(v.on.model.buffers(), x.buffers.front());
    co_return loss;
  }
  co_await check_mix(v, x);
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i)
    total += co_await step(v, x, from.next_batch());
  co_return total / static_cast<double>(v.plan.steps);
}

task<done> train_jointly(visit& v) {
  joint_visit x;
  x.of = co_await gated_of(v);
  x.who = learners_of(v);
  x.mixes_chances = v.option("mix") != 0;
  x.gate = co_await learning_gate_of(v, x.of);
  for (const auto instance : x.of.instances) {
    const auto own = co_await expert_of(v, instance);
    x.models.push_back(v.copy_of(own.model.values));
    x.buffers.push_back(v.copy_of(own.buffers));
    x.by.emplace_back(v.on, v.parameters().size());
  }
  v.on.model.begin();
  v.out.loss = co_await learn(v, x);
  co_await v.offer(x.of.gate, x.gate.values);
  if (!x.who.experts)
    co_return {};
  for (std::size_t e = 0; e < x.models.size(); ++e) {
    co_await v.offer(x.of.experts[e], x.models[e]);
    if (!x.of.buffers.empty())
      co_await v.offer(x.of.buffers[e], x.buffers[e]);
  }
  co_return {};
}

// As many as come.
std::uint64_t joint_passes(const training_options& how) {
  const auto chosen = option_of(how, "chosen");
  const auto count = chosen > 0 ? chosen : option_of(how, "experts");
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(count), 1);
}

} // namespace

const local_method joint_sgd{.train = train_jointly,
                             .score = score_gated,
                             .summary = summarise_gated,
                             .passes = joint_passes,
                             .needs = check_gated,
                             .answer = answer_gated};

} // namespace troupe::models
