// What a client gets of a gate and of the experts behind it, who need not have
// trained: its rows, without labels, ask for K experts, and each row is
// answered by the one of these that the gate gives most, or by all of them
// together.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "models/methods/gated.hpp"
#include "models/methods/router.hpp"

namespace troupe::models {

namespace {

/// Owns a row whose kind no anchor has.
constexpr auto nobody = std::numeric_limits<std::uint32_t>::max();

using instance_list = std::vector<std::uint32_t>;

/// Whom a client asks: by the rows that it trains on if it does, and else by
/// those that are to be answered.
task<instance_list> asked_at_home(visit& v, split part, row_span rows) {
  const bool trains =
    !v.on.rows.empty() && !is_held_out(v.on, v.in.visit.client);
  return trains ? asked_for(v, split::train, v.on.rows)
                : asked_for(v, part, rows);
}

/// Each row by the one of these whose logit is largest.
task<scores> score_one_each(visit& v, split part, row_span rows,
                            instance_list asked) {
  const auto routes = co_await routes_of(v, part, rows, asked);
  std::ranges::sort(asked);
  scores sum;
  for (const auto instance : asked) {
    std::vector<std::uint32_t> own;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (routes[i] == instance)
        own.push_back(rows[i]);
    if (own.empty())
      continue;
    const auto expert = co_await expert_of(v, instance);
    const model_at at{.parameters = expert.model.values,
                      .buffers = expert.buffers};
    row_span left{own};
    while (!left.empty()) {
      const auto some = left.first(std::min(left.size(), rows_at_a_time));
      left = left.subspan(some.size());
      sum += co_await v.score(part, some, at);
    }
  }
  co_return sum;
}

/// What some experts say of rows together.
struct mixed_rows {
  std::vector<float> said;
  /// Where chances are mixed, those of what is right: their sum over all
  /// classes is less than one where weights are as printed.
  std::vector<double> right;
};

/// By the weights that they are trained with.
task<mixed_rows> said_together(visit& v, split part, row_span rows,
                               const instance_list& asked) {
  const auto& outputs = *v.on.model.outputs();
  const auto size = outputs.size();
  const bool as_chances =
    v.option("mix") != 0 && outputs.kind() == output_kind::logits;
  const auto shape = co_await shape_of_gate(v);
  const auto logits = co_await gate_logits(v, part, rows);
  const auto weights = weights_of(v, shape, logits, asked);
  mixed_rows together;
  together.said.resize(rows.size() * size);
  if (as_chances)
    together.right.resize(rows.size());
  std::vector<float> said(together.said.size());
  for (std::size_t e = 0; e < asked.size(); ++e) {
    const auto expert = co_await expert_of(v, asked[e]);
    const model_at at{.parameters = expert.model.values,
                      .buffers = expert.buffers};
    co_await v.say(part, rows, said, at);
    const auto losses = as_chances ? outputs.judge(part, rows, said, {}).losses
                                   : std::vector<double>{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto weight = weights[i * asked.size() + e];
      const auto to = line(together.said, i, size);
      if (as_chances) {
        add_chances(line(said, i, size), size, weight, to);
        together.right[i] += weight * std::exp(-losses[i]);
      } else {
        add_said(line(said, i, size), weight, to);
      }
    }
  }
  if (as_chances)
    to_logits(together.said);
  co_return together;
}

/// By the loss that they learn from.
task<scores> score_mixed(visit& v, split part, row_span rows,
                         instance_list asked) {
  co_await check_says(v);
  std::ranges::sort(asked);
  scores sum;
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_at_a_time));
    rows = rows.subspan(some.size());
    const auto x = co_await said_together(v, part, some, asked);
    const auto judged = v.on.model.outputs()->judge(part, some, x.said, {});
    for (std::size_t i = 0; i < some.size(); ++i)
      sum.loss +=
        x.right.empty() ? judged.losses[i] : loss_of_chance(x.right[i]);
    sum.correct += judged.correct;
    sum.count += some.size();
  }
  co_return sum;
}

/// How a client's test rows are answered.
struct client_routes {
  instance_list asked;
  instance_list routes; ///< Of each row, among these.
  instance_list free;   ///< Of each row, among all experts.
};

task<client_routes> routes_at_home(visit& v, row_span rows) {
  client_routes x;
  x.asked = co_await asked_at_home(v, split::test, rows);
  x.routes = co_await routes_of(v, split::test, rows, x.asked);
  instance_list all(v.on.blocks.family(model_family).size());
  std::iota(all.begin(), all.end(), 0u);
  x.free = co_await routes_of(v, split::test, rows, all);
  co_return x;
}

task<scores> score_routed(visit& v, row_span rows) {
  auto asked = co_await asked_at_home(v, split::test, rows);
  co_return co_await score_one_each(v, split::test, rows, std::move(asked));
}

