#include "actors/client_store/client_table.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "actors/client_store/sealed_body.hpp"
#include "actors/client_store/stored_file.hpp"
#include "actors/transport/envelope.hpp"
#include "actors/transport/rope.hpp"
#include "models/files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

constexpr const char* ledger_name = "clients.sqlite";

constexpr std::array schema{
  "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
  "CREATE TABLE clients (client INTEGER PRIMARY KEY, incarnation INTEGER NOT "
  "NULL, last INTEGER NOT NULL, state INTEGER NOT NULL, declined INTEGER NOT "
  "NULL, open BLOB)",
  "CREATE TABLE states (state INTEGER PRIMARY KEY, client INTEGER NOT NULL, "
  "body BLOB)",
  "CREATE TABLE offers (client INTEGER NOT NULL, number INTEGER NOT NULL, "
  "unanswered BLOB NOT NULL, refused INTEGER NOT NULL, next INTEGER NOT NULL, "
  "body BLOB, PRIMARY KEY (client, number))"};

std::string state_name(std::uint64_t row) {
  return "state-" + std::to_string(row);
}

std::string offer_name(client_id who, visit_number number) {
  return "offer-" + std::to_string(who.value) + "-"
         + std::to_string(number.value);
}

/// 0: none; else one more than the reason.
std::uint64_t code_of(const std::optional<messages::decline_reason>& x) {
  return x ? static_cast<std::uint64_t>(*x) + 1 : 0;
}

auto damaged(const std::string& what) {
  return fail(errc::storage_failure, what);
}

} // namespace

client_table::client_table(fs::path folder,
                           std::unique_ptr<sqlite::database> ledger)
  : folder_(std::move(folder)),
    ledger_(std::move(ledger)) {
  // nop
}

result<std::unique_ptr<client_table>>
client_table::open(const fs::path& folder, const std::string& run) {
  auto ledger =
    sqlite::database::open(folder / ledger_name, sqlite::database::options{});
  if (!ledger)
    return tl::make_unexpected(ledger.error());
  std::unique_ptr<client_table> out{
    new client_table{folder, std::move(*ledger)}};
  if (auto ok = out->begin(run); !ok)
    return tl::make_unexpected(ok.error());
  return out;
}

result<void> client_table::begin(const std::string& run) {
  auto& db = *ledger_;
  db.begin();
  bool is_new = false;
  if (auto found = db.query("SELECT count(*) FROM sqlite_schema"); found.next())
    is_new = found.integer(0) == 0;
  if (is_new) {
    if (auto ok = check_is_new(); !ok)
      return ok;
    for (const auto* sql : schema)
      db.run(sql);
    db.run("INSERT INTO meta VALUES ('schema_version', ?), ('run', ?)",
           std::to_string(schema_version), run);
  }
  if (auto ok = db.commit(); !ok)
    return ok;
  std::map<std::string, std::string> meta;
  {
    auto found = db.query("SELECT name, value FROM meta");
    while (found.next())
      meta[found.text(0)] = found.text(1);
  }
  if (auto ok = db.check(); !ok)
    return ok;
  const auto where = (folder_ / ledger_name).string();
  if (meta["schema_version"] != std::to_string(schema_version))
    return damaged(where + " has version " + meta["schema_version"]
                   + "; this build reads " + std::to_string(schema_version));
  if (meta["run"] != run)
    return damaged(where + " is of another run");
  if (auto found = db.query("SELECT max(state) FROM states"); found.next())
    last_state_ = found.integer(0);
  return db.check();
}

