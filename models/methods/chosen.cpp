// IFCA. All C models come; the client chooses the one whose loss over its own
// training examples is least, trains it as FedAvg does, and offers that one.

#include <limits>

#include "models/methods/built_in.hpp"
#include "models/methods/client_router.hpp"
#include "models/methods/shared_model.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

namespace {

/// The instance of least loss, the first among equals; it is live afterwards or
/// not, as the last one was.
result<block_id> best_of(std::span<const fetched_block> versions,
                         local_problem& on) {
  const auto all = on.blocks.family(model_family);
  block_id best = all.front();
  auto least = std::numeric_limits<double>::infinity();
  for (const auto id : all)
    for (const auto& x : versions) {
      if (x.block != id || on.rows.empty())
        continue;
      load_parameters(on.model, *x.values);
      const auto found = on.model.evaluate(split::train, on.rows);
      if (!found)
        return tl::unexpected{found.error()};
      if (found->mean_loss() < least) {
        least = found->mean_loss();
        best = id;
      }
    }
  return best;
}

} // namespace

result<choice> least_loss(const visit_input& x, local_problem& on) {
  if (const auto done = load_buffers(x, on, buffers_family); !done)
    return tl::unexpected{done.error()};
  return best_of(x.fetched, on).map([](block_id best) {
    return choice{.chosen = {best}, .disclosures = {}};
  });
}

result<trained> chosen_sgd(const visit_input& x, local_problem& on) {
  const auto id = x.chosen.empty() ? on.blocks.family(model_family).front()
                                   : x.chosen.front();
  return train_shared_model(x, on, {.block = on.blocks.find(id)->name});
}

result<void> chosen_home(const home& x, local_problem& on) {
  const auto best = best_of(x.versions, on);
  if (!best)
    return tl::unexpected{best.error()};
  for (const auto& y : x.versions)
    if (y.block == *best)
      load_parameters(on.model, *y.values);
  return {};
}

void summarise_choices(const evaluation_input& x, const local_problem& on,
                       evaluated& to) {
  if (on.groups == 0)
    return;
  const auto models = on.blocks.family(model_family);
  shares_by_client chosen;
  for (std::size_t k = 0; k < on.clients->train.size(); ++k) {
    auto at = on;
    at.rows = on.clients->train[k];
    const auto best = best_of(x.versions, at);
    if (!best)
      return;
    auto& shares = chosen[{k + 1}];
    for (const auto id : models)
      shares.push_back(id == *best ? 1 : 0);
  }
  summarise_routers(chosen, on, to);
}

} // namespace troupe::models
