#pragma once

// What a served run remembers beside its ledger: its id, its instant zero, and
// who has which of its clients. In a file, processes.json.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "actors/messages/session.hpp"
#include "actors/reception/leases.hpp"
#include "core/result.hpp"
#include "models/layout.hpp"

namespace troupe::node {

struct process_book {
  messages::run_id run{};
  std::int64_t began_ms = 0; ///< Since 1970.
  actors::leases places;
  /// What its clients do not train, by name.
  std::map<std::string, models::digest> frozen = {};
  /// Of the files of a scripted or a language model; zeros: there are none, or
  /// nobody noted it.
  models::digest model = {};

  /// Refuses what is not as it was written, or has clients beyond that room.
  [[nodiscard]] static result<process_book>
  read(const std::filesystem::path& path, const actors::leases::room& room);

  /// It is on the disk when this returns.
  [[nodiscard]] result<void> keep(const std::filesystem::path& path) const;
};

/// Puts a text in the place of a file, synced.
[[nodiscard]] result<void> replace_text(const std::filesystem::path& path,
                                        const std::string& text);

} // namespace troupe::node
