#include "models/local_site.hpp"

namespace troupe::models {

local_problem local_site::problem(objective& model, double progress,
                                  std::span<const std::uint32_t> rows,
                                  double weight) const {
  return {.model = model,
          .arithmetic = *arithmetic_,
          .method = task_->method,
          .blocks = task_->blocks,
          .how = task_->how,
          .rate = task_->how.learning_rate
                  * policies::rate_factor(task_->how.schedule, progress),
          .rows = rows,
          .weight = weight,
          .adapters = task_->adapters ? &*task_->adapters : nullptr,
          .groups = task_->groups,
          .own_adapters = task_->own_adapters ? &*task_->own_adapters : nullptr,
          .frozen = &task_->frozen,
          .clients = &task_->clients,
          .truths = task_->truths,
          .common = common_.get()};
}

} // namespace troupe::models
