#include "node/run/process_book.hpp"

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/hex.hpp"
#include "core/json.hpp"
#include "models/files.hpp"

namespace troupe::node {

using actors::leases;

namespace {

json owners_of(const leases& places) {
  json processes = json::object();
  for (const auto& [who, clients] : places.all().by_owner) {
    json numbers = json::array();
    for (const auto client : clients)
      numbers.push_back(client.value);
    processes.add(to_hex(who), std::move(numbers));
  }
  return processes;
}

json names_of(const leases& places) {
  json names = json::object();
  for (const auto& [name, x] : places.all().by_name)
    names.add(name,
              json{{"process", to_hex(x.who)}, {"client", x.client.value}});
  return names;
}

json frozen_in(const std::map<std::string, models::digest>& all) {
  json out = json::object();
  for (const auto& [name, content] : all)
    out.add(name, models::to_hex(content));
  return out;
}

bool read_digest(const json& from, models::digest& to) {
  const auto found =
    from.text() ? from_hex<32>(*from.text()) : std::optional<models::digest>{};
  to = found.value_or(to);
  return found.has_value();
}

bool read_frozen(const json& from, std::map<std::string, models::digest>& to) {
  if (!from.fields())
    return false;
  for (const auto& [name, x] : *from.fields())
    if (!read_digest(x, to[name]))
      return false;
  return true;
}

bool read_owners(const json& from, leases::contents& to) {
  if (!from.fields())
    return false;
  for (const auto& [name, numbers] : *from.fields()) {
    const auto who = from_hex<16>(name);
    if (!who || !numbers.items())
      return false;
    for (const auto& x : *numbers.items()) {
      const auto number = x.count();
      if (!number)
        return false;
      to.by_owner[*who].insert({*number});
    }
  }
  return true;
}

bool read_names(const json& from, leases::contents& to) {
  if (!from.fields())
    return false;
  for (const auto& [name, x] : *from.fields()) {
    const auto* process = x.find("process");
    const auto* client = x.find("client");
    const auto who = process && process->text()
                       ? from_hex<16>(*process->text())
                       : std::optional<leases::owner>{};
    const auto number = client ? client->count() : std::nullopt;
    if (!who || !number)
      return false;
    to.by_name[name] = {*who, {*number}};
  }
  return true;
}

} // namespace

result<void> replace_text(const std::filesystem::path& path,
                          const std::string& text) {
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(path, parts, {.sync = true});
}

result<void> process_book::keep(const std::filesystem::path& path) const {
  const json all{{"run", to_hex(run)},
                 {"began_ms", began_ms},
                 {"processes", owners_of(places)},
                 {"names", names_of(places)},
                 {"frozen", frozen_in(frozen)},
                 {"model", models::to_hex(model)}};
  return replace_text(path, all.dump(1) + '\n');
}

result<process_book> process_book::read(const std::filesystem::path& path,
                                        const leases::room& room) {
  const auto text = models::read_text(path, errc::storage_failure);
  if (!text)
    return tl::make_unexpected(text.error());
  const auto root = json::parse(*text);
  const auto* run = root ? root->find("run") : nullptr;
  const auto* began = root ? root->find("began_ms") : nullptr;
  const auto* processes = root ? root->find("processes") : nullptr;
  // Earlier builds knew none of these.
  const auto* names = root ? root->find("names") : nullptr;
  const auto* frozen = root ? root->find("frozen") : nullptr;
  const auto* model = root ? root->find("model") : nullptr;
  const auto id = run && run->text() ? from_hex<16>(*run->text())
                                     : std::optional<messages::run_id>{};
  const auto at = began ? began->count() : std::nullopt;
  process_book out{.run = {}, .began_ms = 0, .places = leases{room}};
  leases::contents places;
  const auto damaged = [&path](const std::string& what) {
    return fail(errc::storage_failure,
                path.string() + " is not what was written there" + what
                  + "; without it the run cannot know whose clients are whose");
  };
  if (!id || !at || !processes || !read_owners(*processes, places)
      || (names && !read_names(*names, places))
      || (frozen && !read_frozen(*frozen, out.frozen))
      || (model && !read_digest(*model, out.model)))
    return damaged("");
  if (const auto ok = out.places.restore(places); !ok)
    return damaged(": " + ok.error().context);
  out.run = *id;
  out.began_ms = static_cast<std::int64_t>(*at);
  return out;
}

} // namespace troupe::node
