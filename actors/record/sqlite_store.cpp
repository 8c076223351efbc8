#include "actors/record/sqlite_store.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/record/folder_lock.hpp"
#include "actors/record/ledger_reader.hpp"
#include "actors/record/line_file.hpp"
#include "actors/record/record_end.hpp"
#include "actors/record/sqlite.hpp"
#include "actors/record/sqlite_contents.hpp"
#include "actors/record/sqlite_digest.hpp"
#include "actors/record/sqlite_records.hpp"
#include "actors/record/sqlite_schema.hpp"
#include "actors/record/sqlite_snapshot.hpp"
#include "actors/transport/codec.hpp"
#include "core/limits.hpp"
#include "core/random.hpp"
#include "models/layout.hpp"
#include "models/version_store.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

using sqlite::content;
using sqlite::contents_of;

class sqlite_store final : public store {
public:
  struct parts {
    sqlite_options opts;
    folder_lock lock;
    std::unique_ptr<sqlite::database> ledger;
    models::version_store files;
    line_file events;
    line_file metrics;
    std::shared_ptr<arrivals> arrived; ///< May be null.
  };

  explicit sqlite_store(parts x) : x_(std::move(x)) {
    // nop
  }

  /// Makes the tables if they are not there, and tidies up after a crash.
  result<void> begin_ledger();
  result<void> cut_record();

  result<stored_node> load() override {
    return sqlite::ledger_reader{*x_.ledger, x_.files, x_.opts.folder}.read();
  }

  result<void>
  begin(line_id line,
        const std::vector<messages::merged_block>& blocks) override;

  result<void> commit(const messages::commit_requested& x) override;

  bool reads() const noexcept override {
    return true;
  }

  result<std::optional<messages::version_published>>
  read(const messages::version_wanted& x) override {
    return sqlite::ledger_reader{*x_.ledger, x_.files, x_.opts.folder}
      .read_version(x);
  }

  result<void> save(const messages::save_requested& x) override {
    return sqlite::save(*x_.ledger, x);
  }

  result<void> note(const messages::line_noted& x) override {
    using file = messages::line_noted::file;
    auto& to = x.where == file::events ? x_.events : x_.metrics;
    auto done = to.append(x.text);
    if (done && x_.opts.writes_each_line)
      (void)to.flush({}); // What is not written yet waits for the next.
    return done;
  }

  std::shared_ptr<arrivals> arrived() const override {
    return x_.arrived;
  }

  result<void> flush() override;
  result<void> keep(const snapshot& x) override;

  result<std::optional<snapshot>> rewind() override;

private:
  using dropped_files = std::set<std::string>;

  bool full() const noexcept {
    return x_.opts.durable == durability::full;
  }

  bool is_small(const content& x) const noexcept {
    return x.bytes.size() <= x_.opts.small_bytes_max;
  }

  std::optional<version> head_of(line_id line);
  result<void> place(std::vector<content>& all);
  void insert_version(const messages::commit_requested& x,
                      const std::vector<content>& all);
  dropped_files drop_old(line_id line, version head);
  void remove_files(const dropped_files& names);

  parts x_;
};

// -- beginning ---------------------------------------------------------------

result<void> sqlite_store::begin_ledger() {
  auto& db = *x_.ledger;
  db.begin();
  bool is_new = false;
  if (auto found = db.query("SELECT count(*) FROM sqlite_schema"); found.next())
    is_new = found.integer(0) == 0;
  if (is_new) {
    for (const auto* sql : sqlite::schema)
      db.run(sql);
    messages::seal_key key{};
    draw_secret(key);
    db.run("INSERT INTO meta VALUES ('schema_version', ?), ('seal_key', ?),"
           " ('run', ?)",
           std::to_string(sqlite::schema_version), models::to_hex(key),
           x_.opts.run);
  }
  if (auto ok = db.commit(); !ok)
    return ok;
  sqlite::ledger_reader reader{db, x_.files, x_.opts.folder};
  if (auto key = reader.read_key(); !key)
    return tl::unexpected{key.error()};
  // Before any file is removed that a damaged ledger does not name.
  const auto is_ours = [&] { return sqlite::check_run(db, x_.opts.run); };
  const auto is_whole = [&] { return sqlite::check_signed(db); };
  if (!is_new)
    if (auto ok = db.check_structure().and_then(is_ours).and_then(is_whole);
        !ok)
      return ok;
  const auto named = sqlite::named_files(db);
  if (!named)
    return tl::unexpected{named.error()};
  return x_.files.retain(*named).map([](std::size_t) {}).and_then([this] {
    return cut_record();
  });
}

