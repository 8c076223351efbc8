#include "models/data/deal.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <variant>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

row_list all_rows(std::size_t n) {
  row_list rows(n);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

/// Cuts `rows` into parts as large as `share` says, in order, and gives part k
/// to list k. Shares are not negative and add up to 1, but for rounding.
void cut_by_share(row_lists& to, const row_list& rows,
                  std::span<const double> share) {
  double sum = 0;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < to.size(); ++k) {
    sum += share[k];
    const auto goal = std::round(sum * static_cast<double>(rows.size()));
    const auto end =
      k + 1 == to.size()
        ? rows.size()
        : std::clamp(static_cast<std::size_t>(goal), begin, rows.size());
    give(to[k], rows, begin, end);
    begin = end;
  }
}

/// Whoever is short of rows takes them, one by one, from whoever holds most
/// (the first of equals). @pre there are enough rows
void level_up(deal& with, row_lists& parts) {
  const auto shorter = [](const row_list& a, const row_list& b) {
    return a.size() < b.size();
  };
  for (auto& part : parts)
    while (part.size() < with.examples_min) {
      auto& most = *std::max_element(parts.begin(), parts.end(), shorter);
      TROUPE_ASSERT(most.size() > with.examples_min);
      std::swap(most[with.random.below(most.size())], most.back());
      part.push_back(most.back());
      most.pop_back();
    }
}

/// Everybody gets `examples_min` rows; the weights say who gets the others.
row_lists deal_sizes(deal& with, std::vector<double> weight) {
  const auto total = std::accumulate(weight.begin(), weight.end(), 0.0);
  for (auto& x : weight)
    x /= total;
  auto rows = all_rows(with.rows());
  with.random.shuffle(rows);
  row_lists parts(with.clients);
  const auto fixed = with.clients * with.examples_min;
  for (std::size_t k = 0; k < with.clients; ++k)
    give(parts[k], rows, k * with.examples_min, (k + 1) * with.examples_min);
  row_list others;
  give(others, rows, fixed, rows.size());
  cut_by_share(parts, others, weight);
  return parts;
}

result<row_lists> deal_by(const iid_partition&, deal& with) {
  return deal_sizes(with, std::vector<double>(with.clients, 1));
}

result<row_lists> deal_by(const dirichlet_partition& how, deal& with) {
  if (!(how.alpha > 0) || !std::isfinite(how.alpha))
    return refuse_partition("alpha is " + std::to_string(how.alpha)
                            + "; a number above 0 would do");
  row_lists parts(with.clients);
  for (const auto& rows :
       rows_by_label(with.data.train, with.data.classes, with.random))
    cut_by_share(parts, rows, with.random.dirichlet(with.clients, how.alpha));
  level_up(with, parts);
  return parts;
}

/// The classes of each client. Classes come from one shuffled deck after
/// another; a class that the client holds already waits for the next one.
std::vector<std::vector<std::size_t>>
draw_labels(deal& with, const std::vector<std::size_t>& present,
            std::size_t count) {
  std::vector<std::vector<std::size_t>> held(with.clients);
  std::vector<std::size_t> deck;
  for (auto& mine : held)
    while (mine.size() < count) {
      const auto fits = [&](std::size_t label) {
        return std::find(mine.begin(), mine.end(), label) == mine.end();
      };
      auto next = std::find_if(deck.begin(), deck.end(), fits);
      if (next == deck.end()) {
        auto fresh = present;
        with.random.shuffle(fresh);
        next = deck.insert(deck.end(), fresh.begin(), fresh.end());
        next = std::find_if(next, deck.end(), fits);
      }
      mine.push_back(*next);
      deck.erase(next);
    }
  return held;
}

result<row_lists> deal_by(const labels_partition& how, deal& with) {
  const auto by_label =
    rows_by_label(with.data.train, with.data.classes, with.random);
  std::vector<std::size_t> present;
  for (std::size_t label = 0; label < by_label.size(); ++label)
    if (!by_label[label].empty())
      present.push_back(label);
  if (how.count < 1 || how.count > present.size())
    return refuse_partition("labels_per_client is " + std::to_string(how.count)
                            + "; 1 to " + std::to_string(present.size())
                            + " would do");
  if (with.clients * how.count < present.size())
    return refuse_partition(
      std::to_string(with.clients) + " clients of " + std::to_string(how.count)
      + " labels leave some of the " + std::to_string(present.size())
      + " labels to nobody; more clients would do");
  row_lists holders(by_label.size());
  const auto held = draw_labels(with, present, how.count);
  for (std::size_t k = 0; k < held.size(); ++k)
    for (const auto label : held[k])
      holders[label].push_back(static_cast<std::uint32_t>(k));
  row_lists parts(with.clients);
  for (std::size_t label = 0; label < by_label.size(); ++label) {
    const auto& rows = by_label[label];
    const auto sharers = holders[label].size();
    for (std::size_t i = 0; i < sharers; ++i)
      give(parts[holders[label][i]], rows, i * rows.size() / sharers,
           (i + 1) * rows.size() / sharers);
  }
  return parts;
}

