#include "node/watch/reached.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "core/json.hpp"

namespace troupe::node {

namespace {

/// A line about a round or a version names its visits.
constexpr std::streamoff tail_bytes = 1 << 20;

// What a kill left half of is no JSON, nor is what stands before the first
// whole line of the tail.
instant last_in(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary | std::ios::ate};
  if (!in)
    return {};
  in.seekg(
    std::max<std::streamoff>(0, std::streamoff{in.tellg()} - tail_bytes));
  instant last{};
  for (std::string line; std::getline(in, line);) {
    const auto what = json::parse(line);
    const auto* at = what ? what->find("at") : nullptr;
    if (at && at->number())
      last = std::max(last, from_seconds(*at->number()));
  }
  return last;
}

} // namespace

instant reached_in(const std::filesystem::path& folder) {
  return std::max(last_in(folder / "events.jsonl"),
                  last_in(folder / "metrics.jsonl"));
}

// A version may stand there twice: before a kill, and after it.
work_done work_in(const std::filesystem::path& folder) {
  struct counted {
    double last = 0;
    double merged = 0;
  };
  std::ifstream in{folder / "metrics.jsonl"};
  std::map<std::string, counted> lines;
  double most = 0;
  double rounds = 0;
  const auto number = [](const json& x, const char* key) {
    const auto* found = x.find(key);
    return found ? found->number().value_or(0) : 0;
  };
  for (std::string text; std::getline(in, text);) {
    const auto what = json::parse(text);
    if (!what)
      continue;
    const auto* line = what->find("line");
    if (!line) { // Of an evaluation.
      rounds = std::max(rounds, number(*what, "round"));
      continue;
    }
    auto& x = lines[line->dump()];
    if (number(*what, "version") <= x.last)
      continue;
    x.last = number(*what, "version");
    x.merged += std::max(0.0, number(*what, "merged"));
    most = std::max(most, x.merged);
  }
  return {.visits = static_cast<std::uint64_t>(std::min(most, 1e15)),
          .rounds = static_cast<std::uint64_t>(std::min(rounds, 1e15))};
}

} // namespace troupe::node