// A version is recorded right before its commit: one that the ledger does not
// have was not made, and it is the last that the process wrote.
result<void> sqlite_store::cut_record() {
  const auto end = sqlite::end_of_record(
    x_.opts.folder / "events.jsonl", sqlite::record_bytes(*x_.ledger),
    [this](line_id line) { return head_of(line); });
  if (!end)
    return tl::make_unexpected(end.error());
  if (auto ok = x_.ledger->check(); !ok)
    return ok;
  return *end ? x_.events.cut(**end) : result<void>{};
}

// -- storing ---------------------------------------------------------------

result<void>
sqlite_store::begin(line_id line,
                    const std::vector<messages::merged_block>& blocks) {
  const auto head = head_of(line);
  if (auto ok = x_.ledger->check(); !ok || head)
    return ok;
  auto all = contents_of(blocks);
  if (auto ok = place(all); !ok)
    return ok;
  x_.ledger->begin();
  insert_version(
    {.line = line, .head = {}, .round = {}, .blocks = blocks, .merged = {}},
    all);
  return x_.ledger->commit();
}

result<void> sqlite_store::commit(const messages::commit_requested& x) {
  const auto head = head_of(x.line);
  if (auto ok = x_.ledger->check(); !ok)
    return ok;
  const auto name = "line " + std::to_string(x.line.value);
  if (!head)
    return fail(errc::storage_failure, name + ": there is no such line");
  if (x.head != *head && x.head != next(*head))
    return fail(errc::storage_failure,
                name + ": versions must form a line: the head is "
                  + std::to_string(head->value) + ", asked for was "
                  + std::to_string(x.head.value));
  if (auto ok = flush(); !ok || x.head == *head)
    return ok;
  auto all = contents_of(x.blocks);
  if (auto ok = place(all); !ok)
    return ok;
  x_.ledger->begin();
  insert_version(x, all);
  sqlite::note_record_bytes(*x_.ledger, x_.events.size());
  if (auto ok = sqlite::insert_merges(*x_.ledger, x); !ok) {
    x_.ledger->roll_back();
    return ok;
  }
  const auto dropped = drop_old(x.line, x.head);
  auto ok = x_.ledger->commit();
  if (ok)
    remove_files(dropped);
  return ok;
}

std::optional<version> sqlite_store::head_of(line_id line) {
  auto row = x_.ledger->query("SELECT head FROM lines WHERE line = ?", line);
  if (!row.next())
    return std::nullopt;
  return version{row.integer(0)};
}

// What is large is in its file before the ledger names it.
result<void> sqlite_store::place(std::vector<content>& all) {
  for (auto& x : all) {
    if (is_small(x)) {
      x.name = models::digest_of(x.bytes);
      continue;
    }
    const auto name = x_.files.put(x.bytes);
    if (!name)
      return tl::unexpected{name.error()};
    x.name = *name;
  }
  return {};
}

void sqlite_store::insert_version(const messages::commit_requested& x,
                                  const std::vector<content>& all) {
  auto& db = *x_.ledger;
  db.run("INSERT INTO lines VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
         " SET head = excluded.head, round = excluded.round",
         x.line, x.head, x.round);
  db.run("INSERT INTO versions VALUES (?, ?, ?, ?)", x.line, x.head, x.round,
         models::to_hex(sqlite::digest_of(x.blocks)));
  for (const auto& b : x.blocks)
    db.run("INSERT INTO blocks VALUES (?, ?, ?, ?)", x.line, x.head, b.block,
           models::to_hex(b.digest));
  const auto* sql = "INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)";
  for (const auto& c : all) {
    const auto name = models::to_hex(c.name);
    if (is_small(c))
      db.run(sql, x.line, x.head, c.block, c.what, c.count, name, c.bytes);
    else
      db.run(sql, x.line, x.head, c.block, c.what, c.count, name, std::nullopt);
  }
}

