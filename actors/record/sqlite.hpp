#pragma once

// SQLite's interface with lifetimes and errors of our kind. Like the codec's
// reader, a database remembers the first thing that went wrong and does nothing
// after it, so that a transaction reads as its statements and is judged once,
// at its end.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace troupe::actors::sqlite {

class database;

/// What a query found, row by row. Columns count from 0. It must end before the
/// next run of the same statement.
class rows {
public:
  rows(rows&&) noexcept;
  ~rows();

  /// Goes on to the next row, the first at first. False at the end and after a
  /// failure.
  bool next();

  /// Integers are stored in two's complement, so that all 64 bits survive.
  std::uint64_t integer(int column) const;
  std::string text(int column) const;

  /// Valid until `next`; empty also for NULL.
  std::span<const std::byte> bytes(int column) const;
  bool null(int column) const;

  /// All columns, so that no two different rows have the same bytes.
  void append_to(std::vector<std::byte>& to) const;
  std::optional<double> real(int column) const; ///< Nothing for NULL.

private:
  friend class database;
  rows(database& owner, sqlite3_stmt* x) noexcept;

  database* owner_;
  sqlite3_stmt* statement_; ///< Null after a failure.
};

/// One connection, used by one thread at a time.
class database {
public:
  struct options {
    /// A commit waits for the disk. Without it a loss of power may take the
    /// last commits; the file stays whole.
    bool sync = true;
  };

  /// Opens the file or makes it, readable by its owner alone, with a
  /// write-ahead log: others may read it all the time.
  [[nodiscard]] static result<std::unique_ptr<database>>
  open(const std::filesystem::path& path, const options& opts);

  ~database();

  /// Runs a statement that has no rows. Integers, ids, texts and bytes may
  /// stand for its `?`, and `std::nullopt` for NULL.
  template <class... Ts>
  void run(std::string_view sql, const Ts&... values) {
    auto found = query(sql, values...);
    while (found.next())
      ;
  }

  template <class... Ts>
  rows query(std::string_view sql, const Ts&... values) {
    auto* statement = prepare(sql);
    int place = 0;
    (bind(statement, ++place, values), ...);
    return {*this, failure_ ? nullptr : statement};
  }

  void begin();

  /// Ends what `begin` began: all of it is stored or, if anything since then
  /// went wrong, nothing.
  [[nodiscard]] result<void> commit();

  void roll_back() noexcept;

  /// Looks at every page: nothing of the file's structure is damaged. What rows
  /// say is for others to judge.
  [[nodiscard]] result<void> check_structure();

  /// What went wrong since the last call of this or `begin`.
  [[nodiscard]] result<void> check();

private:
  friend class rows;
  explicit database(std::filesystem::path path) : path_(std::move(path)) {
    // nop
  }

  sqlite3_stmt* prepare(std::string_view sql);
  void judge(int code, const char* doing);

  void bind(sqlite3_stmt* to, int place, std::uint64_t x);
  void bind(sqlite3_stmt* to, int place, std::optional<double> x);
  void bind(sqlite3_stmt* to, int place, std::string_view x);
  void bind(sqlite3_stmt* to, int place, std::span<const std::byte> x);
  void bind(sqlite3_stmt* to, int place, std::nullopt_t);

  template <class Tag>
  void bind(sqlite3_stmt* to, int place, const id<Tag>& x) {
    bind(to, place, x.value);
  }

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> prepared_;
  std::optional<error> failure_;
};

} // namespace troupe::actors::sqlite
