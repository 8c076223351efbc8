#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <sys/stat.h>

#include "core/result.hpp"
#include "node/keys/permit.hpp"

namespace troupe::node {

/// What files of permits say. One that lies as it lay is not read again: who
/// beats twice a minute costs a look, not a file that is opened. Thread-safe.
class permit_cache {
public:
  /// @param moment in which a file may change twice, in seconds, and look the
  /// same
  explicit permit_cache(time_t moment = 2) : moment_(moment) {
    // nop
  }

  result<permit> at(const std::filesystem::path& path);

private:
  /// Whatever is done to a file changes one of these.
  using how_it_lies =
    std::tuple<dev_t, ino_t, off_t, mode_t, uid_t, time_t, long, time_t, long>;

  struct known {
    how_it_lies lay;
    permit said;
  };

  const time_t moment_;
  std::mutex mutex_;
  std::map<std::string, known> all_;
};

} // namespace troupe::node
