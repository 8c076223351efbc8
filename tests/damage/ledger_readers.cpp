// A ledger and the snapshot in it, as `--resume` reads them: damaged as bytes,
// and row by row, where SQLite finds nothing wrong.

#include <fstream>
#include <set>

#include "actors/record/sqlite_store.hpp"
#include "actors/transport/codec.hpp"
#include "core/assert.hpp"
#include "tests/damage/reader.hpp"
#include "tests/damage/rows.hpp"
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

private:
  fs::path folder_;
  std::string ledger_;
  std::string events_;
  std::vector<std::byte> whole_;
};

} // namespace

std::vector<reader> ledger_readers(const fs::path& scratch) {
  const auto in = std::make_shared<const ledger_folder>(scratch / "ledger");
  const auto columns = columns_of(in->ledger(), scratch);
  TROUPE_ASSERT(columns.size() > 40);
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
               return changed(in->ledger(), scratch,
                              columns[draw.below(columns.size())], draw);
             },
           .slow = true}};
}

} // namespace troupe::damage
