// What a joining process keeps (docs/client_store.md), as it reads it when it
// begins: damaged as bytes and row by row, and the files beside it.

#include <algorithm>
#include <map>
#include <set>

#include "actors/client_store/client_table.hpp"
#include "actors/client_store/stored_file.hpp"
#include "actors/transport/envelope.hpp"
#include "core/assert.hpp"
#include "tests/damage/reader.hpp"
#include "tests/damage/rows.hpp"

namespace troupe::damage {

namespace {

namespace fs = std::filesystem;

using actors::client_file;
using actors::client_table;
using files = std::map<client_id, client_file>;

constexpr const char* run = "0123456789abcdef";
constexpr const char* ledger_name = "clients.sqlite";
constexpr std::size_t few = 7;
constexpr std::size_t many = 20'000; ///< Values, in a file of their own.

actors::state_ptr state_of(std::size_t values, std::uint64_t visits) {
  models::client_state x;
  x.blocks.emplace("own", personal_values{std::vector<float>(values, 0.5F)});
  x.moments.emplace("own", personal_values{std::vector<float>{1, 2}});
  x.counters["steps"] = 7;
  x.random = {1, 2, 3, 4};
  x.visits = visits;
  return std::make_shared<const models::client_state>(std::move(x));
}

actors::kept_offer offer_of(visit_id visit, std::size_t values) {
  actors::kept_offer x;
  x.offer.pass.visit = visit;
  messages::offer_block part;
  part.block = {3};
  part.weight = 2;
  part.delta = share(std::vector<float>(values, 0.25F));
  x.offer.blocks.push_back(std::move(part));
  x.unanswered = {{4}, {5}};
  x.next = state_of(few, visit.number.value);
  return x;
}

files two_clients() {
  client_file one;
  one.incarnation = 2;
  one.last = {9};
  one.state = state_of(few, 3);
  one.open = actors::begun_visit{{.visit = {{1}, {9}}}, {{{1}, {4}}}};
  one.outbox = {offer_of({{1}, {7}}, few), offer_of({{1}, {8}}, many)};
  client_file two;
  two.incarnation = 1;
  two.last = {3};
  two.state = state_of(many, 5);
  two.declined = messages::decline_reason::no_offer;
  return {{{1}, std::move(one)}, {{2}, std::move(two)}};
}

result<void> save(client_table& to, const files& all) {
  std::map<client_id, const client_file*> pointers;
  for (const auto& [who, x] : all)
    pointers[who] = &x;
  return to.save(pointers);
}

/// What may not become something else: states, and what is offered.
using bodies = std::set<transport::buffer>;

bodies bodies_of(const files& all) {
  bodies out;
  const auto add = [&](const actors::state_ptr& x) {
    if (x)
      out.insert(actors::encode_state(*x));
  };
  for (const auto& [who, x] : all) {
    add(x.state);
    for (const auto& kept : x.outbox) {
      add(kept.next);
      out.insert(transport::encode(kept.offer));
    }
  }
  return out;
}

class stored_clients {
public:
  explicit stored_clients(const fs::path& scratch) : folder_(scratch) {
    fs::create_directories(folder_);
    const auto made = two_clients();
    {
      auto table = client_table::open(folder_, run);
      TROUPE_ASSERT(table && save(**table, made));
    }
    bodies_ = bodies_of(made);
    for (const auto& x : fs::directory_iterator{folder_})
      whole_[x.path().filename().string()] = contents(x.path());
    TROUPE_ASSERT(whole_.size() == 3);
  }

  const std::map<std::string, std::string>& whole() const noexcept {
    return whole_;
  }

  /// With other bytes in one of its files.
  verdict read(const std::string& file, const std::string& bytes) const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const auto& [name, original] : whole_)
      write(folder_ / name, name == file ? bytes : original);
    auto table = client_table::open(folder_, run);
    if (!table)
      return verdict::refused;
    const auto found = (*table)->load();
    if (!found)
      return verdict::refused;
    for (const auto& [who, x] : *found)
      if (x.declined && !messages::known(*x.declined))
        return verdict::wrong;
    if (!std::ranges::includes(bodies_, bodies_of(*found)))
      return verdict::wrong;
    // Who goes on with it writes to it, if it can be written.
    return save(**table, *found) ? verdict::accepted : verdict::refused;
  }

private:
  fs::path folder_;
  std::map<std::string, std::string> whole_;
  bodies bodies_;
};

} // namespace

std::vector<reader> store_readers(const fs::path& scratch) {
  const auto in = std::make_shared<const stored_clients>(scratch / "store");
  const auto& ledger = in->whole().at(ledger_name);
  const auto columns = columns_of(ledger, scratch);
  const std::string wrong = "a state or an offer that nobody kept";
  const auto read = [in](const std::string& x) {
    return in->read(ledger_name, x);
  };
  std::vector<reader> all{{.name = "clients (join --store)",
                           .counts_as_wrong = wrong,
                           .text = false,
                           .originals = {ledger},
                           .read = read,
                           .slow = true},
                          {.name = "clients, row by row",
                           .counts_as_wrong = wrong,
                           .read = read,
                           .alter =
                             [=](random_stream& draw) {
                               return changed(
                                 in->whole().at(ledger_name), scratch,
                                 columns[draw.below(columns.size())], draw);
                             },
                           .slow = true}};
  for (const auto& [file, bytes] : in->whole())
    if (file != ledger_name)
      all.push_back(
        {.name = file.starts_with("offer") ? "offer (join --store)"
                                           : "state (join --store)",
         .counts_as_wrong = wrong,
         .text = false,
         .originals = {bytes},
         .read = [in, name = file](
                   const std::string& x) { return in->read(name, x); },
         .slow = true});
  return all;
}

} // namespace troupe::damage
