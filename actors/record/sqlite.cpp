#include "actors/record/sqlite.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace troupe::actors::sqlite {

namespace {

/// How long a person's open transaction on the file may hold us up.
constexpr int patience_ms = 2000;

const char* remedy(int code, int system) {
  if (system == ENOSPC || system == EDQUOT || system == EFBIG)
    code = SQLITE_FULL;
  switch (code) {
    case SQLITE_FULL:
      return "the disk is full or a quota is reached: make room";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program has a transaction open on it: end that";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "it is damaged, or no ledger: restore it from a copy, or begin a "
             "new run in another folder";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return "make the file and its folder writable for this user";
    default:
      return "look at the disk; the same step can be tried again";
  }
}

/// What no disk can be the cause of.
bool is_no_disk(int code) noexcept {
  return code == SQLITE_CONSTRAINT || code == SQLITE_MISUSE
         || code == SQLITE_RANGE || code == SQLITE_MISMATCH;
}

} // namespace

rows::rows(database& owner, sqlite3_stmt* x) noexcept
  : owner_(&owner),
    statement_(x) {
  // nop
}

rows::rows(rows&& other) noexcept
  : owner_(other.owner_),
    statement_(std::exchange(other.statement_, nullptr)) {
  // nop
}

rows::~rows() {
  // What a reset returns was said by the step before.
  if (statement_ != nullptr) {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
}

bool rows::next() {
  if (statement_ == nullptr || owner_->failure_)
    return false;
  const auto code = sqlite3_step(statement_);
  if (code == SQLITE_ROW)
    return true;
  if (code != SQLITE_DONE)
    owner_->judge(code, "read or write");
  return false;
}

std::uint64_t rows::integer(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
}

std::string rows::text(int column) const {
  const auto* x = sqlite3_column_text(statement_, column);
  return x == nullptr ? "" : reinterpret_cast<const char*>(x);
}

std::span<const std::byte> rows::bytes(int column) const {
  const auto* x = sqlite3_column_blob(statement_, column);
  const auto size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const std::byte*>(x), static_cast<std::size_t>(size)};
}

bool rows::null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::optional<double> rows::real(int column) const {
  if (null(column))
    return std::nullopt;
  return sqlite3_column_double(statement_, column);
}

void rows::append_to(std::vector<std::byte>& to) const {
  const auto put = [&](const void* first, std::size_t size) {
    const auto* p = static_cast<const std::byte*>(first);
    to.insert(to.end(), p, p + size);
  };
  for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
    const auto type = sqlite3_column_type(statement_, i);
    to.push_back(static_cast<std::byte>(type));
    if (type == SQLITE_INTEGER) {
      const auto x = sqlite3_column_int64(statement_, i);
      put(&x, sizeof x);
    } else if (type == SQLITE_FLOAT) {
      const auto x = sqlite3_column_double(statement_, i);
      put(&x, sizeof x);
    } else if (type != SQLITE_NULL) {
      const auto* x = sqlite3_column_blob(statement_, i);
      const std::int64_t size = sqlite3_column_bytes(statement_, i);
      put(&size, sizeof size);
      put(x, static_cast<std::size_t>(size));
    }
  }
}

result<std::unique_ptr<database>>
database::open(const std::filesystem::path& path, const options& opts) {
  // It holds the key of the run's seal; SQLite would make it readable for all,
  // and gives the log beside it the same mode.
  const auto fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    const std::error_code code{errno, std::generic_category()};
    return fail(errc::storage_failure,
                path.string() + ": cannot open the file: " + code.message()
                  + "; " + remedy(SQLITE_CANTOPEN, code.value()));
  }
  ::close(fd);
  std::unique_ptr<database> x{new database{path}};
  x->judge(sqlite3_open_v2(path.c_str(), &x->handle_,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                           nullptr),
           "open the file");
  if (!x->failure_)
    sqlite3_busy_timeout(x->handle_, patience_ms);
  // What a damaged file claims is looked at before it is believed.
  x->run("PRAGMA cell_size_check = ON");
  x->run("PRAGMA trusted_schema = OFF");
  x->run("PRAGMA journal_mode = WAL");
  x->run(opts.sync ? "PRAGMA synchronous = FULL"
                   : "PRAGMA synchronous = NORMAL");
  if (auto ok = x->check(); !ok)
    return tl::unexpected{ok.error()};
  return x;
}

