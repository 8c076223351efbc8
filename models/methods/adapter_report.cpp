// How well clients do whose model is a frozen one with adapters on it: before
// the common one is merged with others' (`pre`), and after (`post`).

#include <algorithm>
#include <string>

#include "models/adapters/layer_names.hpp"
#include "models/adapters/spectrum.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"
#include "models/methods/merged_scores.hpp"

namespace troupe::models {

namespace {

/// The 90 % rank of a client's truth, as a mean over the adapted matrices.
double true_rank(const local_problem& on, std::span<const float> truth) {
  double sum = 0;
  const auto& matrices = common_plan(on)->matrices;
  for (const auto& m : matrices) {
    dense x{m.rows, m.columns, std::vector<double>(m.size())};
    for (std::size_t j = 0; j < m.size(); ++j)
      x.values[j] = truth[m.at + (m.order.empty() ? j : m.order[j])];
    sum += static_cast<double>(effective_rank(singular_values(x)));
  }
  return matrices.empty() ? 0 : sum / static_cast<double>(matrices.size());
}

/// What the client's model should become; empty where that is not known, or no
/// whole model is composed.
std::span<const float> truth_of(const local_problem& on, client_id client) {
  const auto k = client.value - 1;
  const bool known = on.model.inside() == nullptr && k < on.truths.size()
                     && on.truths[k].size() == on.model.parameters().size();
  return known ? std::span<const float>{on.truths[k]}
               : std::span<const float>{};
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const auto d = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    sum += d * d;
  }
  return sum;
}

/// Of the tensor that the adapter's i-th matrix belongs to.
std::string name_of(const adapter_plan& plan, std::size_t i) {
  std::size_t at = 0;
  for (const auto& x : plan.tensors) {
    if (at == plan.matrices[i].u_at)
      return std::string{layer_of(x.name)};
    at += x.size();
  }
  return "?";
}

double mean(const std::vector<double>& xs) {
  double sum = 0;
  for (const auto x : xs)
    sum += x;
  return xs.empty() ? 0 : sum / static_cast<double>(xs.size());
}

/// Reports on all clients at one moment.
class reporter {
public:
  reporter(local_problem on, std::string moment, evaluated& to)
    : on_(on),
      moment_(std::move(moment)),
      to_(to) {
    // nop
  }

  void add(client_id client, const client_adapters& x) {
    const auto adapters = x.on(on_);
    const auto found = effective_ranks(x.over_common(on_));
    const std::vector<double> ranks(found.begin(), found.end());
    const auto rank = mean(ranks);
    put("rank", client, rank);
    score(client, adapters);
    of_layers_.resize(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i)
      of_layers_[i] += ranks[i];
    ++clients_;
    const auto truth = truth_of(on_, client);
    if (truth.empty() || !compose(on_, adapters))
      return;
    const auto k = client.value - 1;
    put("distance", client, squared_distance(on_.model.parameters(), truth));
    met_ += rank == true_rank(on_, truth);
    if (on_.clients != nullptr) {
      put_loss("train_loss", client, split::train, on_.clients->train[k]);
      put_loss("test_loss", client, split::test, on_.clients->test[k]);
    }
  }

  void finish() {
    worth_.put(on_.model, to_.method_results);
    if (clients_ == 0)
      return;
    for (auto& x : of_layers_)
      x /= clients_;
    const auto name = "rank_" + moment_;
    to_.method_results[name] = mean(of_layers_);
    if (of_layers_.size() > 1)
      for (std::size_t i = 0; i < of_layers_.size(); ++i)
        to_.method_results[name + '.' + name_of(*common_plan(on_), i)] =
          of_layers_[i];
    if (!on_.truths.empty())
      to_.method_results["ranks_met_" + moment_] = met_;
  }

private:
  /// Clients are scored after a merge in any case. Where a truth is known the
  /// losses of both moments are said.
  void score(client_id client, const planned_adapters& adapters) {
    const auto k = client.value - 1;
    if (moment_ != "pre" || !on_.truths.empty() || on_.clients == nullptr
        || k >= on_.clients->test.size() || on_.clients->test[k].empty()
        || !compose(on_, adapters))
      return;
    if (const auto own = on_.model.evaluate(split::test, on_.clients->test[k]))
      worth_.add(client, *own);
  }

  void put(const std::string& name, client_id client, double value) {
    to_.method_results[name + "_" + moment_ + "."
                       + std::to_string(client.value)] = value;
  }

  void put_loss(const std::string& name, client_id client, split part,
                std::span<const std::uint32_t> rows) {
    if (const auto scored = on_.model.evaluate(part, rows))
      put(name, client, scored->mean_loss());
  }

  local_problem on_;
  std::string moment_;
  evaluated& to_;
  worth_of_clients worth_{"left"};
  std::vector<double> of_layers_ = {}; ///< Ranks, added up over clients.
  double clients_ = 0;
  double met_ = 0;
};

} // namespace

task<done> common_home(visit& v) {
  const auto now = co_await adapters_after(v.on, v.in.state.get(),
                                           common_of(v.in.fetched, v.on));
  co_await compose(v.on, now.on(v.on));
  co_return {};
}

namespace {

/// What a client makes of the adapters that it has before it uses them.
using preparation = result<void> (*)(client_adapters& x, client_id client,
                                     const local_problem& on);

void summarise_prepared(const evaluation_input& x, const local_problem& on,
                        preparation prepare, evaluated& to) {
  reporter before{on, "pre", to};
  reporter after{on, "post", to};
  const auto& common = common_of(x.versions, on);
  const auto attention = attention_of(x.versions, on);
  double lost = 0;
  for (const auto& [client, state] : x.states) {
    if (const auto found = state->counters.find(lost_counter);
        found != state->counters.end())
      lost += static_cast<double>(found->second);
    auto left = adapters_before(on, *state);
    auto now = adapters_after(on, state.get(), common, attention);
    if (!left || !now || left->common.empty() || !prepare(*left, client, on)
        || !prepare(*now, client, on))
      continue;
    before.add(client, *left);
    after.add(client, *now);
    const auto truth = truth_of(on, client);
    if (truth.empty())
      continue;
    const auto name = std::to_string(client.value);
    to.method_results["true_rank." + name] = true_rank(on, truth);
    if (const auto own = state->counters.find(rank_counter);
        own != state->counters.end())
      to.method_results["kept_rank." + name] = static_cast<double>(own->second);
  }
  before.finish();
  after.finish();
  if (own_plan(on) != nullptr)
    to.method_results["own_adapters_lost"] = lost;
}

result<void> as_they_are(client_adapters&, client_id, const local_problem&) {
  return {};
}

result<void> after_a_step(client_adapters& x, client_id client,
                          const local_problem& on) {
  return look({.visit = {client, {}}, .fetched = {}, .chosen = {}, .state = {}},
              on.clients != nullptr ? with_rows_of(client, on) : on,
              [&](visit& v) { return stepped_at_home(v, x.common); })
    .map([&](factors own) { x.common = std::move(own); });
}

} // namespace

void summarise_adapters(const evaluation_input& x, const local_problem& on,
                        evaluated& to) {
  summarise_prepared(x, on, as_they_are, to);
}

void summarise_meta_adapters(const evaluation_input& x, const local_problem& on,
                             evaluated& to) {
  summarise_prepared(x, on, after_a_step, to);
}

} // namespace troupe::models
