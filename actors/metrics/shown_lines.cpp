#include "actors/metrics/shown_lines.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "core/limits.hpp"

namespace troupe::actors {

namespace {

shown_line shown(const run_status& x, line_id id, const line_status& status) {
  const auto name = x.line_names.find(id);
  shown_line out{.name = name == x.line_names.end() ? std::to_string(id.value)
                                                    : name->second,
                 .status = status};
  if (const auto load = x.load.experts.find(id); load != x.load.experts.end()) {
    out.load = load->second;
    out.is_expert = true;
  }
  const auto& requests = x.load.requests;
  if (const auto asked = requests.experts.find(id);
      asked != requests.experts.end()) {
    out.requests = asked->second;
    out.is_asked_for = true;
  }
  for (const auto& alarm : requests.alarms)
    if (alarm.line == id)
      (alarm.what == "crowded" ? out.is_crowded : out.is_deserted) = true;
  if (const auto waits = x.readers.find(id); waits != x.readers.end())
    out.reader_mailbox = waits->second;
  return out;
}

void add(shown_line& to, const shown_line& x) {
  to.status.add(x.status);
  to.load.visits += x.load.visits;
  to.load.rows += x.load.rows;
  to.requests.first += x.requests.first;
  to.requests.asked += x.requests.asked;
  to.reader_mailbox += x.reader_mailbox;
  to.is_expert |= x.is_expert;
  to.is_asked_for |= x.is_asked_for;
  to.is_crowded |= x.is_crowded;
  to.is_deserted |= x.is_deserted;
}

/// By what was offered to it; of those of whom nothing is disclosed, by what
/// was merged.
std::pair<double, std::uint64_t> use_of(const shown_line& x) {
  return {x.load.visits, x.status.merged_bytes};
}

std::vector<shown_line> families_of(const std::vector<shown_line>& all) {
  std::map<std::string, shown_line> found;
  for (const auto& x : all) {
    const auto family = family_of(x.name);
    auto& sum = found[family];
    sum.name = family + "/*";
    add(sum, x);
  }
  std::vector<shown_line> out;
  for (auto& [family, x] : found)
    out.push_back(std::move(x));
  return out;
}

bool is_fuller(const shown_line& x, const shown_line& than) {
  return x.status.pending * than.status.pending_max
         > than.status.pending * x.status.pending_max;
}

/// Of each family the fullest, where it is half full: a bound is a line's own,
/// and of a thousand lines one that is at it is nothing of their sum.
std::vector<shown_line> fullest_of(std::span<shown_line> from) {
  std::map<std::string, shown_line*> found;
  for (auto& x : from) {
    if (2 * x.status.pending < x.status.pending_max || x.status.pending == 0)
      continue;
    auto& fullest = found[family_of(x.name)];
    if (!fullest || is_fuller(x, *fullest))
      fullest = &x;
  }
  std::vector<shown_line> out;
  for (const auto& [family, x] : found)
    out.push_back(std::move(*x));
  return out;
}

} // namespace

std::string family_of(const std::string& line) {
  const auto dot = line.rfind('.');
  const bool is_numbered =
    dot != std::string::npos && dot + 1 < line.size()
    && line.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return is_numbered ? line.substr(0, dot) : line;
}

std::vector<shown_line> shown_lines(const run_status& x) {
  std::vector<shown_line> all;
  for (const auto& [id, status] : x.lines)
    all.push_back(shown(x, id, status));
  if (all.size() <= limits::lines_labelled)
    return all;
  auto out = families_of(all);
  std::ranges::stable_sort(all, std::ranges::greater{}, use_of);
  const auto most = all.begin() + std::ptrdiff_t{limits::lines_most_used};
  const auto least = all.end() - std::ptrdiff_t{limits::lines_least_used};
  std::ranges::move(fullest_of({most, least}), std::back_inserter(out));
  std::move(all.begin(), most, std::back_inserter(out));
  std::move(least, all.end(), std::back_inserter(out));
  return out;
}

} // namespace troupe::actors
