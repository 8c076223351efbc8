#include "node/config/method_options.hpp"

#include <algorithm>
#include <optional>

#include "core/text.hpp"
#include "node/config/keys.hpp"

namespace troupe::node {

namespace {

/// Calls `f` with the name of each option that is said, and what is said.
void for_each_said(const entries& said, auto f) {
  const auto prefix = std::string{method_section} + '.';
  for (const auto& [path, e] : said)
    if (path.starts_with(prefix))
      f(path.substr(prefix.size()), e);
}

/// It was an option, and what it switched on is so: files of runs have it.
constexpr std::string_view former_option = "frozen_in_layout";

/// A flag and a choice may be numbers as well, as older files say them.
std::optional<double> value_of(const option_spec& x, const entry& e) {
  std::optional<double> value;
  if (const auto* real = std::get_if<double>(&e.value))
    value = *real;
  else if (const auto* integer = std::get_if<std::int64_t>(&e.value))
    value = static_cast<double>(*integer);
  else if (const auto* flag = std::get_if<bool>(&e.value);
           flag && x.kind == option_kind::flag)
    value = *flag ? 1 : 0;
  else if (const auto* word = std::get_if<std::string>(&e.value);
           word && x.kind == option_kind::choice)
    value =
      static_cast<double>(std::ranges::find(x.words, *word) - x.words.begin());
  return value && fits(x, *value) ? value : std::nullopt;
}

/// What says now what `name` said, too, when it was more than it is.
const option_spec* heir_of(const recipe& method, const std::string& name) {
  if (name.empty())
    return nullptr;
  const auto at = std::ranges::find(method.options, name, &option_spec::was);
  return at == method.options.end() ? nullptr : &*at;
}

std::string hint_at(const option_spec& heir) {
  return "; for a number of " + heir.unit + " there is " + in_quotes(heir.name);
}

/// An option of another method may stay in a file while methods are compared,
/// but not one that meant something else here.
bool is_of_another(const std::string& name, const recipe& method,
                   const method_list& methods) {
  return methods.has_option(name) && heir_of(method, name) == nullptr;
}

std::string names_like(const std::string& name, const recipe& method) {
  std::vector<std::string> names;
  for (const auto& [option, value] : with_defaults(method))
    names.push_back(option);
  if (const auto near = nearest(name, names); !near.empty())
    return "; did you mean '" + near + "'?";
  std::string hint = names.empty() ? "; it has none" : "; it has";
  for (const auto& y : names)
    hint += (y == names.front() ? " '" : ", '") + y + "'";
  return hint;
}

} // namespace

std::vector<listed_option> all_options(const method_list& methods) {
  std::vector<listed_option> all;
  for (const auto* method : methods.built)
    for (const auto& x : method->options) {
      auto at = std::ranges::find(all, x, &listed_option::what);
      if (at == all.end())
        at = all.insert(at, {.what = x, .methods = {}});
      at->methods.push_back(method->name);
    }
  std::ranges::stable_sort(all, {},
                           [](const listed_option& x) { return x.what.name; });
  return all;
}

void read_options(loaded_config& loaded, const entries& said,
                  const recipe& method, const method_list& methods,
                  problems& wrong) {
  auto& values = loaded.x.training.method;
  for_each_said(said, [&](const std::string& name, const entry& e) {
    const auto* x = find_option(method, name);
    if (name == former_option)
      loaded.notes.push_back(e.where + ": '" + e.typed
                             + "' has no effect: what adapters stand on is a "
                               "part of every layout");
    if (!x) {
      if (is_of_another(name, method, methods))
        loaded.notes.push_back(e.where + ": '" + e.typed
                               + "' has no effect: method '" + method.name
                               + "' has no such option");
      return;
    }
    if (const auto value = value_of(*x, e)) {
      values[name] = *value;
      return;
    }
    const auto* heir = heir_of(method, name);
    wrong.add(e.where, in_quotes(name) + " must be " + takes(*x) + ", found "
                         + e.found() + (heir ? hint_at(*heir) : ""));
  });
  values = with_defaults(method, std::move(values));
}

void check_options(const entries& said, const recipe& method,
                   const method_list& methods, problems& wrong) {
  for_each_said(said, [&](const std::string& name, const entry& e) {
    if (name == former_option || find_option(method, name)
        || is_of_another(name, method, methods))
      return;
    const auto* heir = heir_of(method, name);
    wrong.add(e.where,
              "method '" + method.name + "' has no option "
                + in_quotes(shortened(name)),
              [&method, name, heir] {
                return heir ? hint_at(*heir) : names_like(name, method);
              });
  });
}

} // namespace troupe::node
