#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/record/sqlite.hpp"
#include "actors/transport/codec.hpp"
#include "core/result.hpp"

namespace troupe::actors {

/// Clients' files as rows of SQLite, with what is large in files beside it.
/// Writes what has changed since it was written last. One thread at a time.
class client_table {
public:
  static constexpr std::uint64_t schema_version = 1;

  /// Above so many bytes a state or an offer has a file of its own.
  static constexpr std::size_t row_bytes_max = std::size_t{64} << 10;

  [[nodiscard]] static result<std::unique_ptr<client_table>>
  open(const std::filesystem::path& folder, const std::string& run);

  /// All of them in one transaction that is durable when this returns. After an
  /// error nothing has changed, and the same call again is safe.
  [[nodiscard]] result<void>
  save(const std::map<client_id, const client_file*>& all);

  /// Of all clients that are in it.
  [[nodiscard]] result<std::map<client_id, client_file>> load();

  /// What is damaged, client by client; empty: all is as it was written.
  [[nodiscard]] std::vector<std::string> damage();

  std::uint64_t bytes_written() const noexcept {
    return bytes_written_;
  }

private:
  /// What stands on disk of a client.
  struct known {
    std::map<std::uint64_t, state_ptr> states;  ///< By row.
    std::map<visit_number, std::size_t> offers; ///< And of how many blocks.
  };

  client_table(std::filesystem::path folder,
               std::unique_ptr<sqlite::database> ledger);

  result<void> begin(const std::string& run);
  result<void> check_is_new() const;
  void save(client_id who, const client_file& x, known& after);
  std::optional<std::uint64_t> row_of(client_id who, const state_ptr& x,
                                      known& after);
  void add_offer(client_id who, const kept_offer& x,
                 std::optional<std::uint64_t> next);
  void shorten_offer(client_id who, const kept_offer& x);
  void drop_unused(client_id who, const client_file& x, known& after);

  /// Bytes for a row, or nothing where they went to a file.
  using parts_of_body = std::vector<std::span<const std::byte>>;
  std::optional<transport::buffer> place(const std::string& name,
                                         parts_of_body parts);
  result<transport::buffer> bytes_of(const std::string& name,
                                     std::span<const std::byte> row) const;
  std::vector<client_id> all_clients();
  result<client_file> load_client(client_id who, known& found);
  result<std::map<std::uint64_t, state_ptr>> load_states(client_id who);
  result<std::vector<kept_offer>>
  load_outbox(client_id who, const std::map<std::uint64_t, state_ptr>& states);

  std::filesystem::path folder_;
  std::unique_ptr<sqlite::database> ledger_;
  std::map<client_id, known> known_;
  std::uint64_t last_state_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::vector<std::filesystem::path> unused_; ///< After the transaction.
  std::optional<error> failed_; ///< Of a file, in the transaction.
};

} // namespace troupe::actors
