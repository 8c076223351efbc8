#include "policies/presence.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/random.hpp"

namespace troupe::policies {

presence::presence(options opts) : options_(std::move(opts)) {
  const auto& scenes = options_.scenario;
  for (std::uint64_t k = 1; k <= options_.clients; ++k) {
    auto& x = clients_[{k}];
    plan_availability({k}, x, {});
    plan_crash({k}, x, {});
  }
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    if (scenes[i].what == scene::kind::join)
      for (auto& [who, x] : clients_)
        x.wanted &= who < scenes[i].first || scenes[i].last < who;
    if (const auto* at = std::get_if<instant>(&scenes[i].when))
      changes_.insert({*at, {}, cause::script, i});
  }
}

std::set<client_id> presence::at_first() const {
  std::set<client_id> result;
  for (const auto& [who, x] : clients_)
    if (x.there())
      result.insert(who);
  return result;
}

std::optional<instant> presence::next() const {
  if (changes_.empty())
    return std::nullopt;
  return changes_.begin()->at;
}

std::vector<life> presence::until(instant now) {
  std::vector<life> out;
  while (!changes_.empty() && changes_.begin()->at <= now) {
    const auto x = *changes_.begin();
    changes_.erase(changes_.begin());
    happen(x, out);
  }
  return out;
}

std::vector<life> presence::reached(version head, instant now) {
  std::vector<life> out;
  for (std::size_t i = 0; i < options_.scenario.size(); ++i)
    if (const auto* at = std::get_if<version>(&options_.scenario[i].when);
        at && *at <= head && played_.insert(i).second)
      play(options_.scenario[i], now, out);
  return out;
}

void presence::happen(const change& x, std::vector<life>& out) {
  if (x.why == cause::script)
    return play(options_.scenario[x.index], x.at, out);
  auto& entry = clients_.at(x.client);
  const bool before = entry.there();
  switch (x.why) {
    case cause::crash:
      ++entry.crashes;
      return crash(x.client, options_.crashes.restart_seconds, x.at, out);
    case cause::restart:
      entry.running = true;
      plan_crash(x.client, entry, x.at);
      break;
    default:
      plan_availability(x.client, entry, x.at);
  }
  if (before != entry.there())
    out.push_back({x.client, before ? life_event::go : life_event::come});
}

void presence::play(const scene& x, instant now, std::vector<life>& out) {
  const auto first = clients_.lower_bound(x.first);
  const auto last = clients_.upper_bound(x.last);
  for (auto at = first; at != last; ++at) {
    auto& [who, entry] = *at;
    if (x.what == scene::kind::fail) {
      crash(who, x.restart_seconds, now, out);
      continue;
    }
    const bool before = entry.there();
    entry.wanted = x.what == scene::kind::join;
    if (before == entry.there())
      continue;
    out.push_back({who, !before                        ? life_event::come
                        : x.what == scene::kind::drain ? life_event::drain
                                                       : life_event::go});
  }
}

// Who is not there cannot break, and who is broken has one restart before it.
void presence::crash(client_id who, std::optional<double> restart, instant now,
                     std::vector<life>& out) {
  auto& entry = clients_.at(who);
  if (!entry.running)
    return;
  if (!entry.there())
    return plan_crash(who, entry, now);
  entry.running = false;
  out.push_back({who, life_event::crash});
  std::erase_if(changes_, [&](const change& x) {
    return x.client == who && x.why == cause::crash;
  });
  if (restart)
    changes_.insert({now + from_seconds(*restart), who, cause::restart, 0});
}

void presence::plan_crash(client_id who, const entry& x, instant after) {
  if (options_.crashes.per_hour <= 0)
    return;
  random_stream random{derive_seed(
    derive_seed(options_.seed, "crash", who.value), "gap", x.crashes)};
  const auto hours =
    -std::log(1 - random.uniform()) / options_.crashes.per_hour;
  changes_.insert({after + from_seconds(3600 * hours), who, cause::crash, 0});
}

// Where the client stands just after this instant, and when that ends.
void presence::plan_availability(client_id who, entry& x, instant after) {
  const auto now = seconds(after);
  const auto ends = [&](double at) {
    changes_.insert({std::max(from_seconds(at), after + instant{1}), who,
                     x.available ? cause::vanish : cause::appear, 0});
  };
  if (const auto* w = std::get_if<available_windows>(&options_.available)) {
    if (w->share >= 1)
      return;
    random_stream random{derive_seed(options_.seed, "phase", who.value)};
    const auto shifted = now / w->period + random.uniform();
    const auto phase = shifted - std::floor(shifted);
    // A billionth of a period is no part of it: it is how we arrived here.
    constexpr double slack = 1e-9;
    x.available = phase + slack < w->share || phase + slack >= 1;
    const auto left = phase + slack >= 1 ? w->share + 1 - phase
                      : x.available      ? w->share - phase
                                         : 1 - phase;
    return ends(now + left * w->period);
  }
  const auto* recorded =
    std::get_if<recorded_availability>(&options_.available);
  if (recorded == nullptr)
    return;
  x.available = false;
  const auto found = recorded->stretches.find(who);
  if (found == recorded->stretches.end())
    return;
  for (const auto& [from, to] : found->second) {
    if (after < from_seconds(from))
      return ends(from);
    x.available = after < from_seconds(to);
    if (x.available)
      return ends(to);
  }
}

result<recorded_availability> parse_availability(std::string_view text,
                                                 std::string_view origin) {
  recorded_availability out;
  std::size_t number = 0;
  const auto wrong = [&](const std::string& what) {
    return fail(errc::invalid_data, std::string{origin} + ':'
                                      + std::to_string(number) + ": " + what);
  };
  while (!text.empty()) {
    ++number;
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (number == 1) {
      if (line != "client,from,to")
        return wrong("begins with '" + std::string{line.substr(0, 60)}
                     + "'; the header client,from,to would do");
      continue;
    }
    if (line.empty())
      continue;
    std::uint64_t client = 0;
    double from = 0;
    double to = 0;
    const char* at = line.data();
    const char* end = at + line.size();
    const auto number_is_read = [&](auto& x, bool last) {
      const auto [stop, error] = std::from_chars(at, end, x);
      if (error != std::errc{} || (last ? stop != end : stop == end))
        return false;
      at = last ? stop : stop + 1;
      return last || *stop == ',';
    };
    if (!number_is_read(client, false) || !number_is_read(from, false)
        || !number_is_read(to, true) || client == 0
        || !(0 <= from && from < to && to < 1e9))
      return wrong("'" + std::string{line.substr(0, 60)}
                   + "' is no stretch; a client from 1 on and two times in "
                     "seconds, the second one later, would do");
    out.stretches[{client}].emplace_back(from, to);
  }
  for (auto& [client, stretches] : out.stretches) {
    std::ranges::sort(stretches);
    for (std::size_t i = 1; i < stretches.size(); ++i)
      if (stretches[i].first < stretches[i - 1].second)
        return fail(errc::invalid_data, std::string{origin} + ": client "
                                          + std::to_string(client.value)
                                          + " has stretches that overlap");
  }
  return out;
}

} // namespace troupe::policies
