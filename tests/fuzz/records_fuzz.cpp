// Lines of events.jsonl as reports add them up.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/assert.hpp"
#include "node/report/flat_record.hpp"
#include "node/report/tally.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::node;
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  flat_record x;
  event_tally all;
  std::uint64_t lines = 0;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!x.read(line))
      continue;
    all.add(x);
    ++lines;
  }
  TROUPE_ASSERT(all.events() <= lines && all.merged() <= size);
  return 0;
}
