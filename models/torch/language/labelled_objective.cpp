#include "models/torch/language/labelled_objective.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <utility>

#include "core/assert.hpp"
#include "models/language/headed_base.hpp"

namespace troupe::models {

labelled_objective::labelled_objective(
  const language_config& config, std::shared_ptr<const language_base> base,
  std::shared_ptr<const token_rows> from)
  : learned_objective(config, base, std::move(from)),
    head_at_(base->tensors().size() - 2) {
  TROUPE_ASSERT(head_of(*base));
}

// Nothing is dropped at random, so the seed says nothing.
result<double> labelled_objective::backward(row_numbers which,
                                            std::uint64_t /*seed*/) {
  TROUPE_ASSERT(!which.empty());
  const auto count = static_cast<double>(which.size());
  auto loss = guarded_step(which.size(), [&]() -> result<double> {
    const c10::AutoGradMode with_graph{learned().learns()};
    double sum = 0;
    for (const auto& pass : passes(which)) {
      const auto own = losses(say_pass(pass), pass).sum();
      sum += own.item<double>();
      if (own.requires_grad())
        (own / count).backward();
    }
    return sum / count;
  });
  check_places();
  return loss;
}

result<void> labelled_objective::curve(row_numbers which,
                                       std::uint64_t /*seed*/,
                                       std::span<const float> direction) {
  TROUPE_ASSERT(!which.empty() && direction.size() == parameters().size());
  const auto count = static_cast<double>(which.size());
  return guarded_step(which.size(), [&]() -> result<void> {
    for (const auto& pass : passes(which))
      bend(losses(say_pass(pass), pass).sum() / count, direction);
    return {};
  });
}

result<kept_loss> labelled_objective::backward_and_keep(row_numbers which,
                                                        std::uint64_t seed) {
  TROUPE_ASSERT(!which.empty());
  if (!can_keep(which))
    return objective::backward_and_keep(which, seed);
  const auto count = static_cast<double>(which.size());
  return guarded_step(which.size(), [&]() -> result<kept_loss> {
    auto pass = passes(which).front();
    pass.is_kept = true;
    const auto sum = losses(say_pass(pass), pass).sum();
    return kept_loss{.loss = sum.item<double>() / count,
                     .gradient = keep(sum / count, which.size())};
  });
}

result<scores> labelled_objective::evaluate(split part, row_numbers which) {
  scores sum;
  return for_scoring(which,
                     [&](row_numbers some) -> result<void> {
                       const c10::NoGradGuard no_grad;
                       const auto pass = read_pass(rows(), part, some);
                       sum += score(part, some, say_pass(pass), pass);
                       return {};
                     })
    .map([&] { return sum; });
}

} // namespace troupe::models
