#include "policies/selection.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "policies/size_tree.hpp"

namespace troupe::policies {

namespace {

using pointers = std::vector<const candidate*>;

/// What one draw works on, in the order of client ids.
struct draw {
  random_stream random;
  std::uint64_t window; // Counts from 0 here.
  std::span<const candidate> from;
  std::size_t count;
  size_tree* sizes;
};

pointers all_of(const draw& x) {
  pointers all;
  for (const auto& c : x.from)
    all.push_back(&c);
  return all;
}

pointers first(pointers xs, std::size_t count) {
  xs.resize(std::min(count, xs.size()));
  return xs;
}

/// Draws without replacement, each time in proportion to `weight`. Sorting by
/// -ln(u) / weight has the law of drawing one after the other (Efraimidis and
/// Spirakis 2006) and takes one random number per candidate, whatever the
/// weights.
pointers draw_weighted(random_stream& random, const pointers& from,
                       std::size_t count, auto weight) {
  std::vector<std::pair<double, const candidate*>> keyed;
  keyed.reserve(from.size());
  for (const auto* x : from) {
    const auto key = -std::log(1 - random.uniform());
    const double w = weight(*x);
    keyed.emplace_back(
      w > 0 ? key / w : std::numeric_limits<double>::infinity(), x);
  }
  std::stable_sort(
    keyed.begin(), keyed.end(),
    [](const auto& a, const auto& b) { return a.first < b.first; });
  pointers result;
  for (const auto& [key, x] : keyed)
    result.push_back(x);
  return first(std::move(result), count);
}

double size_of(const candidate& x) noexcept {
  return static_cast<double>(x.examples);
}

pointers draw_uniform(random_stream& random, pointers from, std::size_t count) {
  const auto n = std::min(count, from.size());
  for (std::size_t i = 0; i < n; ++i)
    std::swap(from[i], from[i + random.below(from.size() - i)]);
  return first(std::move(from), n);
}

/// A score that a diverged visit left is no reason to choose or to fear a
/// client.
double finite_or_zero(double x) noexcept {
  return std::isfinite(x) ? x : 0;
}

// As `draw_uniform` does, without a copy of all of them: of their places only
// those are kept that have changed.
pointers select(const uniform_selection&, draw x) {
  const auto n = std::min(x.count, x.from.size());
  std::map<std::size_t, std::size_t> moved;
  const auto at = [&](std::size_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  pointers result;
  for (std::size_t i = 0; i < n; ++i) {
    const auto other = i + x.random.below(x.from.size() - i);
    result.push_back(&x.from[at(other)]);
    moved[other] = at(i);
  }
  return result;
}

pointers select(const round_robin_selection&, draw x) {
  const auto size = x.from.size();
  const auto n = std::min(x.count, size);
  pointers result;
  for (std::size_t i = 0; i < n; ++i)
    result.push_back(&x.from[(x.window * n + i) % size]);
  return result;
}

pointers select(const by_size_selection&, draw x) {
  std::optional<size_tree> own;
  auto& sizes = x.sizes ? *x.sizes : own.emplace(x.from);
  pointers result;
  for (const auto place : sizes.draw(x.random, x.count))
    result.push_back(&x.from[place]);
  return result;
}

pointers select(const power_of_choice_selection& how, draw x) {
  const std::size_t considered =
    how.considered > 0 ? how.considered : 2 * x.count;
  auto drawn =
    draw_weighted(x.random, all_of(x), std::max(considered, x.count), size_of);
  const auto rank = [](const candidate* c) {
    return std::pair{!c->scored, c->scored ? finite_or_zero(c->loss) : 0.0};
  };
  std::stable_sort(
    drawn.begin(), drawn.end(),
    [&](const auto* a, const auto* b) { return rank(a) > rank(b); });
  return first(std::move(drawn), x.count);
}

/// The value that a share of `quantile` of `xs` does not exceed.
double quantile_of(std::vector<double> xs, double quantile) {
  std::sort(xs.begin(), xs.end());
  const auto last = static_cast<double>(xs.size() - 1);
  return xs[static_cast<std::size_t>(last * std::clamp(quantile, 0.0, 1.0))];
}

pointers exploit(const oort_selection& how, random_stream& random,
                 const pointers& scored, std::size_t count) {
  if (scored.empty() || count == 0)
    return {};
  const auto raw = [](const candidate& c) {
    return std::max(0.0, finite_or_zero(c.utility));
  };
  std::vector<double> utilities;
  for (const auto* c : scored)
    utilities.push_back(raw(*c));
  const auto clip = quantile_of(utilities, how.clip_quantile);
  std::sort(utilities.begin(), utilities.end(), std::greater{});
  const auto place = std::min(count, utilities.size()) - 1;
  const auto enough =
    std::min(how.cut_off, 1.0) * std::min(clip, utilities[place]);
  pointers near_best;
  for (const auto* c : scored)
    if (raw(*c) >= enough)
      near_best.push_back(c);
  return draw_weighted(random, near_best, count, [&](const candidate& c) {
    return std::min(clip, raw(c));
  });
}

pointers select(const oort_selection& how, draw x) {
  pointers fresh;
  pointers scored;
  pointers worn; // Chosen too often: only where nobody else is left.
  for (const auto& c : x.from)
    (how.times_max > 0 && c.times_chosen >= how.times_max ? worn
     : c.scored                                           ? scored
                                                          : fresh)
      .push_back(&c);
  const auto share =
    std::max(how.exploration_min, how.exploration
                                    * std::pow(how.exploration_decay,
                                               static_cast<double>(x.window)));
  const auto usable = std::min(x.count, fresh.size() + scored.size());
  const auto wished =
    static_cast<std::size_t>(std::lround(share * static_cast<double>(usable)));
  // What one side cannot fill, the other does.
  const auto most = std::min(wished, fresh.size());
  const auto exploited = std::min(usable - most, scored.size());
  auto result = exploit(how, x.random, scored, exploited);
  const auto append = [&](pointers more) {
    result.insert(result.end(), more.begin(), more.end());
  };
  append(draw_uniform(x.random, std::move(fresh), usable - exploited));
  append(draw_uniform(x.random, std::move(worn), x.count - result.size()));
  return result;
}

pointers select(const least_chosen_selection&, draw x) {
  const auto all = x.from.size();
  auto drawn = draw_uniform(x.random, all_of(x), all);
  std::ranges::stable_sort(drawn, {}, &candidate::times_chosen);
  return first(std::move(drawn), x.count);
}

} // namespace

double statistical_utility(const visit_score& x) noexcept {
  const auto worth = static_cast<double>(x.examples) * std::abs(x.loss);
  if (x.seconds_preferred > 0 && x.seconds > x.seconds_preferred)
    return worth * std::pow(x.seconds_preferred / x.seconds, x.penalty);
  return worth;
}

std::vector<client_id> draw_window(const selection& how, std::uint64_t seed,
                                   round_number window,
                                   std::span<const candidate> candidates,
                                   std::size_t count, size_tree* sizes) {
  TROUPE_ASSERT(window.value > 0);
  TROUPE_ASSERT(!sizes || sizes->size() == candidates.size());
  const draw x{.random =
                 random_stream{derive_seed(seed, "window", window.value)},
               .window = window.value - 1,
               .from = candidates,
               .count = count,
               .sizes = sizes};
  const auto drawn =
    std::visit([&](const auto& kind) { return select(kind, x); }, how);
  std::vector<client_id> result;
  for (const auto* c : drawn)
    result.push_back(c->client);
  return result;
}

} // namespace troupe::policies
