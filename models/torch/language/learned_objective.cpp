#include "models/torch/language/learned_objective.hpp"

#include "core/assert.hpp"
#include "models/torch/curvature.hpp"

namespace troupe::models {

learned_objective::learned_objective(const language_config& config,
                                     std::shared_ptr<const language_base> base,
                                     std::shared_ptr<const token_rows> from)
  : config_(config),
    network_(make_language_network(base->spec())),
    learned_(config.trained ? whole_weights_of(base) : factors_over(base)),
    rows_(std::move(from)) {
  // nop
}

std::unique_ptr<kept_gradient> learned_objective::keep(const at::Tensor& loss,
                                                       std::size_t rows) {
  slope_graph slopes{loss, learned_->leaves()};
  slopes.add_slopes(gradient());
  return kept_by(
    [this, slopes, rows](std::span<const float> direction) mutable {
      TROUPE_ASSERT(direction.size() == parameters().size());
      return guarded_step(rows, [&]() -> result<void> {
        slopes.add_curvature(direction, gradient());
        return {};
      });
    });
}

void learned_objective::bend(const at::Tensor& loss,
                             std::span<const float> direction) {
  slope_graph{loss, learned_->leaves()}.add_curvature(direction, gradient());
}

void learned_objective::check_places() {
  for (const auto& x : learned_->leaves())
    TROUPE_ASSERT(x.values.grad().data_ptr<float>()
                  == learned_->slopes().data() + x.at);
}

void learned_objective::forget() {
  std::ranges::fill(gradient(), 0.f);
  if (auto* groups = inside())
    groups->share_slopes();
}

} // namespace troupe::models
