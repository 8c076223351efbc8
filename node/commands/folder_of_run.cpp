#include "node/commands/folder_of_run.hpp"

#include "core/text.hpp"
#include "node/config/config.hpp"
#include "node/watch/folder.hpp"

namespace troupe::node {

namespace {

/// A simulation has its clients with it.
std::string goes_on_by(const std::string& folder) {
  const auto run = load_config(folder + "/config.toml");
  const bool simulates = run && run->x.clock == clock_kind::virtual_time;
  return (simulates ? "troupe run --resume " : "troupe serve ") + folder
         + " goes on with it";
}

} // namespace

failure nobody_serves(const std::string& folder) {
  if (const auto end = end_of(folder))
    return {.code = "unreachable",
            .what = in_quotes(folder) + " has ended",
            .why = *end,
            .hint = "its results are there; nobody serves it any more"};
  return {.code = "unreachable",
          .what = "nobody serves " + in_quotes(folder) + " now",
          .hint = goes_on_by(folder)};
}

} // namespace troupe::node
