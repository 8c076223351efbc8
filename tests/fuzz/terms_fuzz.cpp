// What a server says of its run before clients say hello: the lines of its
// configuration, of which a process makes its model and data.

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "core/assert.hpp"
#include "node/config/config.hpp"
#include "node/join/task.hpp"

namespace {

using namespace troupe;
using namespace troupe::node;

messages::terms_given terms_of(const std::string& text) {
  messages::terms_given out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    out.config.push_back(line);
  return out;
}

/// Whatever they name, a process has its own paths and no others, also where it
/// ends because of them.
void read_as(const messages::terms_given& terms, const std::string& own) {
  join_context here;
  here.data = own;
  here.model = own;
  experiment x;
  x.data.path = own; // As it stays where the terms are none.
  const auto wrong = read_terms(here, terms, x);
  TROUPE_ASSERT(x.data.path == own);
  TROUPE_ASSERT(x.model.path.empty() || x.model.path == own);
  TROUPE_ASSERT(x.init.empty() || x.init == own);
  TROUPE_ASSERT(x.scenario.empty() && x.devices.speed.path.empty()
                && x.availability.path.empty());
  TROUPE_ASSERT(x.folder == experiment{}.folder);
  if (wrong) {
    TROUPE_ASSERT(!wrong->why.empty());
    return;
  }
  const auto again = parse_config({write_config(x), "written"});
  TROUPE_ASSERT(!again || same(x, again->x));
}

} // namespace

// Nothing that is taken names a file but those whose places the process says
// itself, and it means the same when it is written again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto terms =
    terms_of(std::string{reinterpret_cast<const char*>(data), size});
  read_as(terms, "");
  read_as(terms, "/nowhere/own");
  return 0;
}
