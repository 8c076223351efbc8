#pragma once

// Offers that wait for a merge on disk: in arrivals/ of a run's folder, a file
// for each part. A file is there whole or not at all, so there is no list of
// them beside it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/messages/internal.hpp"
#include "core/result.hpp"

namespace troupe::actors {

/// Where parts of offers wait. One thread at a time calls what changes them;
/// `values` may be called on another beside it.
class arrivals {
public:
  virtual ~arrivals() = default;

  /// Whether what is kept is found by the next process, also after a loss of
  /// power.
  virtual bool outlives() const noexcept = 0;

  /// Keeps a part, in the place of what was kept of its visit. After an error
  /// it may be there or not.
  [[nodiscard]] virtual result<void> keep(const messages::part_offered& x) = 0;

  /// When this returns they are gone for good; those that are not there are.
  [[nodiscard]] virtual result<void> drop(line_id line,
                                          std::span<const visit_id> visits) = 0;

  /// A part as it was kept.
  [[nodiscard]] virtual result<messages::part_offered>
  read(line_id line, visit_id visit) const = 0;

  /// What it has of one block, or of a part of that. Who reads it part by part
  /// begins with the first, with which all of the block is checked.
  [[nodiscard]] virtual result<shared_values>
  values(line_id line, visit_id visit, block_id block,
         values_part of = {}) const = 0;

  /// What a node begins with: all parts, without their values. None unless they
  /// outlive processes; then those of the one before are dropped.
  [[nodiscard]] virtual result<std::vector<messages::part_offered>> found() = 0;
};

/// Of what a node begins with: a copy of the folder may have a part on a
/// version that it does not have. That visit's other parts were trained beside
/// it, and come too late with it.
void mark_lost(std::vector<messages::part_offered>& found,
               const std::map<line_id, version>& heads);

struct arrivals_options {
  std::filesystem::path folder; ///< Made when it is needed.
  bool outlives = false;
};

/// What such a folder has, without changing it.
struct arrivals_report {
  std::uint64_t whole = 0;          ///< Files that are as they were kept.
  std::vector<std::string> damaged; ///< The others, and what is wrong.
};

arrivals_report examine_arrivals(const std::filesystem::path& folder);

std::shared_ptr<arrivals> make_arrivals(const arrivals_options& opts);

} // namespace troupe::actors
