#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/record/sqlite.hpp"
#include "actors/record/store.hpp"
#include "models/layout.hpp"
#include "models/version_store.hpp"

namespace troupe::actors::sqlite {

inline constexpr const char* values_kind = "values";
inline constexpr const char* moments_kind = "moments";

/// The array that `models::to_hex` wrote, or nothing.
std::optional<std::array<std::uint8_t, 32>> from_hex(std::string_view text);

/// Of a whole version: over its blocks' digests and moments.
models::digest digest_of(const std::vector<messages::merged_block>& blocks);

/// Reads what is durable and checks it: no version is missing, values and
/// moments of the heads are those that were stored. All failures are
/// `storage_failure` with the file and what to do.
class ledger_reader {
public:
  ledger_reader(database& ledger, const models::version_store& files,
                const std::filesystem::path& folder)
    : db_(ledger),
      files_(files),
      path_(folder / "ledger.sqlite") {
    // nop
  }

  [[nodiscard]] result<stored_node> read();

  /// Nothing where its values are not kept any more.
  [[nodiscard]] result<std::optional<messages::version_published>>
  read_version(const messages::version_wanted& x);

  /// Fails also if the ledger has a schema that is not ours.
  [[nodiscard]] result<messages::seal_key> read_key();

private:
  tl::unexpected<error> damaged(const std::string& what) const;
  result<void> read_line(line_id line, stored_line& to);
  using block_list = std::vector<messages::merged_block>;

  result<block_list> read_blocks(line_id line, version x);
  result<void> read_contents(line_id line, version x, block_list& to);
  result<void> check_head(line_id line, const stored_line& x);
  result<void> read_records(stored_node& to);
  result<void> read_last_visits(stored_node& to);
  result<std::vector<std::byte>> bytes_of(const rows& row, int content,
                                          int bytes) const;

  database& db_;
  const models::version_store& files_;
  std::filesystem::path path_;
};

} // namespace troupe::actors::sqlite