/// The chances that the gate gives each expert, as a mean over rows.
task<std::vector<double>> mean_gate(visit& v, row_span rows) {
  const auto shape = co_await shape_of_gate(v);
  const auto all = static_cast<double>(rows.size());
  std::vector<double> chances(shape.experts), sum(shape.experts);
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_at_a_time));
    rows = rows.subspan(some.size());
    const auto logits = co_await gate_logits(v, split::test, some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      kernels::softmax_of(line(logits, i, shape.experts), chances);
      for (std::size_t m = 0; m < shape.experts; ++m)
        sum[m] += chances[m] / all;
    }
  }
  co_return sum;
}

std::vector<std::uint32_t> all_test_rows(const partition& clients) {
  std::set<std::uint32_t> rows;
  for (const auto& own : clients.test)
    rows.insert(own.begin(), own.end());
  return {rows.begin(), rows.end()};
}

/// Who is held out, or all that were scored if nobody is.
std::vector<client_id> watched_clients(const local_problem& on,
                                       const evaluated& to) {
  std::vector<client_id> all, out;
  for (const auto& [client, own] : to.per_client) {
    if (client.value == 0 || client.value > on.clients->test.size())
      continue;
    all.push_back(client);
    if (is_held_out(on, client))
      out.push_back(client);
  }
  return out.empty() ? all : out;
}

/// A part of some rows.
struct share_of_rows {
  std::uint64_t right = 0;
  std::uint64_t of = 0;

  void put(const char* name, evaluated& to) const {
    if (of > 0)
      to.method_results[name] =
        static_cast<double>(right) / static_cast<double>(of);
  }
};

/// Figures over the clients that are watched.
class routing_report {
public:
  routing_report(const evaluation_input& x, const local_problem& on,
                 evaluated& to)
    : x_(x),
      on_(on),
      to_(to) {
    // nop
  }

  void add_entropy() {
    const auto rows = all_test_rows(*on_.clients);
    const auto experts = on_.blocks.family(model_family).size();
    if (rows.empty() || experts < 2)
      return;
    const auto mean =
      look(at_home({}, x_), on_, [&](visit& v) { return mean_gate(v, rows); });
    if (mean)
      to_.method_results["gate_entropy"] =
        entropy(*mean) / std::log(static_cast<double>(experts));
  }

  void add_routes() {
    std::set<std::uint32_t> asked, used;
    share_of_rows owned, owned_chosen, classified;
    const auto& owners = on_.clients->test_owners;
    const bool is_named = owners_have_experts();
    for (const auto client : watched_clients(on_, to_)) {
      const auto& rows = on_.clients->test[client.value - 1];
      const auto found =
        look(at_home(client, x_), with_rows_of(client, on_),
             [&](visit& v) { return routes_at_home(v, rows); });
      if (!found) {
        ++unknown_;
        continue;
      }
      asked.insert(found->asked.begin(), found->asked.end());
      used.insert(found->routes.begin(), found->routes.end());
      if (owners.empty())
        continue;
      for (std::size_t i = 0; is_named && i < rows.size(); ++i) {
        const auto owner = owners[rows[i]];
        ++owned.of;
        owned.right += found->free[i] == owner;
        if (std::ranges::find(found->asked, owner) == found->asked.end())
          continue;
        ++owned_chosen.of;
        owned_chosen.right += found->routes[i] == owner;
      }
      add_right(client, classified);
    }
    if (unknown_ > 0)
      to_.method_results["clients_without_routes"] =
        static_cast<double>(unknown_);
    if (asked.empty())
      return;
    to_.method_results["experts_asked"] = static_cast<double>(asked.size());
    to_.method_results["experts_used"] = static_cast<double>(used.size());
    owned.put("owner_accuracy", to_);
    owned_chosen.put("owner_accuracy_chosen", to_);
    classified.put("expert_accuracy", to_);
  }

private:
  /// Of more owners than experts some could never be named.
  bool owners_have_experts() const {
    const auto experts = on_.blocks.family(model_family).size();
    return std::ranges::all_of(
      on_.clients->test_owners,
      [&](std::uint32_t owner) { return owner < experts || owner == nobody; });
  }

  /// How often the one expert of each row is right.
  void add_right(client_id client, share_of_rows& to) {
    const auto& rows = on_.clients->test[client.value - 1];
    const bool mixed = option_of(on_.how, "answer") != 0;
    result<scores> own = to_.per_client.at(client);
    if (mixed)
      own = look(at_home(client, x_), with_rows_of(client, on_),
                 [&](visit& v) { return score_routed(v, rows); });
    if (!own)
      return;
    to.right += own->correct;
    to.of += own->count;
  }

  const evaluation_input& x_;
  const local_problem& on_;
  evaluated& to_;
  std::size_t unknown_ = 0; ///< Clients whose routes could not be found.
};

} // namespace

task<scores> score_gated(visit& v, split part, row_span rows) {
  auto asked = co_await asked_at_home(v, part, rows);
  if (v.option("answer") != 0)
    co_return co_await score_mixed(v, part, rows, std::move(asked));
  co_return co_await score_one_each(v, part, rows, std::move(asked));
}

void summarise_gated(const evaluation_input& x, const local_problem& on,
                     evaluated& to) {
  if (on.common == nullptr || on.clients == nullptr || to.per_client.empty())
    return;
  routing_report report{x, on, to};
  report.add_entropy();
  report.add_routes();
}

} // namespace troupe::models
