#include "node/config/config.hpp"

#include <algorithm>
#include <array>

#include "models/files.hpp"
#include "node/config/reader.hpp"

namespace troupe::node {

namespace {

bool is_of_simulations(std::string_view key) {
  constexpr std::array<std::string_view, 4> sections{
    "devices.", "network.", "availability.", "crashes."};
  return key == "scenario" || key == "snapshot_seconds"
         || std::ranges::any_of(
           sections, [key](auto section) { return key.starts_with(section); });
}

} // namespace

const recipe* method_list::find(std::string_view name) const noexcept {
  const auto at = std::ranges::find(built, name, &recipe::name);
  return at == built.end() ? nullptr : *at;
}

bool method_list::has_option(std::string_view name) const {
  return !name.empty() && std::ranges::any_of(built, [&](const recipe* x) {
    return std::ranges::any_of(x->options, [&](const option_spec& y) {
      return y.name == name || y.was == name;
    });
  });
}

result<loaded_config> parse_config(config_source from,
                                   std::span<const std::string> overrides,
                                   const method_list& methods) {
  problems wrong;
  auto said = read_entries(from, overrides, methods, wrong);
  imply(said);
  auto loaded = read_experiment(said, wrong);
  for (const auto& [key, x] : said)
    if (is_of_simulations(key))
      loaded.simulated.push_back(x.where + ": '" + x.typed + '\'');
  settle_users(loaded, said, from.is_here);
  settle(loaded, said, methods, wrong);
  // What could not be read would only lead to more refusals.
  if (wrong.empty())
    check(loaded.x, said, from.origin, methods, wrong);
  if (!wrong.empty())
    return fail(errc::invalid_config, wrong.text());
  loaded.x.places.origin = from.origin;
  for (const auto& [key, x] : said)
    loaded.x.places.said[key] = x.where;
  return loaded;
}

void leave_out_simulation(loaded_config& from) {
  const experiment blank;
  auto& x = from.x;
  x.devices = blank.devices;
  x.network = blank.network;
  x.availability = blank.availability;
  x.crashes = blank.crashes;
  x.scenario = blank.scenario;
  x.snapshot_seconds = blank.snapshot_seconds;
  for (const auto& key : from.simulated)
    if (std::ranges::none_of(from.notes, [&key](const std::string& note) {
          return note.starts_with(key);
        }))
      from.notes.push_back(key
                           + " has no effect: it is of simulations, and a run "
                             "that is served is none");
}

result<std::string> read_text(const std::string& path) {
  return models::read_text(path, errc::storage_failure);
}

result<loaded_config> load_config(const std::string& path,
                                  std::span<const std::string> overrides,
                                  const method_list& methods) {
  const auto text = read_text(path);
  if (!text)
    return tl::make_unexpected(text.error());
  return parse_config({.text = *text, .origin = path, .is_here = true},
                      overrides, methods);
}

} // namespace troupe::node
