#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/recipe.hpp"
#include "tests/support/sim/sim_network.hpp"
#include "tests/support/sim/sim_store.hpp"

namespace troupe::test {

/// What is said on each visit of a run, as its sender says it. What is said
/// again counts once.
class conversation {
public:
  struct leg_said {
    std::set<line_id> wanted;
    std::map<line_id, std::uint32_t> ranks; ///< Where not all are wanted.
    std::map<line_id, version> given;
  };

  struct answer {
    policies::verdict what;
    version head;
  };

  struct visit_said {
    messages::ticket pass;
    std::vector<leg_said> legs;
    std::optional<messages::offer_made> offer;
    std::map<line_id, answer> answers;
    std::optional<policies::verdict> ended;
    std::optional<messages::decline_reason> declined;
  };

  /// @param marks bytes that are looked for in every frame
  explicit conversation(std::span<const float> marks = {}) : marks_(marks) {
    // nop
  }

  sim_network::witness witness();

  const std::map<visit_id, visit_said>& visits() const {
    return visits_;
  }

  /// Frames that were said, and those with the marks in them.
  std::uint64_t frames() const {
    return frames_;
  }

  std::uint64_t frames_with_marks() const {
    return frames_with_marks_;
  }

  /// The visits in the order of their invitations, then what each version
  /// merged. No number in it comes from arithmetic.
  std::string text(const recipe& method, const models::layout& blocks,
                   const sim_store& store) const;

private:
  void see(const messages::any_message& x);
  visit_said& of(const messages::ticket& pass);

  std::span<const float> marks_;
  std::map<visit_id, visit_said> visits_;
  std::uint64_t frames_ = 0;
  std::uint64_t frames_with_marks_ = 0;
};

} // namespace troupe::test
