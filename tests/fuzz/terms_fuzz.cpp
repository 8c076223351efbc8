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

constexpr const char* own = "/nowhere/own";

messages::terms_given terms_of(const std::string& text) {
  messages::terms_given out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    out.config.push_back(line);
  return out;
}

/// Whatever they name, a process has its own paths and no others, also where it
/// ends because of them.
void read_as(const messages::terms_given& terms, const join_context& here) {
  experiment x;
  x.data.path = here.data; // As it stays where the terms are none.
  const auto wrong = read_terms(here, terms, x);
  TROUPE_ASSERT(x.data.path == here.data);
  TROUPE_ASSERT(x.model.path.empty() || x.model.path == here.model);
  TROUPE_ASSERT(x.init.empty() || x.init == here.model);
  TROUPE_ASSERT(!x.data.names_tokenizer()
                || x.data.tokenizer == here.tokenizer);
  TROUPE_ASSERT(x.data.cache.empty());
  TROUPE_ASSERT(x.common.empty() || x.common == here.common);
  TROUPE_ASSERT(!x.common_model || x.common_model->path.empty()
                || x.common_model->path == here.common);
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
  join_context here;
  read_as(terms, here);
  here.data = own;
  read_as(terms, here);
  // What a run has no use for ends it.
  here.model = own;
  here.tokenizer = own;
  here.common = own;
  read_as(terms, here);
  return 0;
}
