#include "actors/record/ledger_reader.hpp"

#include <charconv>
#include <cstring>
#include <utility>

#include "actors/record/sqlite_schema.hpp"
#include "actors/transport/codec.hpp"

namespace troupe::actors::sqlite {

namespace {

using bytes_view = std::span<const std::byte>;

template <class T>
std::vector<T> copy_of(bytes_view bytes) {
  std::vector<T> x(bytes.size() / sizeof(T));
  if (!x.empty())
    std::memcpy(x.data(), bytes.data(), x.size() * sizeof(T));
  return x;
}

} // namespace

std::optional<std::array<std::uint8_t, 32>> from_hex(std::string_view text) {
  std::array<std::uint8_t, 32> x{};
  if (text.size() != 2 * x.size())
    return std::nullopt;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto* first = text.data() + 2 * i;
    if (std::from_chars(first, first + 2, x[i], 16).ptr != first + 2)
      return std::nullopt;
  }
  return x;
}

models::digest digest_of(const std::vector<messages::merged_block>& blocks) {
  std::vector<models::digest> digests;
  std::vector<double> moments;
  for (const auto& b : blocks) {
    digests.push_back(b.digest);
    const auto own = b.moments.view();
    moments.insert(moments.end(), own.begin(), own.end());
  }
  return models::digest_of(digests, moments);
}

tl::unexpected<error> ledger_reader::damaged(const std::string& what) const {
  return fail(errc::storage_failure,
              path_.string() + ": " + what
                + "; restore the folder from a copy, or begin a new run");
}

result<stored_node> ledger_reader::read() {
  stored_node node;
  auto key = read_key();
  if (!key)
    return tl::unexpected{key.error()};
  node.key = *key;
  for (auto row = db_.query("SELECT line, head, round FROM lines"); row.next();)
    node.lines[{row.integer(0)}] = {.head = {row.integer(1)},
                                    .round = {row.integer(2)},
                                    .blocks = {},
                                    .merged = {}};
  for (auto& [line, to] : node.lines)
    if (auto ok = read_line(line, to); !ok)
      return tl::unexpected{ok.error()};
  if (auto ok = read_records(node); !ok)
    return tl::unexpected{ok.error()};
  return node;
}

result<messages::seal_key> ledger_reader::read_key() {
  std::string schema;
  std::string key;
  for (auto row = db_.query("SELECT key, value FROM meta"); row.next();) {
    if (row.text(0) == "schema_version")
      schema = row.text(1);
    if (row.text(0) == "seal_key")
      key = row.text(1);
  }
  if (auto ok = db_.check(); !ok)
    return tl::unexpected{ok.error()};
  if (const auto ours = std::to_string(schema_version); schema != ours)
    return fail(errc::storage_failure, path_.string() + ": its schema is '"
                                         + schema + "', this build reads "
                                         + ours
                                         + "; use the build that wrote it");
  const auto parsed = from_hex(key);
  if (!parsed)
    return damaged("meta.seal_key is not a key");
  return *parsed;
}

result<void> ledger_reader::read_line(line_id line, stored_line& to) {
  const auto name = "line " + std::to_string(line.value);
  std::uint64_t versions = 0;
  std::uint64_t last = 0;
  if (auto row = db_.query(
        "SELECT count(*), max(version) FROM versions WHERE line = ?", line);
      row.next()) {
    versions = row.integer(0);
    last = row.integer(1);
  }
  for (auto row = db_.query(
         "SELECT client, highest, bits FROM windows WHERE line = ?", line);
       row.next();)
    to.merged[{row.integer(0)}] = {visit_number{row.integer(1)},
                                   row.integer(2)};
  if (auto ok = db_.check(); !ok)
    return ok;
  if (versions != to.head.value + 1 || last != to.head.value)
    return damaged(name + " has " + std::to_string(versions)
                   + " versions up to " + std::to_string(last)
                   + ", its head is " + std::to_string(to.head.value));
  auto blocks = read_blocks(line, to.head);
  if (!blocks)
    return tl::unexpected{blocks.error()};
  to.blocks = std::move(*blocks);
  return check_head(line, to);
}

result<std::optional<messages::version_published>>
ledger_reader::read_version(const messages::version_wanted& x) {
  std::optional<messages::version_published> found;
  const bool any = x.exact == messages::no_version;
  if (auto row = db_.query("SELECT version, round FROM versions WHERE line = ?1"
                           " AND (version = ?2 OR (?3 AND round <= ?4))"
                           " ORDER BY version DESC LIMIT 1",
                           x.line, x.exact, std::uint64_t{any}, x.cut);
      row.next())
    found = {.line = x.line,
             .head = {row.integer(0)},
             .round = {row.integer(1)},
             .blocks = {},
             .merged = {}};
  if (auto ok = db_.check(); !ok || !found)
    return ok.map([&] { return found; });
  // What is damaged is as good as gone: nothing waits for it.
  auto blocks = read_blocks(x.line, found->head);
  if (!blocks)
    return std::nullopt;
  for (const auto& block : *blocks)
    if (block.values == nullptr)
      return std::nullopt;
  found->blocks = messages::without_moments(std::move(*blocks));
  return found;
}