sqlite_store::dropped_files sqlite_store::drop_old(line_id line, version head) {
  // Of the moments, the head's alone are needed to go on; and a snapshot may
  // be gone back to.
  const auto kept = std::max<std::uint64_t>(x_.opts.retention, 1);
  const auto keep_from = head.value < kept ? 0 : head.value - kept + 1;
  dropped_files dropped;
  for (auto row = x_.ledger->query(
         "SELECT content FROM contents WHERE line = ?1 AND bytes IS NULL"
         " AND (version < ?2 OR (version < ?3 AND what = 'moments'))"
         " AND version NOT IN"
         " (SELECT head FROM kept_lines k WHERE k.line = ?1)",
         line, keep_from, head);
       row.next();)
    dropped.insert(row.text(0));
  x_.ledger->run("DELETE FROM contents WHERE line = ?1"
                 " AND (version < ?2 OR (version < ?3 AND what = 'moments'))"
                 " AND version NOT IN"
                 " (SELECT head FROM kept_lines k WHERE k.line = ?1)",
                 line, keep_from, head);
  return dropped;
}

// A file that stays behind costs space until the next start, and no version.
void sqlite_store::remove_files(const dropped_files& names) {
  for (const auto& text : names)
    if (const auto name = sqlite::from_hex(text);
        name && !sqlite::is_named(*x_.ledger, text) && x_.ledger->check())
      (void)x_.files.remove(*name);
}

result<void> sqlite_store::flush() {
  const line_file::flush_options opts{.sync = full()};
  if (auto ok = x_.events.flush(opts); !ok)
    return ok;
  return x_.metrics.flush(opts);
}

result<void> sqlite_store::keep(const snapshot& x) {
  if (auto ok = flush(); !ok)
    return ok;
  const auto dropped = sqlite::keep(
    *x_.ledger, x_.files, {.what = x, .events_bytes = x_.events.size()},
    x_.opts.small_bytes_max);
  if (!dropped)
    return tl::make_unexpected(dropped.error());
  for (const auto& name : *dropped)
    (void)x_.files.remove(name); // Else the next start does.
  return {};
}

result<std::optional<snapshot>> sqlite_store::rewind() {
  auto found = sqlite::rewind(*x_.ledger, x_.files);
  if (!found)
    return tl::make_unexpected(found.error());
  if (!*found)
    return std::nullopt;
  if (auto ok = x_.events.cut((*found)->events_bytes); !ok)
    return tl::make_unexpected(ok.error());
  return std::move((*found)->what);
}

} // namespace

result<std::unique_ptr<store>> make_sqlite_store(const sqlite_options& opts) {
  std::error_code code;
  fs::create_directories(opts.folder, code);
  if (code)
    return fail(errc::storage_failure,
                opts.folder.string()
                  + ": cannot make the folder: " + code.message());
  auto lock = folder_lock::take(opts.folder, "ledger.lock");
  if (!lock)
    return tl::unexpected{lock.error()};
  const bool sync = opts.durable == durability::full;
  auto ledger =
    sqlite::database::open(opts.folder / "ledger.sqlite", {.sync = sync});
  if (!ledger)
    return tl::unexpected{ledger.error()};
  auto files =
    models::version_store::open(opts.folder / "versions", {.sync = sync});
  if (!files)
    return tl::unexpected{files.error()};
  auto events = line_file::open(opts.folder / "events.jsonl");
  if (!events)
    return tl::unexpected{events.error()};
  auto metrics = line_file::open(opts.folder / "metrics.jsonl");
  if (!metrics)
    return tl::unexpected{metrics.error()};
  auto made = std::make_unique<sqlite_store>(sqlite_store::parts{
    .opts = opts,
    .lock = std::move(*lock),
    .ledger = std::move(*ledger),
    .files = std::move(*files),
    .events = std::move(*events),
    .metrics = std::move(*metrics),
    .arrived = sync ? make_arrivals({.folder = opts.folder / "arrivals",
                                     .outlives = opts.offers_outlive})
                    : nullptr});
  if (auto ok = made->begin_ledger(); !ok)
    return tl::unexpected{ok.error()};
  return std::unique_ptr<store>{std::move(made)};
}

} // namespace troupe::actors
