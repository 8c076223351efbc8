#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace troupe::actors::sqlite {

/// Raised when an older build would misread the ledger.
inline constexpr std::uint64_t schema_version = 3;

inline constexpr std::array schema{
  "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
  // Where each version line stands. `round` is the last that made a version.
  "CREATE TABLE lines (line INTEGER PRIMARY KEY, head INTEGER NOT NULL,"
  " round INTEGER NOT NULL) STRICT",
  "CREATE TABLE versions (line INTEGER, version INTEGER, round INTEGER NOT "
  "NULL,"
  " digest TEXT NOT NULL, PRIMARY KEY (line, version)) STRICT, WITHOUT ROWID",
  "CREATE TABLE blocks (line INTEGER, version INTEGER, block INTEGER,"
  " digest TEXT NOT NULL,"
  " PRIMARY KEY (line, version, block)) STRICT, WITHOUT ROWID",
  // What is still there of a version: values (float32) and, of the head alone,
  // the moments (float64) of the server optimiser. `content` is the digest of
  // the bytes; where `bytes` is NULL it is also the name of their file in
  // versions/.
  "CREATE TABLE contents (line INTEGER, version INTEGER, block INTEGER, what "
  "TEXT,"
  " count INTEGER NOT NULL, content TEXT NOT NULL, bytes BLOB,"
  " PRIMARY KEY (line, version, block, what)) STRICT",
  "CREATE INDEX files ON contents (content) WHERE bytes IS NULL",
  "CREATE TABLE merges (line INTEGER, version INTEGER, client INTEGER,"
  " number INTEGER,"
  " PRIMARY KEY (line, version, client, number)) STRICT, WITHOUT ROWID",
  // Bit k of `bits` says that the visit `highest - k` is merged.
  "CREATE TABLE windows (line INTEGER, client INTEGER, highest INTEGER NOT "
  "NULL,"
  " bits INTEGER NOT NULL, PRIMARY KEY (line, client)) STRICT, WITHOUT ROWID",
  // `loss` is that of its last visit.
  "CREATE TABLE clients (client INTEGER PRIMARY KEY, examples INTEGER NOT NULL,"
  " numbers_upto INTEGER NOT NULL, times_chosen INTEGER NOT NULL, loss REAL)"
  " STRICT",
  "CREATE TABLE reservations (what TEXT PRIMARY KEY, upto INTEGER NOT NULL) "
  "STRICT",
  // One row: the best that `stop` has seen, and how often it was not better.
  "CREATE TABLE stopper (slot INTEGER PRIMARY KEY CHECK (slot = 0), best REAL,"
  " since_best INTEGER NOT NULL) STRICT",
  // One row: where a run in rounds stands. `record` is the wire's encoding.
  "CREATE TABLE rounds (slot INTEGER PRIMARY KEY CHECK (slot = 0),"
  " round INTEGER NOT NULL, closed INTEGER NOT NULL, record BLOB NOT NULL) "
  "STRICT",
  // The last snapshot of a simulated run: its actors' state, the values that it
  // names (as in `contents`) and the tables as they were.
  "CREATE TABLE kept_parts (name TEXT PRIMARY KEY, digest TEXT NOT NULL,"
  " bytes BLOB NOT NULL) STRICT",
  "CREATE TABLE kept_values (content TEXT PRIMARY KEY, bytes BLOB) STRICT",
  "CREATE TABLE kept_lines AS SELECT * FROM lines",
  "CREATE TABLE kept_windows AS SELECT * FROM windows",
  "CREATE TABLE kept_clients AS SELECT * FROM clients",
  "CREATE TABLE kept_reservations AS SELECT * FROM reservations",
  "CREATE TABLE kept_stopper AS SELECT * FROM stopper",
  "CREATE TABLE kept_rounds AS SELECT * FROM rounds",
  // Which rows of the large tables changed since, so that the next one copies
  // no others. Without a snapshot nobody asks.
  "CREATE UNIQUE INDEX kept_lines_key ON kept_lines (line)",
  "CREATE UNIQUE INDEX kept_windows_key ON kept_windows (line, client)",
  "CREATE UNIQUE INDEX kept_clients_key ON kept_clients (client)",
  "CREATE TABLE touched_windows (line INTEGER, client INTEGER,"
  " PRIMARY KEY (line, client)) STRICT, WITHOUT ROWID",
  "CREATE TABLE touched_clients (client INTEGER PRIMARY KEY) STRICT",
  // Without OR IGNORE, in whose place stands what the outer statement says.
  "CREATE TRIGGER windows_made AFTER INSERT ON windows"
  " WHEN EXISTS (SELECT 1 FROM kept_parts) BEGIN"
  " INSERT INTO touched_windows SELECT new.line, new.client WHERE NOT EXISTS"
  " (SELECT 1 FROM touched_windows"
  " WHERE line = new.line AND client = new.client); END",
  "CREATE TRIGGER windows_changed AFTER UPDATE ON windows"
  " WHEN EXISTS (SELECT 1 FROM kept_parts) BEGIN"
  " INSERT INTO touched_windows SELECT new.line, new.client WHERE NOT EXISTS"
  " (SELECT 1 FROM touched_windows"
  " WHERE line = new.line AND client = new.client); END",
  "CREATE TRIGGER clients_made AFTER INSERT ON clients"
  " WHEN EXISTS (SELECT 1 FROM kept_parts) BEGIN"
  " INSERT INTO touched_clients SELECT new.client WHERE NOT EXISTS"
  " (SELECT 1 FROM touched_clients WHERE client = new.client); END",
  // Whether a snapshot is what was written: sqlite_digest.hpp says how. What it
  // counts of `contents` and retention has dropped since is noted down.
  "CREATE TABLE kept_digest (slot INTEGER PRIMARY KEY CHECK (slot = 0),"
  " build TEXT NOT NULL, digest TEXT NOT NULL) STRICT",
  "CREATE TABLE kept_sums (name TEXT PRIMARY KEY, sum BLOB NOT NULL) STRICT",
  "CREATE TABLE dropped_contents (line INTEGER, version INTEGER, block INTEGER,"
  " what TEXT, count INTEGER, content TEXT, in_file INTEGER,"
  " PRIMARY KEY (line, version, block, what)) STRICT, WITHOUT ROWID",
  "CREATE TRIGGER contents_dropped AFTER DELETE ON contents WHEN old.version <="
  " (SELECT head FROM kept_lines WHERE line = old.line) BEGIN"
  " INSERT INTO dropped_contents VALUES (old.line, old.version, old.block,"
  " old.what, old.count, old.content, old.bytes IS NULL); END",
};

/// Rows of `reservations` beside "index": why a run has come to its last visits
/// (`course_end`), and the number of each client's, behind its own.
inline constexpr const char* end_key = "end";
inline constexpr std::string_view last_visit_key = "last visit of client ";

/// Those whose rows change while a run goes on, and are few; other tables only
/// grow.
inline constexpr std::array changing_tables{"lines", "reservations", "stopper",
                                            "rounds"};

/// Those that change and have a row for each client, with what names a row.
struct client_table {
  const char* name;
  const char* key;
};

inline constexpr std::array client_tables{
  client_table{"windows", "line, client"}, client_table{"clients", "client"}};

/// Those that only grow, a version's rows at a time, with what a digest has of
/// a row: large bytes have a digest of their own in it.
struct version_table {
  const char* name;
  const char* columns;
};

inline constexpr std::array version_tables{
  version_table{"versions", "*"}, version_table{"blocks", "*"},
  version_table{"merges", "*"},
  version_table{"contents", "line, version, block, what, count, content,"
                            " bytes IS NULL"}};

} // namespace troupe::actors::sqlite