database::~database() {
  for (const auto& [sql, statement] : prepared_)
    sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

void database::begin() {
  failure_.reset();
  run("BEGIN IMMEDIATE");
}

result<void> database::commit() {
  run("COMMIT");
  if (failure_)
    roll_back();
  return check();
}

void database::roll_back() noexcept {
  // Some failures have ended the transaction already.
  if (sqlite3_get_autocommit(handle_) == 0)
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

result<void> database::check_structure() {
  std::string found;
  if (auto row = query("PRAGMA integrity_check(1)"); row.next())
    found = row.text(0);
  if (auto ok = check(); !ok || found == "ok")
    return ok;
  return fail(errc::storage_failure, path_.string() + ": "
                                       + found.substr(0, found.find('\n'))
                                       + "; " + remedy(SQLITE_CORRUPT, 0));
}

result<void> database::check() {
  if (!failure_)
    return {};
  return tl::unexpected{*std::exchange(failure_, std::nullopt)};
}

sqlite3_stmt* database::prepare(std::string_view sql) {
  if (failure_)
    return nullptr;
  if (const auto found = prepared_.find(sql); found != prepared_.end())
    return found->second;
  sqlite3_stmt* x = nullptr;
  judge(sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &x, nullptr),
        "prepare a statement");
  if (!failure_)
    prepared_.emplace(sql, x);
  return x;
}

void database::judge(int code, const char* doing) {
  if (code == SQLITE_OK || failure_)
    return;
  const auto system = sqlite3_system_errno(handle_);
  auto text =
    path_.string() + ": cannot " + doing + ": " + sqlite3_errmsg(handle_);
  if (is_no_disk(code & 0xff)) {
    failure_ = error{errc::invalid_argument, text
                                               + "; the ledger was changed by "
                                                 "others, or this is an error "
                                                 "of troupe: keep the folder"};
    return;
  }
  if ((code & 0xff) == SQLITE_IOERR && system != 0)
    text +=
      " (" + std::error_code{system, std::generic_category()}.message() + ")";
  const auto* help =
    remedy(code & 0xff, (code & 0xff) == SQLITE_IOERR ? system : 0);
  failure_ = error{errc::storage_failure, text + "; " + help};
}

void database::bind(sqlite3_stmt* to, int place, std::uint64_t x) {
  if (!failure_)
    judge(sqlite3_bind_int64(to, place, static_cast<sqlite3_int64>(x)),
          "bind a number");
}

void database::bind(sqlite3_stmt* to, int place, std::optional<double> x) {
  if (!x)
    return bind(to, place, std::nullopt);
  if (!failure_)
    judge(sqlite3_bind_double(to, place, *x), "bind a number");
}

void database::bind(sqlite3_stmt* to, int place, std::string_view x) {
  if (!failure_)
    judge(sqlite3_bind_text64(to, place, x.data(), x.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8),
          "bind a text");
}

void database::bind(sqlite3_stmt* to, int place, std::span<const std::byte> x) {
  // Without a pointer it would be NULL, which is not the same as empty.
  const void* first = x.empty() ? static_cast<const void*>("") : x.data();
  if (!failure_)
    judge(sqlite3_bind_blob64(to, place, first, x.size(), SQLITE_TRANSIENT),
          "bind bytes");
}

void database::bind(sqlite3_stmt* to, int place, std::nullopt_t) {
  if (!failure_)
    judge(sqlite3_bind_null(to, place), "bind nothing");
}

} // namespace troupe::actors::sqlite
