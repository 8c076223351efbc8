#include "node/commands/folder_of_run.hpp"

#include "core/text.hpp"
#include "node/watch/folder.hpp"

namespace troupe::node {

failure nobody_serves(const std::string& folder) {
  if (const auto end = end_of(folder))
    return {.code = "unreachable",
            .what = in_quotes(folder) + " has ended",
            .why = *end,
            .hint = "its results are there; nobody serves it any more"};
  return {.code = "unreachable",
          .what = "nobody serves " + in_quotes(folder) + " now",
          .hint = "troupe serve " + folder + " goes on with it"};
}

} // namespace troupe::node