std::optional<transport::buffer> client_table::place(const std::string& name,
                                                     parts_of_body parts) {
  const auto seal = seal_of(parts);
  parts.push_back(seal);
  std::uint64_t size = 0;
  for (const auto part : parts)
    size += part.size();
  bytes_written_ += size;
  if (size <= row_bytes_max) {
    transport::buffer all;
    for (const auto part : parts)
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  if (auto ok = models::replace_file(folder_ / name, parts, {.sync = true});
      !ok && !failed_)
    failed_ = ok.error();
  return std::nullopt;
}

std::optional<std::uint64_t>
client_table::row_of(client_id who, const state_ptr& x, known& after) {
  if (!x)
    return 0;
  for (const auto& [row, state] : after.states)
    if (state == x)
      return row;
  const auto row = ++last_state_;
  const auto bytes = encode_state(*x);
  const auto body = place(state_name(row), {bytes});
  if (body)
    ledger_->run("INSERT INTO states VALUES (?, ?, ?)", row, who,
                 std::span<const std::byte>{*body});
  else
    ledger_->run("INSERT INTO states VALUES (?, ?, ?)", row, who, std::nullopt);
  after.states[row] = x;
  return row;
}

void client_table::add_offer(client_id who, const kept_offer& x,
                             std::optional<std::uint64_t> next) {
  const auto number = x.offer.pass.visit.number;
  const auto frame = transport::frame_parts(x.offer);
  parts_of_body parts;
  for (const auto& part : frame)
    parts.push_back(part.bytes);
  const auto body = place(offer_name(who, number), std::move(parts));
  const auto unanswered = encode_unanswered(x.unanswered);
  const auto insert = [&](const auto& bytes) {
    ledger_->run("INSERT INTO offers VALUES (?, ?, ?, ?, ?, ?)", who, number,
                 std::span<const std::byte>{unanswered},
                 std::uint64_t{x.refused}, next.value_or(0), bytes);
  };
  if (body)
    insert(std::span<const std::byte>{*body});
  else
    insert(std::nullopt);
}

// Values that a server has durably. What is still large stays as it was: it is
// only more than is needed.
void client_table::shorten_offer(client_id who, const kept_offer& x) {
  const auto number = x.offer.pass.visit.number;
  auto bytes = transport::encode(x.offer);
  const std::array parts{std::span<const std::byte>{bytes}};
  const auto sum = seal_of(parts);
  bytes.insert(bytes.end(), sum.begin(), sum.end());
  bytes_written_ += bytes.size();
  ledger_->run("UPDATE offers SET body = ? WHERE client = ? AND number = ?",
               std::span<const std::byte>{bytes}, who, number);
  unused_.push_back(folder_ / offer_name(who, number));
}

void client_table::save(client_id who, const client_file& x, known& after) {
  const auto current = row_of(who, x.state, after);
  for (const auto& kept : x.outbox) {
    const auto number = kept.offer.pass.visit.number;
    const auto next = row_of(who, kept.next, after);
    const auto blocks = kept.offer.blocks.size();
    const auto [known, is_new] = after.offers.try_emplace(number, blocks);
    if (!is_new && known->second != blocks
        && transport::encoded_size(kept.offer) <= row_bytes_max) {
      shorten_offer(who, kept);
      known->second = blocks;
    }
    if (is_new)
      add_offer(who, kept, next);
    else
      ledger_->run(
        "UPDATE offers SET unanswered = ?, refused = ?, next = ? "
        "WHERE client = ? AND number = ?",
        std::span<const std::byte>{encode_unanswered(kept.unanswered)},
        std::uint64_t{kept.refused}, next.value_or(0), who, number);
  }
  const auto update = [&](const auto& open) {
    ledger_->run("INSERT OR REPLACE INTO clients VALUES (?, ?, ?, ?, ?, ?)",
                 who, x.incarnation, x.last, current.value_or(0),
                 code_of(x.declined), open);
  };
  if (x.open)
    update(std::span<const std::byte>{encode_open(*x.open)});
  else
    update(std::nullopt);
  drop_unused(who, x, after);
}

void client_table::drop_unused(client_id who, const client_file& x,
                               known& after) {
  std::set<visit_number> offers;
  std::set<state_ptr> states{x.state};
  for (const auto& kept : x.outbox) {
    offers.insert(kept.offer.pass.visit.number);
    states.insert(kept.next);
  }
  for (auto i = after.offers.begin(); i != after.offers.end();) {
    if (offers.contains(i->first)) {
      ++i;
      continue;
    }
    ledger_->run("DELETE FROM offers WHERE client = ? AND number = ?", who,
                 i->first);
    unused_.push_back(folder_ / offer_name(who, i->first));
    i = after.offers.erase(i);
  }
  for (auto i = after.states.begin(); i != after.states.end();) {
    if (states.contains(i->second)) {
      ++i;
      continue;
    }
    ledger_->run("DELETE FROM states WHERE state = ?", i->first);
    unused_.push_back(folder_ / state_name(i->first));
    i = after.states.erase(i);
  }
}

result<void>
client_table::save(const std::map<client_id, const client_file*>& all) {
  std::map<client_id, known> after; // Of these alone: there may be thousands.
  const auto first_state = last_state_;
  unused_.clear();
  failed_.reset();
  ledger_->begin();
  for (const auto& [who, file] : all) {
    if (const auto found = known_.find(who); found != known_.end())
      after.insert(*found);
    save(who, *file, after[who]);
  }
  if (failed_) {
    ledger_->roll_back();
    last_state_ = first_state;
    return tl::make_unexpected(*failed_);
  }
  if (auto ok = ledger_->commit(); !ok) {
    last_state_ = first_state;
    return ok;
  }
  for (auto& [who, now] : after)
    known_[who] = std::move(now);
  std::error_code ignored; // What is left behind is found by nobody.
  for (const auto& path : unused_)
    fs::remove(path, ignored);
  return {};
}

result<transport::buffer>
client_table::bytes_of(const std::string& name,
                       std::span<const std::byte> row) const {
  result<transport::buffer> found = transport::buffer{row.begin(), row.end()};
  if (row.empty())
    found = models::read_file(folder_ / name, errc::storage_failure);
  if (!found)
    return found;
  auto body = unsealed(std::move(*found));
  if (!body)
    return damaged((row.empty() ? (folder_ / name).string() : name)
                   + " is damaged; without this store its clients are counted "
                     "as new");
  return std::move(*body);
}

result<std::map<std::uint64_t, state_ptr>>
client_table::load_states(client_id who) {
  std::map<std::uint64_t, state_ptr> states;
  auto rows =
    ledger_->query("SELECT state, body FROM states WHERE client = ?", who);
  while (rows.next()) {
    const auto row = rows.integer(0);
    auto state =
      bytes_of(state_name(row), rows.bytes(1))
        .and_then([](const transport::buffer& x) { return decode_state(x); });
    if (!state)
      return tl::make_unexpected(state.error());
    states[row] = std::move(*state);
  }
  states[0] = nullptr;
  return states;
}

result<client_file> client_table::load_client(client_id who, known& found) {
  auto states = load_states(who);
  if (!states)
    return tl::make_unexpected(states.error());
  auto rows = ledger_->query("SELECT incarnation, last, state, declined, open "
                             "FROM clients WHERE client = ?",
                             who);
  if (!rows.next())
    return damaged("its row is gone");
  client_file file;
  file.incarnation = rows.integer(0);
  file.last = {rows.integer(1)};
  if (const auto code = rows.integer(3); code > 0) {
    file.declined = static_cast<messages::decline_reason>(code - 1);
    if (code != code_of(file.declined) || !messages::known(*file.declined))
      return damaged("how its last visit ended is no reason");
  }
  if (!rows.null(4)) {
    auto open = decode_open(rows.bytes(4));
    if (!open)
      return tl::make_unexpected(open.error());
    file.open = std::move(*open);
  }
  const auto current = states->find(rows.integer(2));
  if (current == states->end())
    return damaged("its state is gone");
  file.state = current->second;
  auto outbox = load_outbox(who, *states);
  if (!outbox)
    return tl::make_unexpected(outbox.error());
  file.outbox = std::move(*outbox);
  for (const auto& x : file.outbox)
    found.offers.emplace(x.offer.pass.visit.number, x.offer.blocks.size());
  states->erase(0);
  found.states = std::move(*states);
  return file;
}

result<std::vector<kept_offer>>
client_table::load_outbox(client_id who,
                          const std::map<std::uint64_t, state_ptr>& states) {
  std::vector<kept_offer> out;
  auto rows =
    ledger_->query("SELECT number, unanswered, refused, next, body FROM offers "
                   "WHERE client = ? ORDER BY number",
                   who);
  while (rows.next()) {
    const visit_number number{rows.integer(0)};
    auto message =
      bytes_of(offer_name(who, number), rows.bytes(4)).and_then(decode_offer);
    if (!message)
      return tl::make_unexpected(message.error());
    auto unanswered = decode_unanswered(rows.bytes(1));
    const auto next = states.find(rows.integer(3));
    const auto* offer = std::get_if<messages::offer_made>(&*message);
    if (offer == nullptr || !unanswered || next == states.end()
        || offer->pass.visit != visit_id{who, number})
      return damaged("what it offers on visit " + std::to_string(number.value)
                     + " is damaged");
    out.push_back({.offer = *offer,
                   .unanswered = std::move(*unanswered),
                   .refused = rows.integer(2) != 0,
                   .next = next->second,
                   .said = {},
                   .again = {}});
  }
  return out;
}

std::vector<client_id> client_table::all_clients() {
  std::vector<client_id> all;
  auto rows = ledger_->query("SELECT client FROM clients");
  while (rows.next())
    all.push_back({rows.integer(0)});
  return all;
}

result<std::map<client_id, client_file>> client_table::load() {
  std::map<client_id, client_file> out;
  std::map<client_id, known> after;
  for (const auto who : all_clients()) {
    auto file = load_client(who, after[who]);
    if (!file)
      return damaged((folder_ / ledger_name).string() + ": client "
                     + std::to_string(who.value) + ": " + file.error().context);
    out.emplace(who, std::move(*file));
  }
  if (auto ok = ledger_->check(); !ok)
    return tl::make_unexpected(ok.error());
  known_ = std::move(after);
  return out;
}

} // namespace troupe::actors
