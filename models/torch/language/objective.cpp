#include "models/torch/language/objective.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/torch/language/beam.hpp"
#include "models/torch/language/chunked_loss.hpp"
#include "models/torch/curvature.hpp"
#include "models/torch/language/fit.hpp"
#include "models/torch/language/learned_parts.hpp"
#include "models/torch/language/network.hpp"
#include "models/torch/language/passes.hpp"
#include "models/torch/network.hpp"
#include "models/torch/threads.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t rows_of_scoring = 8;

using row_list = std::span<const std::uint32_t>;

result<void> check_head(const language_spec& model) {
  if (model.has_head)
    return {};
  return fail(errc::invalid_config,
              "the model is " + describe(model)
                + ", and has hidden states alone, which foretell no token; a "
                  "model with a head would do");
}

class language_objective final : public objective {
public:
  language_objective(const language_config& config, const language_spec& spec,
                     std::unique_ptr<learned_parts> learned,
                     std::shared_ptr<const token_rows> from)
    : config_(config),
      network_(make_language_network(spec)),
      learned_(std::move(learned)),
      rows_(std::move(from)),
      continuations_(make_continuations(*network_, *learned_)) {
    TROUPE_ASSERT(config_.chunk > 0);
    learned_->forward_by(
      [this](split part, std::uint32_t row) { return look(part, row); });
  }

  const tensor_list& parameter_list() const noexcept override {
    return learned_->list();
  }

  const tensor_list& buffer_list() const noexcept override {
    return no_buffers_;
  }

  std::span<float> parameters() noexcept override {
    return learned_->values();
  }

  std::span<float> gradient() noexcept override {
    return learned_->slopes();
  }

  std::span<float> buffers() noexcept override {
    return {};
  }

  // Noisy gates draw from it, and nothing else does.
  result<double> backward(row_list which, std::uint64_t seed) override {
    TROUPE_ASSERT(!which.empty());
    auto loss = guarded(which.size(), [&]() -> result<double> {
      const c10::AutoGradMode with_graph{learned_->learns()};
      const auto passes = read_batch(which);
      // Of the whole batch: passes have unequal numbers of targets.
      const auto targets = static_cast<double>(targets_of(passes));
      double sum = 0, beside = 0;
      for (const auto& pass : passes) {
        if (pass.targets.numel() == 0)
          continue;
        const auto states = forward(pass, drawn(pass, seed));
        const auto term = balance_of(pass, passes);
        sum += descend(head(), states, 1 / targets, term);
        if (term.defined())
          beside += term.item<double>();
      }
      return targets > 0 ? sum / targets + beside : 0.0;
    });
    if (!loss)
      forget();
    for (const auto& x : learned_->leaves())
      TROUPE_ASSERT(x.values.grad().data_ptr<float>()
                    == learned_->slopes().data() + x.at);
    return loss;
  }

  result<void> curve(row_list which, std::uint64_t seed,
                     std::span<const float> direction) override {
    TROUPE_ASSERT(!which.empty() && direction.size() == parameters().size());
    auto done = guarded(which.size(), [&]() -> result<void> {
      const auto passes = read_batch(which);
      const auto targets = static_cast<double>(targets_of(passes));
      for (const auto& pass : passes) {
        if (pass.targets.numel() == 0)
          continue;
        auto loss =
          whole_loss(head(), forward(pass, drawn(pass, seed))) / targets;
        if (const auto term = balance_of(pass, passes); term.defined())
          loss = loss + term;
        slope_graph{loss, learned_->leaves()}.add_curvature(direction,
                                                            gradient());
      }
      return {};
    });
    if (!done)
      forget();
    return done;
  }

  // Several passes would be as many graphs, all of them at once.
  result<kept_loss> backward_and_keep(row_list which,
                                      std::uint64_t seed) override {
    TROUPE_ASSERT(!which.empty());
    if (which.size() > rows_at_once(which) || !learned_->can_be_kept())
      return objective::backward_and_keep(which, seed);
    auto found = guarded(which.size(), [&]() -> result<kept_loss> {
      auto pass = read_batch(which).front();
      if (pass.targets.numel() == 0)
        return kept_loss{};
      pass.is_kept = true;
      const auto targets = static_cast<double>(pass.targets.numel());
      const auto sum = whole_loss(head(), forward(pass, drawn(pass, seed)));
      slope_graph slopes{sum / targets, learned_->leaves()};
      slopes.add_slopes(gradient());
      const auto again = [this, slopes, rows = which.size()](
                           std::span<const float> direction) mutable {
        return bend(slopes, rows, direction);
      };
      return kept_loss{.loss = sum.item<double>() / targets,
                       .gradient = kept_by(again)};
    });
    if (!found)
      forget();
    return found;
  }

