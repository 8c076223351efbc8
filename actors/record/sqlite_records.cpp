#include "actors/record/sqlite_records.hpp"

#include <optional>
#include <string>

#include "actors/record/sqlite_schema.hpp"
#include "actors/transport/codec.hpp"
#include "policies/visit_window.hpp"

namespace troupe::actors::sqlite {

using bytes_view = std::span<const std::byte>;

result<void> save(database& db, const messages::save_requested& x) {
  db.begin();
  for (const auto& c : x.clients)
    db.run("INSERT OR REPLACE INTO clients VALUES (?, ?, ?, ?, ?)", c.client,
           c.examples, c.numbers_upto, c.times_chosen, c.loss);
  db.run("INSERT INTO reservations VALUES ('index', ?) ON CONFLICT DO UPDATE"
         " SET upto = max(upto, excluded.upto)",
         x.index_upto);
  if (x.end != messages::course_end::none)
    db.run("INSERT OR REPLACE INTO reservations VALUES (?, ?)", end_key,
           static_cast<std::uint64_t>(x.end));
  for (const auto& visit : x.last_visits)
    db.run("INSERT OR REPLACE INTO reservations VALUES (?, ?)",
           std::string{last_visit_key} + std::to_string(visit.client.value),
           visit.number);
  if (x.round)
    db.run("INSERT OR REPLACE INTO rounds VALUES (0, ?, ?, ?)", x.round->round,
           x.round->closed, bytes_view{transport::encode_payload(*x.round)});
  if (x.stopper)
    db.run("INSERT OR REPLACE INTO stopper VALUES (0, ?, ?)", x.stopper->best,
           x.stopper->since_best);
  return db.commit();
}

result<void> insert_merges(database& db, const messages::commit_requested& x) {
  for (const auto& visit : x.merged) {
    policies::visit_window window;
    if (auto row = db.query("SELECT highest, bits FROM windows"
                            " WHERE line = ? AND client = ?",
                            x.line, visit.client);
        row.next())
      window = {visit_number{row.integer(0)}, row.integer(1)};
    if (window.of(visit.number) == policies::visit_window::state::merged)
      return fail(errc::storage_failure,
                  "visit " + std::to_string(visit.number.value) + " of client "
                    + std::to_string(visit.client.value)
                    + " is merged already; nothing was stored");
    window.insert(visit.number);
    db.run("INSERT INTO windows VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
           " SET highest = excluded.highest, bits = excluded.bits",
           x.line, visit.client, window.highest(), window.bits());
    db.run("INSERT INTO merges VALUES (?, ?, ?, ?)", x.line, x.head,
           visit.client, visit.number);
  }
  return {};
}

} // namespace troupe::actors::sqlite
