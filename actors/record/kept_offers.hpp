#pragma once

// All offers of a run as they arrived: in offers/ of its folder, a file each. A
// replay takes from here what was trained on data that is elsewhere.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "actors/messages/offer.hpp"
#include "core/result.hpp"

namespace troupe::actors {

struct keep_options {
  /// What is kept outlives a loss of power from then on.
  bool sync = false;
};

class kept_offers {
public:
  struct kept {
    messages::offer_made offer;
    std::uint64_t examples = 0; ///< That its client registered.
  };

  explicit kept_offers(std::filesystem::path folder, keep_options how = {})
    : folder_(std::move(folder)),
      how_(how) {
    // nop
  }

  /// Keeps one. It is there whole or not at all, also after a kill. Of a visit
  /// there may be others: the record says which one counts.
  [[nodiscard]] result<void> keep(const kept& x) const;

  /// Nothing: it has none of this visit with this checksum. Returns
  /// `invalid_data` where what it has is damaged.
  [[nodiscard]] result<std::optional<kept>>
  find(visit_id x, const std::string& checksum) const;

private:
  std::filesystem::path path_of(visit_id x, const std::string& checksum) const;

  std::filesystem::path folder_;
  keep_options how_;
};

} // namespace troupe::actors
