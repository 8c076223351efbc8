#include "models/torch/language/labelled_objective.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "core/assert.hpp"
#include "models/language/headed_base.hpp"

namespace troupe::models {

labelled_objective::labelled_objective(
  const language_config& config, std::shared_ptr<const language_base> base,
  std::shared_ptr<const token_rows> from)
  : config_(config),
    network_(make_language_network(base->spec())),
    learned_(config.trained ? whole_weights_of(base) : factors_over(base)),
    rows_(std::move(from)),
    head_at_(base->tensors().size() - 2) {
  TROUPE_ASSERT(head_of(*base));
}

// Nothing is dropped at random, so the seed says nothing.
result<double> labelled_objective::backward(row_numbers which,
                                            std::uint64_t /*seed*/) {
  TROUPE_ASSERT(!which.empty());
  const auto count = static_cast<double>(which.size());
  auto loss = guarded(which.size(), [&]() -> result<double> {
    const c10::AutoGradMode with_graph{learns()};
    double sum = 0;
    for (const auto& pass : passes(which)) {
      const auto own = losses(say_pass(pass), pass).sum();
      sum += own.item<double>();
      if (own.requires_grad())
        (own / count).backward();
    }
    return sum / count;
  });
  if (!loss)
    forget();
  for (const auto& x : learned_->leaves())
    TROUPE_ASSERT(x.values.grad().data_ptr<float>()
                  == learned_->slopes().data() + x.at);
  return loss;
}

result<void> labelled_objective::curve(row_numbers which,
                                       std::uint64_t /*seed*/,
                                       std::span<const float> direction) {
  TROUPE_ASSERT(!which.empty() && direction.size() == parameters().size());
  const auto count = static_cast<double>(which.size());
  auto done = guarded(which.size(), [&]() -> result<void> {
    for (const auto& pass : passes(which))
      slope_graph{losses(say_pass(pass), pass).sum() / count,
                  learned_->leaves()}
        .add_curvature(direction, gradient());
    return {};
  });
  if (!done)
    forget();
  return done;
}

// Several passes would be as many graphs, all of them at once.
result<kept_loss> labelled_objective::backward_and_keep(row_numbers which,
                                                        std::uint64_t seed) {
  TROUPE_ASSERT(!which.empty());
  if (which.size() > rows_at_once(which) || !learned_->can_be_kept())
    return objective::backward_and_keep(which, seed);
  const auto count = static_cast<double>(which.size());
  auto found = guarded(which.size(), [&]() -> result<kept_loss> {
    auto pass = passes(which).front();
    pass.is_kept = true;
    const auto sum = losses(say_pass(pass), pass).sum();
    slope_graph slopes{sum / count, learned_->leaves()};
    slopes.add_slopes(gradient());
    const auto again = [this, slopes, rows = which.size()](
                         std::span<const float> direction) mutable {
      return bend(slopes, rows, direction);
    };
    return kept_loss{.loss = sum.item<double>() / count,
                     .gradient = kept_by(again)};
  });
  if (!found)
    forget();
  return found;
}

result<void> labelled_objective::bend(slope_graph& slopes, std::size_t rows,
                                      std::span<const float> direction) {
  TROUPE_ASSERT(direction.size() == parameters().size());
  auto done = guarded(rows, [&]() -> result<void> {
    slopes.add_curvature(direction, gradient());
    return {};
  });
  if (!done)
    forget();
  return done;
}

result<scores> labelled_objective::evaluate(split part, row_numbers which) {
  scores sum;
  return for_scoring(which,
                     [&](row_numbers some) -> result<void> {
                       const c10::NoGradGuard no_grad;
                       const auto pass = read_pass(*rows_, part, some);
                       sum += score(part, some, say_pass(pass), pass);
                       return {};
                     })
    .map([&] { return sum; });
}

void labelled_objective::forget() {
  std::ranges::fill(gradient(), 0.f);
  if (auto* groups = inside())
    groups->share_slopes();
}

} // namespace troupe::models
