#include "models/data/partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "core/limits.hpp"
#include "core/random.hpp"
#include "models/data/deal.hpp"
#include "models/data/deal_shared.hpp"

namespace troupe::models {

namespace {

/// How many clients there are, or why the options do not fit the data.
result<std::size_t> count_clients(const dataset& data,
                                  const partition_options& opts) {
  std::size_t given = 0; // By the data; 0 if the options say it.
  if (std::holds_alternative<natural_partition>(opts.how)) {
    if (!data.natural)
      return refuse_partition("'" + data.name
                              + "' does not say who holds what; another kind "
                                "of partition would do");
    given = data.natural->train.size();
  }
  if (std::holds_alternative<column_partition>(opts.how)) {
    if (data.partition_column.size() != data.train.size)
      return refuse_partition("'" + data.name
                              + "' has no column to partition by; naming one "
                                "would do");
    auto values = data.partition_column;
    std::sort(values.begin(), values.end());
    given = static_cast<std::size_t>(std::unique(values.begin(), values.end())
                                     - values.begin());
  }
  if (given > 0 && opts.clients > 0 && opts.clients != given)
    return refuse_partition("clients is " + std::to_string(opts.clients)
                            + ", but the data has " + std::to_string(given)
                            + "; that number would do");
  const auto clients = given > 0 ? given : opts.clients;
  if (clients < 1 || clients > limits::clients_max)
    return refuse_partition("clients is " + std::to_string(clients) + "; 1 to "
                            + std::to_string(limits::clients_max)
                            + " would do");
  return clients;
}

result<void> check(const dataset& data, const partition_options& opts,
                   std::size_t clients) {
  constexpr std::size_t rows_max = std::numeric_limits<std::uint32_t>::max();
  if (data.train.size > rows_max || data.test.size > rows_max)
    return refuse_partition("'" + data.name + "' has more than 2^32 examples");
  // Who shares rows may hold any of them.
  const auto holders = shares_rows(opts.how) ? std::size_t{1} : clients;
  if (opts.examples_min < 1 || opts.examples_min > data.train.size / holders)
    return refuse_partition(
      std::to_string(opts.examples_min) + " or more for each of "
      + std::to_string(clients) + " clients cannot be had from "
      + std::to_string(data.train.size)
      + " training examples; fewer clients, or an examples_min from 1, "
        "would do");
  if (opts.examples_max > 0 && opts.examples_max < opts.examples_min)
    return refuse_partition("examples_max is "
                            + std::to_string(opts.examples_max)
                            + "; 0 for all, or from "
                            + std::to_string(opts.examples_min) + ", would do");
  if (!(opts.validation >= 0 && opts.validation < 1))
    return refuse_partition("validation is " + std::to_string(opts.validation)
                            + "; from 0 to below 1 would do");
  if (!(opts.train_share > 0 && opts.train_share <= 1))
    return refuse_partition("train_share is " + std::to_string(opts.train_share)
                            + "; above 0, to 1, would do");
  if (opts.held_out >= clients)
    return refuse_partition("held_out is " + std::to_string(opts.held_out)
                            + " of " + std::to_string(clients)
                            + " clients; at least one must be left to train");
  return {};
}

/// Of the first so many clients.
result<void> check_sizes(const row_lists& parts, std::size_t holders,
                         std::size_t examples_min) {
  for (std::size_t k = 0; k < holders; ++k)
    if (parts[k].size() < examples_min)
      return refuse_partition("client " + std::to_string(k + 1) + " of "
                              + std::to_string(parts.size()) + " would hold "
                              + std::to_string(parts[k].size())
                              + " training examples; fewer clients, or an "
                                "examples_min of at most that, "
                                "would do");
  return {};
}

/// Takes the validation rows away from the clients that train.
row_lists set_aside(partition& from, const partition_options& opts,
                    random_stream random) {
  row_lists aside(from.train.size());
  // A common random start, as for test rows.
  auto quota = random.uniform();
  for (std::size_t k = 0; k + from.held_out < from.train.size(); ++k) {
    auto& rows = from.train[k];
    quota += opts.validation * static_cast<double>(rows.size());
    const auto due = static_cast<std::size_t>(quota);
    quota -= static_cast<double>(due);
    const auto left =
      rows.size() - std::min(due, rows.size() - opts.examples_min);
    random.shuffle(rows);
    give(aside[k], rows, left, rows.size());
    rows.resize(left);
  }
  return aside;
}

/// Leaves each client as many of its rows as `left` says, drawn at random.
void thin(row_lists& parts, random_stream random, auto left) {
  for (auto& rows : parts) {
    random.shuffle(rows);
    rows.resize(std::min(rows.size(), left(rows.size())));
  }
}

std::size_t share_left(double share, std::size_t of) {
  constexpr std::size_t least = 10;
  const auto kept = std::round(share * static_cast<double>(of));
  return std::max(static_cast<std::size_t>(kept), least);
}

/// By a scheme that gives each training row to one client.
result<partition> deal_owned(const dataset& data, const partition_options& opts,
                             std::size_t clients) {
  deal with{.data = data,
            .clients = clients,
            .examples_min = opts.examples_min,
            .random = random_stream{derive_seed(opts.seed, "partition")}};
  auto train = deal_rows(opts.how, with);
  if (!train)
    return tl::unexpected{train.error()};
  return partition{
    .train = std::move(*train), .test = {}, .held_out = opts.held_out};
}

row_lists test_rows(const dataset& data, const partition_options& opts,
                    const row_lists& train) {
  if (std::holds_alternative<natural_partition>(opts.how))
    return data.natural->test;
  random_stream random{derive_seed(opts.seed, "partition test")};
  const auto held = label_table(data, {.train = train, .test = {}});
  const auto by_label = rows_by_label(data.test, data.classes, random);
  return deal_in_proportion(held, by_label, random);
}

} // namespace

result<partition> make_partition(const dataset& data,
                                 const partition_options& opts) {
  const auto clients = count_clients(data, opts);
  if (!clients)
    return tl::unexpected{clients.error()};
  if (auto ok = check(data, opts, *clients); !ok)
    return tl::unexpected{ok.error()};
  const auto stream = [&](const char* name) {
    return random_stream{derive_seed(opts.seed, name)};
  };
  const bool shared = shares_rows(opts.how);
  auto made =
    shared ? deal_shared(data, opts) : deal_owned(data, opts, *clients);
  if (!made)
    return made;
  auto& x = *made;
  const auto holders = *clients - (shared ? opts.held_out : 0);
  if (auto ok = check_sizes(x.train, holders, opts.examples_min); !ok)
    return tl::unexpected{ok.error()};
  x.own_validation = shared ? set_aside_shared(x, opts, stream("validation"))
                            : set_aside(x, opts, stream("validation"));
  if (opts.examples_max > 0)
    thin(x.train, stream("examples"),
         [&](std::size_t) { return std::size_t{opts.examples_max}; });
  if (!shared)
    x.test = test_rows(data, opts, x.train);
  if (opts.train_share < 1)
    thin(x.train, stream("training share"),
         [&](std::size_t n) { return share_left(opts.train_share, n); });
  for (const auto& rows : x.own_validation)
    x.validation.insert(x.validation.end(), rows.begin(), rows.end());
  std::sort(x.validation.begin(), x.validation.end());
  x.validation.erase(std::unique(x.validation.begin(), x.validation.end()),
                     x.validation.end());
  for (auto* parts : {&x.train, &x.test, &x.own_validation})
    for (auto& rows : *parts)
      std::sort(rows.begin(), rows.end());
  return made;
}

label_counts label_table(const dataset& data, const partition& parts,
                         split part) {
  const auto& from = part == split::train ? data.train : data.test;
  label_counts table;
  for (const auto& rows : part == split::train ? parts.train : parts.test) {
    auto& counts =
      table.emplace_back(static_cast<std::size_t>(data.classes), 0);
    for (const auto row : rows)
      ++counts[static_cast<std::size_t>(from.labels[row])];
  }
  return table;
}

} // namespace troupe::models
