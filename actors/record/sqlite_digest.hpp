#pragma once

// Whether a snapshot in a ledger is what was written. One digest is over the
// build that wrote it and over all that a resume reads, as sums of rows: a
// snapshot takes off what is replaced and adds what changed, and reads no other
// row. A resume adds up all of them.

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "actors/record/sqlite.hpp"
#include "models/version_store.hpp"

namespace troupe::actors::sqlite {

/// Rows, in any order, by their BLAKE2b-256.
class row_sum {
public:
  using words = std::array<std::uint64_t, 4>;

  row_sum() = default;

  explicit row_sum(const words& x) : words_(x) {
    // nop
  }

  void add(rows found);
  void take_off(rows found);

  const words& value() const noexcept {
    return words_;
  }

  friend bool operator==(const row_sum&, const row_sum&) = default;

private:
  words words_{};
};

/// Of the tables that have a row for each client or version.
using table_sums = std::map<std::string, row_sum>;

/// What the snapshot that is to be kept will add up to. Within its transaction,
/// and before its tables are copied.
table_sums sums_to_keep(database& ledger);

/// Signs the snapshot that has been copied, as the last step of its
/// transaction.
void sign(database& ledger, const table_sums& sums);

/// Whether the snapshot, if there is one, is what this build wrote.
/// `storage_failure` says what does not fit, and what to do.
[[nodiscard]] result<void> check_signed(database& ledger);

/// Whether the ledger was begun by this run; one that does not say so is not
/// asked. @param run empty: any
[[nodiscard]] result<void> check_run(database& ledger, const std::string& run);

/// Whether values of versions up to the snapshot are what their names say.
[[nodiscard]] result<void> check_contents(database& ledger,
                                          const models::version_store& files);

/// An error about the snapshot, with what to do.
tl::unexpected<error> damaged_snapshot(const std::string& what);

} // namespace troupe::actors::sqlite
