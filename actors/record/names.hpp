#pragma once

// The names under which things are recorded: whoever writes a line and whoever
// reads it again take them from here.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::actors {

/// The place of a name in a list of the names of an enum.
template <class Enum, std::size_t N>
constexpr std::optional<Enum>
named(std::string_view x, const std::array<std::string_view, N>& names) {
  const auto at = std::ranges::find(names, x);
  if (at == names.end())
    return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

/// Of events.jsonl: `event`.
enum class event_kind : std::uint8_t {
  began,
  admitted,
  invited,
  fetched,
  offered,
  withdrawn,
  visit_failed,
  refused,
  skipped,
  round_closed,
  version,
  finished,
  began_anew,
  left_alone,
};

inline constexpr std::array<std::string_view, 14> event_kind_names{
  "began",     "admitted",     "invited",    "fetched",   "offered",
  "withdrawn", "visit_failed", "refused",    "skipped",   "round_closed",
  "version",   "finished",     "began_anew", "left_alone"};

constexpr std::string_view name_of(event_kind x) noexcept {
  return event_kind_names[static_cast<std::size_t>(x)];
}

constexpr std::optional<event_kind> to_event_kind(std::string_view x) {
  return named<event_kind>(x, event_kind_names);
}

/// Of metrics.jsonl: `kind`.
enum class metric_kind : std::uint8_t { version, evaluation };

inline constexpr std::array<std::string_view, 2> metric_kind_names{
  "version", "evaluation"};

constexpr std::string_view name_of(metric_kind x) noexcept {
  return metric_kind_names[static_cast<std::size_t>(x)];
}

constexpr std::optional<metric_kind> to_metric_kind(std::string_view x) {
  return named<metric_kind>(x, metric_kind_names);
}

/// A figure of an evaluation: of which rows, of what, and over whom.
struct score_name {
  enum class rows : std::uint8_t { own_test, test, validation };
  enum class figure : std::uint8_t { accuracy, loss, perplexity };
  enum class over : std::uint8_t { global, mean, p10, worst };

  rows split = rows::test;
  figure metric = figure::accuracy;
  over scope = over::global;

  friend auto operator<=>(const score_name&, const score_name&) = default;
};

constexpr std::string_view name_of(score_name::rows x) noexcept {
  constexpr std::array<std::string_view, 3> names{"own_test", "test",
                                                  "validation"};
  return names[static_cast<std::size_t>(x)];
}

constexpr std::string_view name_of(score_name::figure x) noexcept {
  constexpr std::array<std::string_view, 3> names{"accuracy", "loss",
                                                  "perplexity"};
  return names[static_cast<std::size_t>(x)];
}

constexpr std::string_view name_of(score_name::over x) noexcept {
  constexpr std::array<std::string_view, 4> names{"global", "mean", "p10",
                                                  "worst"};
  return names[static_cast<std::size_t>(x)];
}

/// The key of a global score in metrics.jsonl: validation_loss, accuracy, …
inline std::string key_of(score_name::rows split, score_name::figure metric) {
  const auto figure = std::string{name_of(metric)};
  return split == score_name::rows::test
           ? figure
           : std::string{name_of(split)} + "_" + figure;
}

/// The keys of scores of tokens in metrics.jsonl.
inline constexpr std::string_view perplexity_key = "perplexity";
inline constexpr std::string_view clients_perplexity_key = "clients_perplexity";
inline constexpr std::string_view majority_key = "majority_accuracy";

} // namespace troupe::actors
