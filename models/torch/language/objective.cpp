#include "models/torch/language/objective.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/torch/language/beam.hpp"
#include "models/torch/language/chunked_loss.hpp"
#include "models/torch/language/fit.hpp"
#include "models/torch/language/learned_objective.hpp"
#include "models/torch/threads.hpp"

namespace troupe::models {

namespace {

result<void> check_head(const language_spec& model) {
  if (model.has_head)
    return {};
  return fail(errc::invalid_config,
              "the model is " + describe(model)
                + ", and has hidden states alone, which foretell no token; a "
                  "model with a head would do");
}

class language_objective final : public learned_objective {
public:
  language_objective(const language_config& config,
                     std::shared_ptr<const language_base> base,
                     std::shared_ptr<const token_rows> from)
    : learned_objective(config, std::move(base), std::move(from)),
      continuations_(make_continuations(network(), learned())) {
    TROUPE_ASSERT(config.chunk > 0);
    learned().forward_by(
      [this](split part, std::uint32_t row) { return look(part, row); });
  }

  // Noisy gates draw from it, and nothing else does.
  result<double> backward(row_numbers which, std::uint64_t seed) override {
    TROUPE_ASSERT(!which.empty());
    auto loss = guarded_step(which.size(), [&]() -> result<double> {
      const c10::AutoGradMode with_graph{learned().learns()};
      const auto all = passes(which);
      // Of the whole batch: passes have unequal numbers of targets.
      const auto targets = static_cast<double>(targets_of(all));
      double sum = 0, balance = 0;
      for_passes(all, seed, [&](const foretold_tokens& x) {
        const auto term = learned().parts().balance();
        sum += descend(head(), x, 1 / targets, term);
        if (term.defined()) // Each pass has that of the batch.
          balance = term.item<double>();
      });
      return targets > 0 ? sum / targets + balance : 0.0;
    });
    check_places();
    return loss;
  }

  result<void> curve(row_numbers which, std::uint64_t seed,
                     std::span<const float> direction) override {
    TROUPE_ASSERT(!which.empty() && direction.size() == parameters().size());
    return guarded_step(which.size(), [&]() -> result<void> {
      // A balance is bent by all passes together: they are one then. No method
      // asks for it.
      const auto all = learned().parts().balances()
                         ? passes_of(rows(), split::train, which, which.size())
                         : passes(which);
      const auto targets = static_cast<double>(targets_of(all));
      for_passes(all, seed, [&](const foretold_tokens& x) {
        auto loss = loss_to_bend(head(), x) / targets;
        if (const auto term = learned().parts().balance(); term.defined())
          loss = loss + term;
        bend(loss, direction);
      });
      return {};
    });
  }

  result<kept_loss> backward_and_keep(row_numbers which,
                                      std::uint64_t seed) override {
    // One that all rows have together is kept for none.
    TROUPE_ASSERT(!which.empty() && !learned().parts().balances());
    if (!can_keep(which))
      return objective::backward_and_keep(which, seed);
    return guarded_step(which.size(), [&]() -> result<kept_loss> {
      auto pass = passes(which).front();
      if (pass.targets.numel() == 0)
        return kept_loss{};
      pass.is_kept = true;
      const auto targets = static_cast<double>(pass.targets.numel());
      const auto sum = loss_to_bend(head(), forward(pass, drawn(pass, seed)));
      return kept_loss{.loss = sum.item<double>() / targets,
                       .gradient = keep(sum / targets, which.size())};
    });
  }

  result<scores> evaluate(split part, row_numbers which) override {
    scores sum;
    return for_scoring(which,
                       [&](row_numbers some) -> result<void> {
                         const c10::NoGradGuard no_grad;
                         const auto pass = read_pass(rows(), part, some);
                         if (pass.targets.numel() > 0)
                           sum += score_tokens(
                             head(), forward(pass, {.is_scored = true}));
                         return {};
                       })
      .map([&] { return sum; });
  }

  model_continuations* continuations() noexcept override {
    return continuations_.get();
  }

private:
  chunked_head head() {
    return {.network = network(),
            .parts = learned().parts(),
            .chunk = config().chunk};
  }

  static pass_facts drawn(const language_pass& x, std::uint64_t seed) {
    return {.draws = pass_draws{.seed = seed, .first_row = x.first_row}};
  }

  /// As far as the head.
  foretold_tokens forward(const language_pass& x, pass_facts facts = {}) {
    facts.there = x.x.there;
    facts.is_kept = x.is_kept;
    learned().parts().begin(facts);
    const auto hidden = network().hidden(learned().parts(), x.x);
    return {.states =
              hidden.reshape({-1, hidden.size(2)}).index_select(0, x.places),
            .targets = x.targets};
  }

  /// Calls f(what is foretold) for each pass, unless nothing is of any. Those
  /// without targets have their part in a balance.
  template <class Function>
  void for_passes(const std::vector<language_pass>& all, std::uint64_t seed,
                  Function f) {
    if (targets_of(all) == 0)
      return;
    const auto beside = loads_beside(all, seed);
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto facts = drawn(all[i], seed);
      if (!beside.empty())
        facts.loads_beside = beside[i];
      else if (all[i].targets.numel() == 0)
        continue;
      f(forward(all[i], facts));
    }
  }

  /// A balance is a function of sums over all tokens of a batch, and what is
  /// along a pass's part of them is the pass's. So all go forward once more
  /// before. Of each pass: what the others' loads add up to, layer after layer.
  /// None: no balance has a slope, or the pass is the batch.
  std::vector<std::vector<at::Tensor>>
  loads_beside(const std::vector<language_pass>& all, std::uint64_t seed) {
    auto& parts = learned().parts();
    if (all.size() < 2 || !c10::GradMode::is_enabled() || !parts.balances())
      return {};
    const c10::NoGradGuard no_grad;
    std::vector<std::vector<at::Tensor>> loads;
    std::vector<at::Tensor> sums;
    for (const auto& pass : all) {
      auto facts = drawn(pass, seed);
      facts.is_counted = true;
      forward(pass, facts);
      loads.push_back(parts.take_loads());
      if (sums.empty())
        sums = loads.back();
      else
        for (std::size_t i = 0; i < loads.back().size(); ++i)
          sums[i] = sums[i] + loads.back()[i];
    }
    // Where nothing was there all is beside it.
    for (auto& own : loads) {
      auto beside = sums;
      for (std::size_t i = 0; i < own.size(); ++i)
        beside[i] = sums[i] - own[i];
      own = std::move(beside);
    }
    return loads;
  }

  /// For what routers say of a row.
  result<void> look(split part, std::uint32_t row) {
    return guarded(1, [&]() -> result<void> {
      const c10::NoGradGuard no_grad;
      forward(read_pass(rows(), part, std::span{&row, 1}));
      return {};
    });
  }

  std::unique_ptr<model_continuations> continuations_; ///< May be null.
};

} // namespace

result<std::unique_ptr<objective>>
make_language_objective(const language_config& config,
                        std::shared_ptr<const language_base> base,
                        std::shared_ptr<const token_rows> rows) {
  use_one_thread_per_worker();
  const auto& spec = base->spec();
  auto ok = check_head(spec).and_then([&] { return check_fit(spec, *rows); });
  if (!ok)
    return tl::unexpected{std::move(ok.error())};
  return std::make_unique<language_objective>(config, std::move(base),
                                              std::move(rows));
}

} // namespace troupe::models
