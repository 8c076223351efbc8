// What a server says of its run before clients say hello: the lines of its
// configuration, of which a process makes its model and data.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/assert.hpp"
#include "node/config/config.hpp"
#include "node/run/serving.hpp"

// Nothing that is taken names a file but those whose places the process says
// itself, and it means the same when it is written again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::node;
  const std::string text{reinterpret_cast<const char*>(data), size};
  static const std::vector<std::string> here{"data.path=here"};
  const auto found = parse_config({text, "the server's terms"}, here);
  if (!found) {
    TROUPE_ASSERT(!found.error().context.empty());
    return 0;
  }
  const auto x = for_clients(found->x);
  TROUPE_ASSERT(x.data.path == "here" || x.data.path == experiment{}.data.path);
  for (const auto& path :
       {x.init, x.scenario, x.devices.speed.path, x.availability.path})
    TROUPE_ASSERT(path.empty());
  const auto again = parse_config({write_config(x), "written"});
  TROUPE_ASSERT(!again || same(x, again->x));
  return 0;
}
