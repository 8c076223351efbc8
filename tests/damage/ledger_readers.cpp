// A ledger and the snapshot in it, as `--resume` reads them: damaged as bytes,
// and row by row, where SQLite finds nothing wrong.

#include <fstream>
#include <set>

#include "actors/record/sqlite.hpp"
#include "actors/record/sqlite_store.hpp"
#include "actors/transport/codec.hpp"
#include "core/assert.hpp"
#include "tests/damage/reader.hpp"
#include "tests/damage/small_run.hpp"

namespace troupe::damage {

namespace {

namespace fs = std::filesystem;

using actors::packer;

/// All that a resumed run begins from, as bytes; nothing where it is refused.
std::optional<std::vector<std::byte>> resumed_from(const fs::path& folder) {
  const auto store = actors::make_sqlite_store(
    {.folder = folder, .durable = actors::durability::relaxed});
  if (!store)
    return std::nullopt;
  const auto found = (*store)->rewind();
  if (!found)
    return std::nullopt;
  if (!*found)
    return std::vector<std::byte>{}; // It begins again.
  const auto node = (*store)->load();
  if (!node)
    return std::nullopt;
  auto values = (*found)->values;
  packer pack{values};
  pack((*found)->parts);
  for (const auto& [line, x] : node->lines) {
    pack(line);
    pack(x.head);
    pack(x.round);
    for (const auto& [client, window] : x.merged) {
      pack(client);
      pack(window.highest());
      pack(window.bits());
    }
    for (const auto& block : x.blocks) {
      pack(block.block);
      pack(block.digest);
      pack(block.values);
      pack(block.moments);
    }
  }
  for (const auto& [client, x] : node->clients) {
    pack(client);
    pack(x.examples);
    pack(x.numbers_upto);
    pack(x.times_chosen);
    pack(x.loss);
  }
  pack(node->index_upto);
  pack(transport::encode_payload(node->round));
  pack(node->stopper.best);
  pack(node->stopper.since_best);
  pack(node->updates);
  pack(node->fruitful);
  pack(node->key);
  auto bytes = pack.take();
  for (const auto& [name, x] : values)
    bytes.insert(bytes.end(), reinterpret_cast<const std::byte*>(&name),
                 reinterpret_cast<const std::byte*>(&name) + sizeof name);
  return bytes;
}

/// A run's folder, whose ledger is put there again for each input.
class ledger_folder {
public:
  explicit ledger_folder(const fs::path& scratch)
    : folder_(small_run(scratch).folder),
      ledger_(contents(folder_ / "ledger.sqlite")),
      events_(contents(folder_ / "events.jsonl")) {
    whole_ = resumed_from(folder_).value();
    TROUPE_ASSERT(!whole_.empty());
  }

  const std::string& ledger() const noexcept {
    return ledger_;
  }

  verdict read(const std::string& bytes) const {
    for (const auto* log : {"ledger.sqlite-wal", "ledger.sqlite-shm"})
      fs::remove(folder_ / log);
    write(folder_ / "ledger.sqlite", bytes);
    write(folder_ / "events.jsonl", events_);
    const auto found = resumed_from(folder_);
    if (!found)
      return verdict::refused;
    // A run that begins again ends as it would have.
    return found->empty() || *found == whole_ ? verdict::accepted
                                              : verdict::wrong;
  }

  /// The ledger after something was done to it.
  std::string with(const std::string& sql) const {
    const auto path = folder_ / "altered.sqlite";
    write(path, ledger_);
    {
      auto db = actors::sqlite::database::open(path, {.sync = false}).value();
      db->run(sql);
      (void)db->check(); // Some rows may not be what is asked for.
    }
    return contents(path);
  }

private:
  fs::path folder_;
  std::string ledger_;
  std::string events_;
  std::vector<std::byte> whole_;
};

struct column {
  std::string table;
  std::string name;
  std::string key; ///< What tells rows of that table apart.
};

std::vector<column> columns_of(const std::string& ledger,
                               const fs::path& scratch) {
  const auto path = scratch / "columns.sqlite";
  write(path, ledger);
  auto db = actors::sqlite::database::open(path, {.sync = false}).value();
  std::vector<column> all;
  for (auto row = db->query(
         "SELECT m.name, p.name, (SELECT ifnull(group_concat(k.name), 'rowid')"
         " FROM pragma_table_info(m.name) k WHERE k.pk > 0)"
         " FROM sqlite_schema m, pragma_table_info(m.name) p"
         " WHERE m.type = 'table'");
       row.next();)
    all.push_back({row.text(0), row.text(1), row.text(2)});
  TROUPE_ASSERT(db->check() && all.size() > 40);
  return all;
}

/// One value of one row, or a row more or less, is another.
std::string change_of(const column& x, random_stream& draw) {
  constexpr std::array<const char*, 10> values{
    "NULL",   "0",     "-1",    "9223372036854775807",  "1e308",
    "'text'", "x'00'", "@ + 1", "replace(@, '1', '2')", "substr(@, 2)"};
  const auto which = "(" + x.key + ") IN (SELECT " + x.key + " FROM " + x.table
                     + " LIMIT 1 OFFSET " + std::to_string(draw.below(1 << 20))
                     + " % (SELECT max(1, count(*)) FROM " + x.table + "))";
  if (draw.chance(0.1))
    return "DELETE FROM " + x.table + " WHERE " + which;
  if (draw.chance(0.02))
    return "DELETE FROM " + x.table;
  std::string value = values[draw.below(values.size())];
  if (const auto at = value.find('@'); at != value.npos)
    value.replace(at, 1, x.name);
  return "UPDATE OR IGNORE " + x.table + " SET " + x.name + " = " + value
         + " WHERE " + which;
}

} // namespace

std::vector<reader> ledger_readers(const fs::path& scratch) {
  const auto in = std::make_shared<const ledger_folder>(scratch / "ledger");
  const auto columns = columns_of(in->ledger(), scratch);
  const auto read = [in](const std::string& x) { return in->read(x); };
  const std::string wrong = "a run that would go on from anything else";
  return {{.name = "ledger (--resume)",
           .counts_as_wrong = wrong,
           .text = false,
           .originals = {in->ledger()},
           .read = read,
           .slow = true},
          {.name = "snapshot (--resume)",
           .counts_as_wrong = wrong,
           .read = read,
           .alter =
             [=](random_stream& draw) {
               return in->with(
                 change_of(columns[draw.below(columns.size())], draw));
             },
           .slow = true}};
}

} // namespace troupe::damage
