#include "node/config/changed_line.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace troupe::node {

namespace {

/// Where it is and how it is done.
constexpr std::array<std::string_view, 7> of_no_consequence{
  "name = ",           "folder = ",           "workers = ",    "retention = ",
  "scores_seconds = ", "snapshot_seconds = ", "silence_max = "};

/// The next line of consequence; empty at the end.
std::string next_of(std::istringstream& from) {
  std::string line;
  while (std::getline(from, line))
    if (!line.empty()
        && std::ranges::none_of(of_no_consequence, [&](std::string_view key) {
             return line.starts_with(key);
           }))
      return line;
  return {};
}

} // namespace

std::string lines_of_consequence(const std::string& config) {
  std::istringstream from{config};
  std::string all;
  for (auto x = next_of(from); !x.empty(); x = next_of(from))
    all += x + '\n';
  return all;
}

std::optional<std::pair<std::string, std::string>>
changed_line(const std::string& before, const std::string& now) {
  std::istringstream old_lines{before};
  std::istringstream new_lines{now};
  while (old_lines || new_lines) {
    auto x = next_of(old_lines);
    auto y = next_of(new_lines);
    if (x != y)
      return std::pair{std::move(x), std::move(y)};
  }
  return std::nullopt;
}

} // namespace troupe::node