  result<scores> evaluate(split part, row_list which) override {
    const std::size_t most =
      config_.micro_batch > 0 ? config_.micro_batch : rows_of_scoring;
    scores sum;
    while (!which.empty()) {
      const auto some = which.first(std::min(which.size(), most));
      which = which.subspan(some.size());
      const auto scored = guarded(some.size(), [&]() -> result<scores> {
        const c10::NoGradGuard no_grad;
        const auto pass = read_pass(*rows_, part, some);
        if (pass.targets.numel() == 0)
          return scores{};
        return score_tokens(head(), forward(pass, {.is_scored = true}));
      });
      if (!scored)
        return scored;
      sum += *scored;
    }
    return sum;
  }

  model_continuations* continuations() noexcept override {
    return continuations_.get();
  }

  inner_adapters* inside() noexcept override {
    return learned_->inside();
  }

  std::vector<float> initial_parameters(std::uint64_t seed) override {
    return learned_->initial(seed);
  }

  std::vector<float> initial_buffers() override {
    return {};
  }

private:
  chunked_head head() {
    return {
      .network = *network_, .parts = learned_->parts(), .chunk = config_.chunk};
  }

  std::vector<language_pass> read_batch(row_list which) const {
    return passes_of(*rows_, split::train, which, rows_at_once(which));
  }

  std::size_t rows_at_once(row_list which) const noexcept {
    return config_.micro_batch > 0 ? config_.micro_batch : which.size();
  }

  static pass_facts drawn(const language_pass& x, std::uint64_t seed) {
    return {.draws = pass_draws{.seed = seed, .first_row = x.first_row}};
  }

  /// As far as the head.
  foretold_tokens forward(const language_pass& x, pass_facts facts = {}) {
    facts.there = x.x.there;
    facts.is_kept = x.is_kept;
    learned_->parts().begin(facts);
    const auto hidden = network_->hidden(learned_->parts(), x.x);
    return {.states =
              hidden.reshape({-1, hidden.size(2)}).index_select(0, x.places),
            .targets = x.targets};
  }

  /// Of the pass that went forward last, by its part of all tokens: it is of
  /// means over a pass, and no sum over its rows. Undefined: none has a slope.
  at::Tensor balance_of(const language_pass& x,
                        const std::vector<language_pass>& all) {
    const auto balance = learned_->parts().balance();
    if (!balance.defined())
      return balance;
    std::int64_t tokens = 0;
    for (const auto& pass : all)
      tokens += tokens_of(pass);
    return balance
           * (static_cast<double>(tokens_of(x)) / static_cast<double>(tokens));
  }

  /// Of a gradient that was kept of so many rows.
  result<void> bend(slope_graph& slopes, std::size_t rows,
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

  /// For what routers say of a row.
  result<void> look(split part, std::uint32_t row) {
    return guarded(1, [&]() -> result<void> {
      const c10::NoGradGuard no_grad;
      forward(read_pass(*rows_, part, std::span{&row, 1}));
      return {};
    });
  }

  /// A step after an error starts from nothing.
  void forget() {
    std::ranges::fill(gradient(), 0.f);
    if (auto* groups = inside())
      groups->share_slopes();
  }

  /// The edge of torch's room: what it throws becomes an error.
  template <class Function>
  auto guarded(std::size_t count, Function f) -> decltype(f()) {
    use_one_thread_per_worker();
    try {
      return f();
    } catch (const std::exception& x) {
      return fail(errc::invalid_config, "the language model fails on a batch "
                                        "of "
                                          + std::to_string(count)
                                          + " rows: " + first_line(x));
    }
  }

  language_config config_;
  std::unique_ptr<language_network> network_;
  std::unique_ptr<learned_parts> learned_;
  std::shared_ptr<const token_rows> rows_;
  std::unique_ptr<model_continuations> continuations_; ///< May be null.
  tensor_list no_buffers_;
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
  return std::make_unique<language_objective>(
    config, spec, config.trained ? whole_weights_of(base) : factors_over(base),
    std::move(rows));
}

} // namespace troupe::models
