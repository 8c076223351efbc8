#include "actors/record/sqlite_snapshot.hpp"

#include <array>
#include <string>

#include "actors/record/ledger_reader.hpp"
#include "actors/record/sqlite_digest.hpp"
#include "actors/record/sqlite_schema.hpp"

namespace troupe::actors::sqlite {

namespace {

constexpr const char* events_part = "events";

result<std::set<models::digest>> files_of_last(database& ledger) {
  std::set<models::digest> names;
  for (auto row =
         ledger.query("SELECT content FROM kept_values WHERE bytes IS NULL");
       row.next();)
    if (const auto name = from_hex(row.text(0)))
      names.insert(*name);
  return ledger.check().map([&] { return names; });
}

void copy_table(database& ledger, const std::string& from,
                const std::string& to) {
  ledger.run("DELETE FROM " + to);
  ledger.run("INSERT INTO " + to + " SELECT * FROM " + from);
}

void keep_tables(database& ledger) {
  for (const std::string table : changing_tables)
    copy_table(ledger, table, "kept_" + table);
  const bool again = ledger.query("SELECT 1 FROM kept_parts").next();
  for (const auto& [name, key] : client_tables) {
    const std::string table = name;
    if (again)
      ledger.run("INSERT OR REPLACE INTO kept_" + table + " SELECT " + table
                 + ".* FROM touched_" + table + " JOIN " + table + " USING ("
                 + key + ')');
    else
      copy_table(ledger, table, "kept_" + table);
    ledger.run("DELETE FROM touched_" + table);
  }
}

void bring_back_tables(database& ledger) {
  for (const std::string table : changing_tables)
    copy_table(ledger, "kept_" + table, table);
  for (const auto& x : client_tables) {
    const std::string table = x.name;
    copy_table(ledger, "kept_" + table, table);
    ledger.run("DELETE FROM touched_" + table);
  }
}

void insert_part(database& ledger, const std::string& name,
                 std::span<const std::byte> bytes) {
  ledger.run("INSERT INTO kept_parts VALUES (?, ?, ?)", name,
             models::to_hex(models::digest_of(bytes)), bytes);
}

result<void> read_values(database& ledger, const models::version_store& files,
                         snapshot& to) {
  for (auto row = ledger.query("SELECT content, bytes FROM kept_values");
       row.next();) {
    const auto name = from_hex(row.text(0));
    if (!name)
      return damaged_snapshot("a value without a digest");
    std::vector<std::byte> bytes;
    if (row.null(1)) {
      auto found = files.get(*name);
      if (!found)
        return tl::make_unexpected(found.error());
      bytes = std::move(*found);
    } else {
      bytes.assign(row.bytes(1).begin(), row.bytes(1).end());
    }
    if (models::digest_of(bytes) != *name)
      return damaged_snapshot("value " + row.text(0));
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty())
      std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    to.values[*name] = share(std::move(values));
  }
  return ledger.check();
}

result<kept_snapshot> read(database& ledger,
                           const models::version_store& files) {
  kept_snapshot x;
  for (auto row = ledger.query("SELECT name, digest, bytes FROM kept_parts");
       row.next();) {
    const auto bytes = row.bytes(2);
    if (models::to_hex(models::digest_of(bytes)) != row.text(1))
      return damaged_snapshot("part " + row.text(0));
    x.what.parts[row.text(0)].assign(bytes.begin(), bytes.end());
  }
  if (auto ok = ledger.check(); !ok)
    return tl::make_unexpected(ok.error());
  if (!x.what.parts.empty())
    restore(x.what, events_part, x.events_bytes);
  if (auto ok = read_values(ledger, files, x.what); !ok)
    return tl::make_unexpected(ok.error());
  return x;
}

} // namespace

result<std::set<models::digest>> keep(database& ledger,
                                      models::version_store& files,
                                      const kept_snapshot& x,
                                      std::size_t small_bytes_max) {
  auto before = files_of_last(ledger);
  if (!before)
    return before;
  for (const auto& [name, values] : x.what.values)
    if (values->size() * sizeof(float) > small_bytes_max)
      if (auto put = files.put(std::span<const float>{*values}); !put)
        return tl::make_unexpected(put.error());
  ledger.begin();
  const auto sums = sums_to_keep(ledger);
  keep_tables(ledger);
  ledger.run("DELETE FROM kept_parts");
  ledger.run("DELETE FROM kept_values");
  for (const auto& [name, bytes] : x.what.parts)
    insert_part(ledger, name, bytes);
  std::map<models::digest, shared_values> none;
  packer length{none};
  length(x.events_bytes);
  insert_part(ledger, events_part, length.take());
  for (const auto& [name, values] : x.what.values) {
    const auto bytes = std::as_bytes(std::span{*values});
    const auto* sql = "INSERT INTO kept_values VALUES (?, ?)";
    if (bytes.size() > small_bytes_max)
      ledger.run(sql, models::to_hex(name), std::nullopt);
    else
      ledger.run(sql, models::to_hex(name), bytes);
  }
  sign(ledger, sums);
  if (auto ok = ledger.commit(); !ok)
    return tl::make_unexpected(ok.error());
  std::erase_if(*before, [&](const auto& name) {
    return is_named(ledger, models::to_hex(name));
  });
  return before;
}

result<std::optional<kept_snapshot>>
rewind(database& ledger, const models::version_store& files) {
  if (auto ok = check_signed(ledger); !ok)
    return tl::make_unexpected(ok.error());
  auto found = read(ledger, files);
  if (!found)
    return tl::make_unexpected(found.error());
  if (found->what.parts.empty())
    return std::nullopt;
  if (auto ok = check_contents(ledger, files); !ok)
    return tl::make_unexpected(ok.error());
  ledger.begin();
  bring_back_tables(ledger);
  // Also what is of no line: it would be counted.
  for (const std::string table : {"versions", "blocks", "contents", "merges"})
    ledger.run("DELETE FROM " + table
               + " WHERE NOT EXISTS (SELECT 1 FROM lines WHERE lines.line = "
               + table + ".line AND version <= head)");
  if (auto ok = ledger.commit(); !ok)
    return tl::make_unexpected(ok.error());
  return std::optional{std::move(*found)};
}

result<std::set<models::digest>> named_files(database& ledger) {
  std::set<models::digest> named;
  for (auto row = ledger.query("SELECT content FROM contents WHERE bytes IS"
                               " NULL UNION SELECT content FROM kept_values"
                               " WHERE bytes IS NULL");
       row.next();)
    if (const auto name = from_hex(row.text(0)))
      named.insert(*name);
  return ledger.check().map([&] { return named; });
}

bool is_named(database& ledger, const std::string& content) {
  auto row = ledger.query(
    "SELECT 1 FROM contents WHERE content = ?1 AND bytes IS NULL UNION ALL"
    " SELECT 1 FROM kept_values WHERE content = ?1 AND bytes IS NULL",
    content);
  return row.next();
}

} // namespace troupe::actors::sqlite