result<row_lists> deal_by(const shards_partition& how, deal& with) {
  const auto shards = with.clients * how.count;
  if (how.count < 1 || shards > with.rows())
    return refuse_partition(
      "shards per client is " + std::to_string(how.count) + "; 1 to "
      + std::to_string(with.rows() / with.clients) + " would do");
  row_list sorted;
  for (const auto& rows :
       rows_by_label(with.data.train, with.data.classes, with.random))
    give(sorted, rows, 0, rows.size());
  auto drawn = all_rows(shards);
  with.random.shuffle(drawn);
  row_lists parts(with.clients);
  for (std::size_t i = 0; i < shards; ++i)
    give(parts[i / how.count], sorted, drawn[i] * sorted.size() / shards,
         (drawn[i] + std::size_t{1}) * sorted.size() / shards);
  return parts;
}

result<row_lists> deal_by(const disjoint_partition& how, deal& with) {
  const auto by_label =
    rows_by_label(with.data.train, with.data.classes, with.random);
  const auto most = std::min(by_label.size(), with.clients);
  if (how.clusters < 1 || how.clusters > most)
    return refuse_partition("'clusters' is " + std::to_string(how.clusters)
                            + "; 1 to " + std::to_string(most)
                            + ", each with a label and a client, would do");
  row_lists parts(with.clients);
  for (std::size_t c = 0; c < how.clusters; ++c) {
    row_list rows;
    for (auto label = c; label < by_label.size(); label += how.clusters)
      give(rows, by_label[label], 0, by_label[label].size());
    with.random.shuffle(rows);
    const auto members = (with.clients - c - 1) / how.clusters + 1;
    for (std::size_t i = 0; i < members; ++i)
      give(parts[c + i * how.clusters], rows, i * rows.size() / members,
           (i + 1) * rows.size() / members);
  }
  return parts;
}

result<row_lists> deal_by(const lognormal_partition& how, deal& with) {
  if (!(how.sigma >= 0) || how.sigma > 10)
    return refuse_partition("sigma is " + std::to_string(how.sigma)
                            + "; 0 to 10 would do");
  std::vector<double> weight(with.clients);
  for (auto& x : weight)
    x = std::exp(how.sigma * with.random.normal());
  return deal_sizes(with, std::move(weight));
}

result<row_lists> deal_by(const power_partition& how, deal& with) {
  if (!(how.exponent >= 0) || how.exponent > 10)
    return refuse_partition("exponent is " + std::to_string(how.exponent)
                            + "; 0 to 10 would do");
  std::vector<double> weight(with.clients);
  for (std::size_t k = 0; k < weight.size(); ++k)
    weight[k] = std::pow(static_cast<double>(k + 1), -how.exponent);
  with.random.shuffle(weight);
  return deal_sizes(with, std::move(weight));
}

result<row_lists> deal_by(const column_partition&, deal& with) {
  std::map<std::int64_t, row_list> owners;
  for (std::size_t i = 0; i < with.rows(); ++i)
    owners[with.data.partition_column[i]].push_back(
      static_cast<std::uint32_t>(i));
  row_lists parts;
  for (auto& [value, rows] : owners)
    parts.push_back(std::move(rows));
  return parts;
}

result<row_lists> deal_by(const natural_partition&, deal& with) {
  return with.data.natural->train;
}

// Of the last two `deal_shared` is asked.
result<row_lists> deal_by(const combinations_partition&, deal&) {
  TROUPE_ASSERT(false);
  return row_lists{};
}

result<row_lists> deal_by(const mixtures_partition&, deal&) {
  TROUPE_ASSERT(false);
  return row_lists{};
}

} // namespace

result<row_lists> deal_rows(const partitioner& how, deal& with) {
  return std::visit([&](const auto& x) { return deal_by(x, with); }, how);
}

row_lists rows_by_label(const example_set& from, std::int64_t classes,
                        random_stream& random) {
  row_lists rows(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < from.size; ++i)
    rows[static_cast<std::size_t>(from.labels[i])].push_back(
      static_cast<std::uint32_t>(i));
  for (auto& list : rows)
    random.shuffle(list);
  return rows;
}

row_lists deal_in_proportion(const label_counts& held, const row_lists& by_kind,
                             random_stream& random) {
  row_lists parts(held.size());
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
    const auto& rows = by_kind[kind];
    std::uint64_t total = 0;
    for (const auto& mine : held)
      total += mine[kind];
    const bool nobody = total == 0;
    total = nobody ? held.size() : total;
    // A common random start rounds every quota up or down, right on average,
    // and the sum is exact.
    const auto start = random.below(total);
    std::uint64_t sum = 0;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      sum += nobody ? 1 : held[k][kind];
      const auto end =
        static_cast<std::size_t>((sum * rows.size() + start) / total);
      give(parts[k], rows, begin, end);
      begin = end;
    }
  }
  return parts;
}

void give(row_list& to, const row_list& from, std::size_t begin,
          std::size_t end) {
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
            from.begin() + static_cast<std::ptrdiff_t>(end));
}

tl::unexpected<error> refuse_partition(const std::string& what) {
  return fail(errc::invalid_config, "partition: " + what);
}

} // namespace troupe::models
