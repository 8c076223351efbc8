// Prompts of a file, as lines and as a .jsonl.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "node/commands/eval_prompts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe;
  const std::string text{reinterpret_cast<const char*>(data), size};
  for (const auto* said : {"p", "p.jsonl"}) {
    const std::string name = said;
    const auto found = node::parse_prompts(name, text);
    if (!found) {
      TROUPE_ASSERT(found.error().context.starts_with(name + ":"));
      continue;
    }
    TROUPE_ASSERT(!found->empty());
    std::size_t line = 0;
    for (const auto& x : *found) {
      TROUPE_ASSERT(x.line > line);
      line = x.line;
      TROUPE_ASSERT(name != "p" || !trimmed(x.text).empty());
    }
  }
  return 0;
}
