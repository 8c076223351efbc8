// PCL, the collaboration graph of Wagner et al. (2024): each client has a line
// of its own, and everybody sees all of them. A visit weighs them by how they
// do on the client's own validation rows, the softmax of minus perplexities,
// begins with their mean, trains that and puts it into the client's line.
// Nobody else offers there.

#include <string>
#include <vector>

#include "core/text.hpp"
#include "models/adapters/factor_halves.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/common_adapter.hpp"
#include "models/methods/lines.hpp"
#include "models/methods/merged_scores.hpp"
#include "models/own_validation.hpp"

namespace troupe::models {

namespace {

using row_list = std::vector<std::uint32_t>;

/// What the client set aside, as far as it looks at it.
row_list watched_rows(const visit& v) {
  return spread_rows(v.validation_rows(),
                     static_cast<std::size_t>(v.option("watched")));
}

/// The same of who trains, who must have some.
result<row_list> rows_to_train_by(const visit& v) {
  auto rows = watched_rows(v);
  if (rows.empty())
    return lacks_own_validation(v.on.method,
                                client_named(v.in.visit.client.value - 1, {}));
  return rows;
}

using line_list = std::vector<base_block>;

result<block_id> line_of(const visit& v) {
  const auto lines = v.on.blocks.family(line_family);
  const auto client = v.in.visit.client.value;
  if (client >= 1 && client <= lines.size())
    return lines[client - 1];
  return fail(errc::invalid_config,
              "method " + in_quotes(v.on.method.name) + " has "
                + std::to_string(lines.size())
                + " lines, one for each client, and this is client "
                + std::to_string(client));
}

result<line_list> all_lines(const visit& v) {
  return begin_common(v).and_then(
    [&] { return v.all_of(line_family, v.on.adapters->size()); });
}

/// What each line counts with for who sees these rows; without any all count
/// the same.
task<std::vector<double>> weigh_lines(visit& v, const line_list& lines,
                                      const row_list& rows) {
  if (rows.empty())
    co_return std::vector<double>(lines.size(),
                                  1 / static_cast<double>(lines.size()));
  std::vector<double> found;
  for (const auto& x : lines) {
    const auto values = brought_here(x.values);
    co_await compose(v.on, planned_adapters(1, {*v.on.adapters, values}));
    const auto scored = co_await v.score(split::train, rows);
    found.push_back(finite_perplexity(scored));
  }
  co_return softmax_of_less(found);
}

result<factors> mean_of(const visit& v, const line_list& lines,
                        std::span<const double> weights) {
  factors mean(v.on.adapters->size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (auto ok = v.move(mean, mean, weights[i], lines[i].values); !ok)
      return tl::unexpected{ok.error()};
  return mean;
}

task<choice> choose_line(visit& v) {
  const auto own = co_await line_of(v);
  co_return choice{.chosen = {own}, .disclosures = {}};
}

task<done> train_line(visit& v) {
  const auto own = co_await line_of(v);
  const auto lines = co_await all_lines(v);
  const auto rows = co_await rows_to_train_by(v);
  const auto weights = co_await weigh_lines(v, lines, rows);
  auto adapter = co_await mean_of(v, lines, weights);
  auto by = optimiser_of_common(v);
  batch_sequence from{v.on.rows, v.on.how, v.in.seed};
  double total = 0;
  for (std::uint64_t i = 0; i < v.plan.steps; ++i) {
    const planned_adapter x{*v.on.adapters, adapter};
    total +=
      co_await differentiate(v, planned_adapters(1, x), from.next_batch());
    auto slopes = co_await pull_back(v.on, x);
    co_await v.update(by.next(adapter, slopes));
  }
  v.out.loss = total / static_cast<double>(v.plan.steps);
  by.keep(v.out.next);
  for (const auto& x : lines)
    if (x.layout->id == own)
      co_await v.offer(x, adapter);
  co_await v.keep(adapter_family, adapter);
  co_return {};
}

/// As the next visit would begin. Nobody has rows to look at.
task<done> line_merged_home(visit& v) {
  const auto lines = co_await all_lines(v);
  const auto rows = watched_rows(v);
  const auto weights = co_await weigh_lines(v, lines, rows);
  const auto mean = co_await mean_of(v, lines, weights);
  co_await compose(v.on, planned_adapters(1, {*v.on.adapters, mean}));
  co_return {};
}

/// Who has trained has what it left.
task<done> line_home(visit& v) {
  const auto* state = v.in.state.get();
  if (state == nullptr || !state->blocks.contains(std::string{adapter_family}))
    co_return co_await line_merged_home(v);
  co_await begin_common(v);
  const factors none(v.on.adapters->size());
  const auto left = co_await kept_or(state, adapter_family, none);
  co_await compose(v.on, planned_adapters(1, {*v.on.adapters, left}));
  co_return {};
}

void summarise_line(const evaluation_input& x, const local_problem& on,
                    evaluated& to) {
  score_merged(x, on, line_merged_home, to);
}

} // namespace

const local_method own_line{.choose = choose_line};
const local_method line_sgd{
  .train = train_line, .home = line_home, .summary = summarise_line};

} // namespace troupe::models