result<ledger_reader::block_list> ledger_reader::read_blocks(line_id line,
                                                             version x) {
  block_list to;
  for (auto row = db_.query("SELECT block, digest FROM blocks"
                            " WHERE line = ? AND version = ? ORDER BY block",
                            line, x);
       row.next();) {
    auto& block = to.emplace_back();
    block.block = {row.integer(0)};
    const auto digest = from_hex(row.text(1));
    if (!digest)
      return damaged("line " + std::to_string(line.value)
                     + " has a block without a digest");
    block.digest = *digest;
  }
  if (auto ok = db_.check(); !ok)
    return tl::unexpected{ok.error()};
  if (auto ok = read_contents(line, x, to); !ok)
    return tl::unexpected{ok.error()};
  return to;
}

result<void> ledger_reader::read_contents(line_id line, version x,
                                          block_list& to) {
  for (auto& block : to)
    for (auto row = db_.query("SELECT what, content, bytes FROM contents"
                              " WHERE line = ? AND version = ? AND block = ?",
                              line, x, block.block);
         row.next();) {
      const auto bytes = bytes_of(row, 1, 2);
      if (!bytes)
        return tl::unexpected{bytes.error()};
      if (row.text(0) == values_kind)
        block.values = share(copy_of<float>(*bytes));
      else
        block.moments = shared_moments{copy_of<double>(*bytes)};
    }
  return db_.check();
}

result<void> ledger_reader::check_head(line_id line, const stored_line& to) {
  std::string digest;
  if (auto row = db_.query("SELECT digest FROM versions"
                           " WHERE line = ? AND version = ?",
                           line, to.head);
      row.next())
    digest = row.text(0);
  if (auto ok = db_.check(); !ok)
    return ok;
  for (const auto& block : to.blocks)
    if (block.values == nullptr)
      return damaged("block " + std::to_string(block.block.value) + " of line "
                     + std::to_string(line.value)
                     + " has no values at the head");
  if (digest != models::to_hex(digest_of(to.blocks)))
    return damaged("version " + std::to_string(to.head.value) + " of line "
                   + std::to_string(line.value)
                   + " is not what its digest says");
  return {};
}

result<std::vector<std::byte>>
ledger_reader::bytes_of(const rows& row, int content, int bytes) const {
  const auto name = from_hex(row.text(content));
  if (!name)
    return damaged("contents.content holds '" + row.text(content)
                   + "', no digest");
  if (row.null(bytes))
    return files_.get(*name);
  const auto found = row.bytes(bytes);
  if (models::digest_of(found) != *name)
    return damaged("the bytes of content " + row.text(content)
                   + " are damaged");
  return std::vector(found.begin(), found.end());
}

result<void> ledger_reader::read_last_visits(stored_node& to) {
  for (auto row = db_.query("SELECT what, upto FROM reservations");
       row.next();) {
    const auto what = row.text(0);
    if (what == end_key) {
      const auto end = row.integer(1);
      if (end > static_cast<std::uint64_t>(messages::course_end::patience))
        return damaged("there is no end " + std::to_string(end)
                       + " of a run; 1 to 3 would do");
      to.end = static_cast<messages::course_end>(end);
    }
    std::uint64_t client = 0;
    if (what.starts_with(last_visit_key)) {
      const auto* const from = what.data() + last_visit_key.size();
      const auto* const behind = what.data() + what.size();
      if (const auto read = std::from_chars(from, behind, client);
          read.ec != std::errc{} || read.ptr != behind)
        return damaged("'" + what + "' names no client");
      to.had_last.insert(client_id{client});
    }
  }
  return db_.check();
}

result<void> ledger_reader::read_records(stored_node& to) {
  for (auto row =
         db_.query("SELECT client, examples, numbers_upto, times_chosen, loss"
                   " FROM clients");
       row.next();) {
    const client_id client{row.integer(0)};
    to.clients[client] = {client, row.integer(1), row.integer(2),
                          row.integer(3), row.real(4)};
  }
  if (auto row = db_.query("SELECT best, since_best FROM stopper"); row.next())
    to.stopper = {.best = row.real(0),
                  .since_best = static_cast<std::uint32_t>(row.integer(1))};
  // A visit is merged once by a line, and by some lines.
  const char* visits = to.lines.size() == 1
                         ? "SELECT count(*) FROM merges"
                         : "SELECT count(*) FROM"
                           " (SELECT DISTINCT client, number FROM merges)";
  if (auto row = db_.query(visits); row.next())
    to.updates = row.integer(0);
  if (auto row = db_.query("SELECT count(DISTINCT round) FROM versions WHERE"
                           " round > 0 AND round NOT IN"
                           " (SELECT round FROM rounds)");
      row.next())
    to.fruitful = row.integer(0);
  if (auto row =
        db_.query("SELECT upto FROM reservations WHERE what = 'index'");
      row.next())
    to.index_upto = row.integer(0);
  if (auto ok = read_last_visits(to); !ok)
    return ok;
  if (auto row = db_.query("SELECT record FROM rounds"); row.next()) {
    auto record =
      transport::decode_record<messages::round_record>(row.bytes(0));
    if (!record)
      return damaged("the record of the round is damaged");
    to.round = std::move(*record);
  }
  return db_.check();
}

} // namespace troupe::actors::sqlite
