#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "core/result.hpp"
#include "models/data/deal.hpp"
#include "models/data/partition.hpp"
#include "models/language/document_parts.hpp"

namespace troupe::models {

struct label_deal {
  std::size_t clients = 1; ///< Not 0.
  /// Of `make_partition`; none: `deal_sorted`.
  std::optional<partitioner> scheme = std::nullopt;
  double sorted_fraction = 0.9;
  bool even_tests = false; ///< Test rows are dealt by no label.
  std::uint64_t seed = 0;
};

/// Who has which rows, of each part by their labels, so that a client is tested
/// on what it learns: sorted, each part by the same procedure; by a scheme, the
/// training rows, and of each label the rows of another part in proportion to
/// the client's training rows of it (those of a label that nobody learns,
/// evenly). Even tests are dealt as they come. All rows have one owner; those
/// of a client are sorted, and it may have none. Returns `invalid_config` if
/// they cannot be dealt so. @pre there are training rows for all clients, and
/// the scheme gives each row one owner by its label
[[nodiscard]] result<std::map<text_part, row_lists>>
deal_by_label(const std::map<text_part, row_list>& labels,
              const label_deal& how);

/// Whether it matters what labels rows have.
bool is_by_label(const label_deal& how) noexcept;

/// What would give a part more rows, behind other things that would do.
/// @param is_said by the lines themselves
std::string_view larger_share(text_part x, bool is_said) noexcept;

/// What would give each client rows of more labels, as keys say it.
std::string_view more_labels(const std::optional<partitioner>& scheme);

} // namespace troupe::models
