#include "models/data/deal_shared.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/data/combinations.hpp"
#include "models/data/kinds.hpp"

namespace troupe::models {

namespace {

/// Of all clients together, as they lie in memory: 4 GiB.
constexpr std::size_t rows_max = std::size_t{1} << 30;

client_counts counts_of(const partition_options& opts) {
  return {.all = opts.clients, .held_out = opts.held_out};
}

random_stream stream_of(const partition_options& opts, std::string_view name) {
  return random_stream{derive_seed(opts.seed, name)};
}

/// As many as a client has where nobody says it.
std::size_t rows_of(std::uint32_t said, const dataset& data,
                    client_counts clients) {
  return said > 0 ? said : data.train.size / clients.training();
}

/// Draws so many, or all that there are. The order of `from` changes.
void draw_rows(row_list& from, std::size_t count, random_stream& random,
               row_list& to) {
  count = std::min(count, from.size());
  for (std::size_t i = 0; i < count; ++i)
    std::swap(from[i], from[i + random.below(from.size() - i)]);
  give(to, from, 0, count);
}

std::size_t rows_dealt(const row_lists& parts) {
  std::size_t sum = 0;
  for (const auto& rows : parts)
    sum += rows.size();
  return sum;
}

result<void> check_memory(std::size_t rows) {
  if (rows > rows_max)
    return refuse_partition("clients would hold " + std::to_string(rows)
                            + " rows together, which is above 2^30; fewer "
                              "rows of each, or fewer clients, would do");
  return {};
}

/// Deals the test rows of kinds that some client trains on.
row_lists deal_test(const dataset& data, const partition& parts,
                    client_counts clients, random_stream random) {
  auto held = kind_table(data, parts);
  held.resize(clients.training()); // The others have no training rows.
  auto rows = rows_by_kind(data, data.test);
  for (std::size_t kind = 0; kind < rows.size(); ++kind) {
    random.shuffle(rows[kind]);
    if (std::ranges::all_of(held, [&](const auto& x) { return x[kind] == 0; }))
      rows[kind].clear();
  }
  auto out = deal_in_proportion(held, rows, random);
  out.resize(clients.all);
  return out;
}

/// How many rows of its i-th kind a client of `kinds` kinds gets.
std::size_t due_of(const combinations_partition& how, std::size_t rows,
                   std::size_t i, std::size_t kinds) {
  if (how.all_rows)
    return std::numeric_limits<std::size_t>::max();
  if (how.rows_per_kind > 0)
    return how.rows_per_kind;
  return (i + 1) * rows / kinds - i * rows / kinds;
}

std::vector<std::uint32_t> owners_of(const dataset& data,
                                     const std::vector<kind_set>& kinds,
                                     std::size_t anchors) {
  constexpr auto nobody = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> owners(data.test.size, nobody);
  const auto rows = rows_by_kind(data, data.test);
  for (std::size_t anchor = 0; anchor < anchors; ++anchor)
    for (const auto kind : kinds[anchor])
      for (const auto row : rows[kind])
        owners[row] = static_cast<std::uint32_t>(anchor);
  return owners;
}

result<row_lists> share_rows(const dataset& data, const partition_options& opts,
                             const combinations_partition& how,
                             const std::vector<kind_set>& kinds) {
  const auto clients = counts_of(opts);
  const auto rows = rows_of(how.rows, data, clients);
  auto by_kind = rows_by_kind(data, data.train);
  auto random = stream_of(opts, "shared rows");
  row_lists out(clients.all);
  std::size_t sum = 0;
  for (std::size_t k = 0; k < clients.training(); ++k) {
    const auto& mine = kinds[k];
    if (!how.all_rows && how.rows_per_kind == 0 && rows < mine.size())
      return refuse_partition(
        "a client would have " + std::to_string(rows) + " rows, and client "
        + std::to_string(k + 1) + " has " + std::to_string(mine.size())
        + " kinds; rows_per_client from that, or fewer clients, would do");
    for (std::size_t i = 0; i < mine.size(); ++i)
      draw_rows(by_kind[mine[i]], due_of(how, rows, i, mine.size()), random,
                out[k]);
    sum += out[k].size();
    if (auto ok = check_memory(sum); !ok)
      return tl::unexpected{ok.error()};
  }
  return out;
}

result<partition> deal_combinations(const dataset& data,
                                    const partition_options& opts,
                                    const combinations_partition& how) {
  const auto clients = counts_of(opts);
  kind_set present;
  const auto by_kind = rows_by_kind(data, data.train);
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind)
    if (!by_kind[kind].empty())
      present.push_back(static_cast<std::uint32_t>(kind));
  const auto kinds =
    draw_combinations(how, present, name_of_kinds(data), clients, opts.seed);
  if (!kinds)
    return tl::unexpected{kinds.error()};
  auto train = share_rows(data, opts, how, *kinds);
  if (!train)
    return tl::unexpected{train.error()};
  partition x{
    .train = std::move(*train), .test = {}, .held_out = opts.held_out};
  x.test = deal_test(data, x, clients, stream_of(opts, "partition test"));
  const auto test = rows_by_kind(data, data.test);
  auto sum = rows_dealt(x.train);
  for (auto k = clients.training(); k < clients.all; ++k) {
    for (const auto kind : (*kinds)[k])
      give(x.test[k], test[kind], 0, test[kind].size());
    sum += x.test[k].size();
    if (auto ok = check_memory(sum); !ok)
      return tl::unexpected{ok.error()};
  }
  if (how.anchors > 0)
    x.test_owners = owners_of(data, *kinds, how.anchors);
  return x;
}

/// Draws `count` rows, of each kind as its part says.
row_list draw_mixture(row_lists& by_kind, const std::vector<double>& parts,
                      std::size_t count, random_stream& random) {
  row_list out;
  double sum = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sum += parts[i];
    const auto goal =
      std::round(std::min(sum, 1.0) * static_cast<double>(count));
    const auto end = i + 1 == parts.size()
                       ? count
                       : std::max(static_cast<std::size_t>(goal), begin);
    draw_rows(by_kind[i], end - begin, random, out);
    begin = end;
  }
  return out;
}

