#include "node/config/config.hpp"

#include <algorithm>

#include "models/files.hpp"
#include "node/config/reader.hpp"

namespace troupe::node {

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
  settle(loaded, said, methods, wrong);
  // What could not be read would only lead to more refusals.
  if (wrong.empty())
    check(loaded.x, said, from.origin, methods, wrong);
  if (!wrong.empty())
    return fail(errc::invalid_config, wrong.text());
  return loaded;
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
  return parse_config({*text, path}, overrides, methods);
}

} // namespace troupe::node
