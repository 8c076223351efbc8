#include "actors/metrics/wait_texts.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe::actors {

namespace {

/// A visit may take this long, or so many times the mean, before it is said
/// to hang.
constexpr double work_seconds_min = 5;
constexpr double work_times_mean = 10;

} // namespace

std::string text_of(std::uint64_t n) {
  return std::to_string(n);
}

std::string seconds_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, x < 10 ? "%.2g s" : "%.0f s", x);
  return text;
}

std::string counted(std::uint64_t n, const std::string& what) {
  return text_of(n) + " " + what + (n == 1 ? "" : "s");
}

std::string text_of(const std::vector<routing_alarm>& x) {
  constexpr std::size_t shown = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(shown, x.size()); ++i)
    out += (i == 0 ? "" : "; ") + x[i].text;
  if (x.size() > shown)
    out += "; and so of " + counted(x.size() - shown, "more expert");
  return out;
}

std::optional<wait> hanging(const crew_status& crew, std::int64_t now_ms) {
  const auto longest =
    std::ranges::max_element(crew.under_way, {}, &crew_status::task::seconds);
  if (longest == crew.under_way.end())
    return std::nullopt;
  const auto& work = crew.work;
  const auto mean =
    work.count > 0 ? work.seconds / static_cast<double>(work.count) : 0;
  if (longest->seconds < std::max(work_seconds_min, work_times_mean * mean))
    return std::nullopt;
  const auto visit = longest->visit;
  return wait{
    .code = "worker",
    .what = "a worker has been at visit " + text_of(visit.number.value)
            + " of client " + text_of(visit.client.value) + " for "
            + seconds_text(longest->seconds)
            + (work.count > 0
                 ? "; those before took " + seconds_text(mean) + " in the mean"
                 : ""),
    .ends = "the end of that work; if it hangs, Ctrl-C twice ends the run and "
            "--resume goes on with it",
    .since_ms = now_ms - static_cast<std::int64_t>(longest->seconds * 1000)};
}

} // namespace troupe::actors
