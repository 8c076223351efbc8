#pragma once

// Whose keys are denied or have run out. The file of a key may be gone, or be
// half of one, for the moment in which somebody edits it: who is here is denied
// when a second look finds the same.

#include <chrono>
#include <map>
#include <set>

#include "core/clock.hpp"
#include "node/keys/pair.hpp"

namespace troupe::node {

class denials {
public:
  /// At the earliest. With the time until somebody looks a first time it is
  /// well below a second.
  static constexpr instant second_look = std::chrono::milliseconds{350};

  /// Who of `known` is denied from now on, each once until it is good again.
  /// @param good whose files say so, or say nothing for the moment
  std::set<key_hash> look(const std::set<key_hash>& known,
                          const std::set<key_hash>& good, instant now);

  /// The same of some alone: of others nothing could be seen this time.
  std::set<key_hash> look_at(const std::set<key_hash>& some,
                             const std::set<key_hash>& good, instant now);

  /// It was let in: whatever was found before is over.
  void is_good(const key_hash& x) {
    missed_.erase(x);
  }

  /// A second look is to come.
  bool is_in_doubt() const;

private:
  struct missed {
    instant since{};
    bool is_denied = false; ///< It was said.
  };

  std::map<key_hash, missed> missed_;
};

} // namespace troupe::node
