#include "node/watch/reached.hpp"

#include <algorithm>
#include <fstream>
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

} // namespace troupe::node
