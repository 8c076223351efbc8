#include "actors/record/sqlite_records.hpp"

#include "actors/transport/codec.hpp"

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
  if (x.round)
    db.run("INSERT OR REPLACE INTO rounds VALUES (0, ?, ?, ?)", x.round->round,
           x.round->closed, bytes_view{transport::encode_payload(*x.round)});
  if (x.stopper)
    db.run("INSERT OR REPLACE INTO stopper VALUES (0, ?, ?)", x.stopper->best,
           x.stopper->since_best);
  return db.commit();
}

} // namespace troupe::actors::sqlite
