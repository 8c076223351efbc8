#include "tests/damage/rows.hpp"

#include <array>

#include "actors/record/sqlite.hpp"
#include "core/assert.hpp"
#include "tests/damage/reader.hpp"

namespace troupe::damage {

namespace {

namespace fs = std::filesystem;

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

std::vector<column> columns_of(const std::string& file,
                               const fs::path& scratch) {
  const auto path = scratch / "columns.sqlite";
  write(path, file);
  auto db = actors::sqlite::database::open(path, {.sync = false}).value();
  std::vector<column> all;
  for (auto row = db->query(
         "SELECT m.name, p.name, (SELECT ifnull(group_concat(k.name), 'rowid')"
         " FROM pragma_table_info(m.name) k WHERE k.pk > 0)"
         " FROM sqlite_schema m, pragma_table_info(m.name) p"
         " WHERE m.type = 'table'");
       row.next();)
    all.push_back({row.text(0), row.text(1), row.text(2)});
  TROUPE_ASSERT(db->check());
  return all;
}

std::string changed(const std::string& file, const fs::path& scratch,
                    const column& x, random_stream& draw) {
  const auto path = scratch / "altered.sqlite";
  write(path, file);
  {
    auto db = actors::sqlite::database::open(path, {.sync = false}).value();
    db->run(change_of(x, draw));
    (void)db->check(); // Some rows may not be what is asked for.
  }
  return contents(path);
}

} // namespace troupe::damage