result<partition> deal_mixtures(const dataset& data,
                                const partition_options& opts,
                                const mixtures_partition& how) {
  const auto clients = counts_of(opts);
  if (!(how.alpha > 0) || !std::isfinite(how.alpha))
    return refuse_partition("alpha is " + std::to_string(how.alpha)
                            + "; a number above 0 would do");
  if (auto ok = check_anchors(how.anchors, clients); !ok)
    return tl::unexpected{ok.error()};
  const auto rows = rows_of(how.rows, data, clients);
  if (auto ok = check_memory(std::min(rows, data.train.size) * clients.all);
      !ok)
    return tl::unexpected{ok.error()};
  auto train = rows_by_kind(data, data.train);
  auto test = rows_by_kind(data, data.test);
  // A part of a kind that nobody has would be of no rows.
  for (std::size_t kind = train.size(); kind-- > 0;)
    if (train[kind].empty()) {
      train.erase(train.begin() + static_cast<std::ptrdiff_t>(kind));
      test.erase(test.begin() + static_cast<std::ptrdiff_t>(kind));
    }
  auto random = stream_of(opts, "mixtures");
  partition x{
    .train = row_lists(clients.all), .test = {}, .held_out = opts.held_out};
  row_lists strangers;
  for (std::size_t k = 0; k < clients.all; ++k) {
    const auto parts = random.dirichlet(train.size(), how.alpha);
    if (k < clients.training())
      x.train[k] = draw_mixture(train, parts, rows, random);
    else
      strangers.push_back(
        draw_mixture(test, parts, std::max<std::size_t>(rows / 5, 1), random));
  }
  x.test = deal_test(data, x, clients, stream_of(opts, "partition test"));
  std::ranges::move(
    strangers, x.test.end() - static_cast<std::ptrdiff_t>(clients.held_out));
  return x;
}

/// Which client has which row.
struct holding {
  std::uint32_t row;
  std::uint32_t client;

  friend auto operator<=>(const holding&, const holding&) = default;
};

} // namespace

bool shares_rows(const partitioner& how) noexcept {
  return std::holds_alternative<combinations_partition>(how)
         || std::holds_alternative<mixtures_partition>(how);
}

result<partition> deal_shared(const dataset& data,
                              const partition_options& opts) {
  if (const auto* how = std::get_if<combinations_partition>(&opts.how))
    return deal_combinations(data, opts, *how);
  return deal_mixtures(data, opts, std::get<mixtures_partition>(opts.how));
}

row_lists set_aside_shared(partition& from, const partition_options& opts,
                           random_stream random) {
  row_lists aside(from.train.size());
  if (opts.validation == 0)
    return aside;
  std::vector<holding> all;
  row_list rows;
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < from.train.size(); ++k) {
    left.push_back(from.train[k].size());
    for (const auto row : from.train[k])
      all.push_back({.row = row, .client = static_cast<std::uint32_t>(k)});
  }
  std::sort(all.begin(), all.end());
  for (const auto& x : all)
    if (rows.empty() || rows.back() != x.row)
      rows.push_back(x.row);
  const auto due = static_cast<std::size_t>(
    opts.validation * static_cast<double>(rows.size()) + random.uniform());
  random.shuffle(rows);
  std::size_t taken = 0;
  for (const auto row : rows) {
    if (taken == due)
      break;
    const auto first = std::ranges::lower_bound(all, row, {}, &holding::row);
    const auto last = std::ranges::upper_bound(all, row, {}, &holding::row);
    if (std::any_of(first, last, [&](const holding& x) {
          return left[x.client] <= opts.examples_min;
        }))
      continue;
    std::for_each(first, last, [&](const holding& x) {
      --left[x.client];
      aside[x.client].push_back(row);
    });
    ++taken;
  }
  for (std::size_t k = 0; k < aside.size(); ++k) {
    std::sort(aside[k].begin(), aside[k].end());
    std::erase_if(from.train[k], [&](std::uint32_t row) {
      return std::ranges::binary_search(aside[k], row);
    });
  }
  return aside;
}

} // namespace troupe::models
