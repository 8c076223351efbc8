#include "node/config/no_run.hpp"

#include <algorithm>
#include <cstddef>
#include <system_error>

#include "core/text.hpp"
#include "models/files.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

struct runs_there {
  std::size_t count = 0;
  fs::path last; ///< Names begin with when a run began.
};

runs_there runs_in(const fs::path& folder) {
  runs_there x;
  std::error_code why;
  for (fs::directory_iterator at{folder, why};
       !why && at != fs::directory_iterator{}; at.increment(why))
    if (models::is_there(at->path() / "config.toml")) {
      ++x.count;
      x.last = std::max(x.last, at->path());
    }
  return x;
}

} // namespace

std::string other_than_run(const fs::path& folder) {
  if (models::is_there(folder / "config.toml"))
    return {};
  const auto place = folder.string();
  if (models::is_there(folder / "sweep.toml"))
    return place + " holds no run: it is the folder of a sweep, whose runs are "
           + "in folders of " + (folder / "runs").string()
           + (models::is_there(folder / "table.md")
                ? ", and whose table is " + (folder / "table.md").string()
                : "; it has no table yet, and troupe run --resume " + place
                    + " goes on with it");
  const auto runs = runs_in(folder);
  if (runs.count == 0)
    return {};
  return place + " holds no run by itself: there "
         + (runs.count == 1 ? "is one in it, "
                            : "are " + std::to_string(runs.count)
                                + " in it, of which the last is ")
         + runs.last.string();
}

std::string no_run_in(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored))
    return folder.string()
           + ": there is no such folder; troupe run says at its end where its "
             "folder is";
  const auto other = other_than_run(folder);
  return other.empty()
           ? folder.string()
               + " holds no run: there is no config.toml in it; troupe run "
                 "says at its end where its folder is"
           : other;
}

} // namespace troupe::node
