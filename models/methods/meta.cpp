// Per-FedAvg. What is learned is where one step of SGD ends well: with batches
// b, b' and b'' in turn,
//
//   w' = w - inner_rate * slope(w; b)
//   w  = w - rate * (1 - inner_rate * H(w; b'')) slope(w'; b')
//
// The first-order variant leaves H out; with `difference` above 0 its product
// is taken from two slopes so far to either side of w (the variant without
// Hessians). A client uses the model after one step on examples it trains on.

#include <algorithm>

#include "models/aligned.hpp"
#include "models/families.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

namespace {

using row_span = std::span<const std::uint32_t>;

/// w + by * along, live.
void move(objective& model, std::span<const float> w,
          std::span<const float> along, double by) {
  const auto live = model.parameters();
  for (std::size_t j = 0; j < w.size(); ++j)
    live[j] = w[j] + static_cast<float>(by) * along[j];
}

/// The slope at the live parameters, and the loss.
result<double> slope(local_problem& on, row_span rows, std::uint64_t seed,
                     std::span<float> to) {
  const auto loss = on.model.backward(rows, seed);
  const auto gradient = on.model.gradient();
  std::copy(gradient.begin(), gradient.end(), to.begin());
  std::ranges::fill(gradient, 0.f);
  return loss;
}

class learner {
public:
  learner(local_problem& on, std::uint64_t seed)
    : on_(on),
      seed_(seed),
      batches_(on.rows, on.how, seed),
      w_(on.model.parameters().begin(), on.model.parameters().end()),
      first_(w_.size()),
      second_(w_.size()),
      inner_(option_or(on.how, "inner_rate", 0.01)),
      difference_(option_or(on.how, "difference", 0)) {
    // nop
  }

  /// Returns the loss before the inner step.
  result<double> step() {
    const auto before = slope(on_, batches_.next(), draw(), first_);
    if (!before)
      return before;
    move(on_.model, w_, first_, -inner_);
    if (const auto after = slope(on_, batches_.next(), draw(), first_); !after)
      return after;
    if (difference_ > 0)
      if (const auto done = curve(); !done)
        return tl::unexpected{done.error()};
    move(on_.model, w_, first_, -on_.rate);
    std::ranges::copy(on_.model.parameters(), w_.begin());
    return before;
  }

private:
  std::uint64_t draw() {
    return derive_seed(seed_, "operators", count_++);
  }

  /// first -= inner_rate * H(w) first
  result<void> curve() {
    const auto rows = batches_.next();
    const auto seed = draw();
    aligned_floats above(w_.size());
    move(on_.model, w_, first_, difference_);
    if (const auto done = slope(on_, rows, seed, above); !done)
      return tl::unexpected{done.error()};
    move(on_.model, w_, first_, -difference_);
    if (const auto done = slope(on_, rows, seed, second_); !done)
      return tl::unexpected{done.error()};
    const auto part = static_cast<float>(inner_ / (2 * difference_));
    for (std::size_t j = 0; j < first_.size(); ++j)
      first_[j] -= part * (above[j] - second_[j]);
    return {};
  }

  local_problem& on_;
  std::uint64_t seed_;
  batch_sequence batches_;
  aligned_floats w_;
  aligned_floats first_;
  aligned_floats second_;
  double inner_;
  double difference_;
  std::uint64_t count_ = 0;
};

} // namespace

result<trained> meta_sgd(const visit_input& x, local_problem& on) {
  if (auto ok = check_plain_sgd(on); !ok)
    return tl::unexpected{ok.error()};
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto base = begin_model(x, on);
  if (!base)
    return tl::unexpected{base.error()};
  learner by{on, x.seed};
  for (std::uint64_t i = 0; i < plan.steps; ++i) {
    const auto loss = by.step();
    if (!loss)
      return tl::unexpected{loss.error()};
    out.loss += *loss / static_cast<double>(plan.steps);
  }
  if (const auto done = end_model(x, on, *base, out); !done)
    return tl::unexpected{done.error()};
  return out;
}

result<void> meta_home(const home& x, local_problem& on) {
  if (x.client.value == 0 || on.rows.empty())
    return {};
  batch_sequence batches{on.rows, on.how, derive_seed(x.client.value, "home")};
  aligned_floats first(on.model.parameters().size());
  const kept_statistics statistics{on.model};
  if (const auto done = slope(on, batches.next(), 0, first); !done)
    return tl::unexpected{done.error()};
  const aligned_floats w(on.model.parameters().begin(),
                         on.model.parameters().end());
  move(on.model, w, first, -option_or(on.how, "inner_rate", 0.01));
  return {};
}

std::uint64_t meta_passes(const training_options& how) {
  return option_or(how, "difference", 0) > 0 ? 4 : 2;
}

} // namespace troupe::models
