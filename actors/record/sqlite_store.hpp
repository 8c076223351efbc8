#pragma once

// The ledger of a run, for people and for restarts: ledger.sqlite and, for what
// is too large for it, files in versions/ that are named after their content.
// Tables and examples of queries stand in docs/run_folder.md.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "actors/record/store.hpp"

namespace troupe::actors {

enum class durability : std::uint8_t {
  /// What a call has stored survives a loss of power: the wall clock's, where
  /// clients
  /// remember what they were told.
  full,
  /// It survives the death of the process. After that of the machine the ledger
  /// is
  /// whole, but may lack its last versions or their files. For virtual clients,
  /// who
  /// live and die with the server.
  relaxed,
};

struct sqlite_options {
  std::filesystem::path folder; ///< Made if it is not there.
  durability durable = durability::full;
  std::uint64_t retention =
    20; ///< Versions of a line whose values are kept; >= 1.
  std::size_t small_bytes_max = std::size_t{64}
                                << 10; ///< Values in the ledger itself.
  /// What tells this run from others; a ledger that was begun by another is
  /// refused. Empty: not compared.
  std::string run = {};
  /// Offers that wait on disk are found by the next process. With
  /// `durability::relaxed` none waits there.
  bool offers_outlive = false;
  /// Lines of the record reach the kernel one by one: clients live on when this
  /// process is killed, and remember what it heard and said.
  bool writes_each_line = false;
};

/// Opens the ledger of a folder or begins it, with a new key. One store at a
/// time has a folder; others may read the ledger meanwhile. Files in versions/
/// that the ledger does not name are removed.
[[nodiscard]] result<std::unique_ptr<store>>
make_sqlite_store(const sqlite_options& opts);

} // namespace troupe::actors
