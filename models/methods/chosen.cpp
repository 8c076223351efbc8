// IFCA (Ghosh et al. 2020). All C models come; the client chooses the one whose
// loss over its own training examples is least, trains it as FedAvg does, and
// offers that one.

#include <limits>

#include "models/methods/built_in.hpp"
#include "models/methods/client_router.hpp"
#include "models/methods/plain.hpp"

namespace troupe::models {

namespace {

/// The instance of least loss, the first among equals.
task<base_block> best_model_of(visit& v) {
  const auto all = co_await v.all_of(model_family, v.parameters().size());
  auto best = all.front();
  auto least = std::numeric_limits<double>::infinity();
  for (const auto& x : all) {
    if (v.on.rows.empty())
      break;
    const auto found = co_await v.score(split::train, v.on.rows, {x.values});
    if (found.mean_loss() < least) {
      least = found.mean_loss();
      best = x;
    }
  }
  co_return best;
}

task<choice> choose_least_loss(visit& v) {
  co_await v.load_buffers(buffers_family);
  const auto best = co_await best_model_of(v);
  co_return choice{.chosen = {best.layout->id}, .disclosures = {}};
}

task<done> train_chosen(visit& v) {
  const auto id = v.in.chosen.empty() ? v.on.blocks.family(model_family).front()
                                      : v.in.chosen.front();
  return train_shared_model(v, v.on.blocks.find(id)->name);
}

task<done> chosen_home(visit& v) {
  const auto best = co_await best_model_of(v);
  v.load(best.values);
  co_return {};
}

/// How far the clients' choices are their clusters.
void summarise_chosen(const evaluation_input& x, const local_problem& on,
                      evaluated& to) {
  if (on.groups == 0)
    return;
  shares_by_client chosen;
  for (std::size_t k = 0; k < on.clients->train.size(); ++k) {
    const auto best =
      look(at_home({k + 1}, x), with_rows_of({k + 1}, on), best_model_of);
    if (!best)
      return;
    auto& shares = chosen[{k + 1}];
    for (const auto id : on.blocks.family(model_family))
      shares.push_back(id == best->layout->id ? 1 : 0);
  }
  summarise_routers(chosen, on, to);
}

} // namespace

const local_method least_loss{.choose = choose_least_loss};
const local_method chosen_sgd{
  .train = train_chosen, .home = chosen_home, .summary = summarise_chosen};

} // namespace troupe::models
