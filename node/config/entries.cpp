#include "node/config/entries.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "core/text.hpp"
#include "node/config/keys.hpp"
#include "node/config/toml.hpp"

namespace troupe::node {

namespace {

constexpr std::size_t shown_max = 10;
constexpr std::size_t text_bytes = 2000;

entry make_entry(const toml::node& node, std::string where,
                 std::string_view typed) {
  entry x{foreign{}, std::move(where), std::string{typed}, {}};
  if (const auto* flag = node.as_boolean())
    x.value = flag->get();
  else if (const auto* integer = node.as_integer())
    x.value = integer->get();
  else if (const auto* real = node.as_floating_point())
    x.value = real->get();
  else if (const auto* text = node.as_string())
    x.value = text->get();
  else {
    std::ostringstream type;
    type << node.type();
    x.value = foreign{"a " + type.str()};
  }
  if (const auto* list = node.as_array()) {
    std::vector<std::int64_t> integers;
    std::vector<double> numbers;
    std::vector<std::string> texts;
    for (const auto& y : *list)
      if (const auto* integer = y.as_integer()) {
        integers.push_back(integer->get());
        numbers.push_back(static_cast<double>(integer->get()));
      } else if (const auto* number = y.as_floating_point()) {
        numbers.push_back(number->get());
      } else if (const auto* text = y.as_string()) {
        texts.push_back(text->get());
      }
    if (integers.size() == list->size())
      x.value = std::move(integers);
    else if (numbers.size() == list->size())
      x.value = std::move(numbers);
    else if (texts.size() == list->size())
      x.value = std::move(texts);
    else
      x.value = foreign{"a list with something else"};
  }
  return x;
}

/// What was found, for people.
struct printer {
  std::string operator()(const foreign& x) const {
    return x.what;
  }
  std::string operator()(bool x) const {
    return x ? "true" : "false";
  }
  std::string operator()(std::int64_t x) const {
    return std::to_string(x);
  }
  std::string operator()(double x) const {
    std::ostringstream out;
    out << x;
    return out.str();
  }
  std::string operator()(const std::string& x) const {
    return '"' + shortened(x) + '"';
  }
  template <class T>
  std::string operator()(const std::vector<T>& xs) const {
    constexpr std::size_t items_max = 8;
    std::string text = "[";
    for (std::size_t i = 0; i < std::min(items_max, xs.size()); ++i)
      text += (i > 0 ? ", " : "") + (*this)(xs[i]);
    if (xs.size() > items_max)
      text += ", ... (" + std::to_string(xs.size()) + " in all)";
    return text + ']';
  }
};

class collector {
public:
  collector(const method_list& methods, problems& wrong)
    : methods_(methods),
      wrong_(wrong) {
    // nop
  }

  void read_file(config_source from) {
    const auto root = read_toml(from.text);
    if (!root) {
      wrong_.add(std::string{from.origin} + ':'
                   + std::to_string(root.error().line),
                 "this is not TOML: " + root.error().what);
      return;
    }
    origin_ = from.origin;
    walk(*root, {});
  }

  void read_override(const std::string& x) {
    const auto equals = x.find('=');
    overriding_ = "--set " + shortened(x);
    if (equals == std::string::npos || equals == 0) {
      wrong_.add(overriding_, "it must be key=value");
      return;
    }
    raw_ = x.substr(equals + 1);
    const auto name = x.substr(0, equals);
    // A bare word is a string: --set mode=sync.
    auto table = read_toml("x = " + *raw_).value_or(toml::table{});
    if (table.size() != 1)
      table = toml::table{{"x", *raw_}};
    place(name, *table.get("x"));
  }

  entries take() {
    return std::move(found_);
  }

private:
  std::string where(const toml::node& node) const {
    if (!overriding_.empty())
      return overriding_;
    return origin_ + ':' + std::to_string(node.source().begin.line);
  }

  void walk(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table)
      place(prefix + std::string{name.str()}, node);
  }

  /// `name` is dotted, or plain and then perhaps short for something.
  void place(const std::string& name, const toml::node& node) {
    // That is read apart: which runs to make of the rest.
    if (name == sweep_section && overriding_.empty())
      return;
    if (const auto* table = node.as_table()) {
      if (is_section(name))
        walk(*table, name + '.');
      else if (is_key(name))
        wrong_.add(where(node), said(name) + " is not a table");
      else if (const auto sections = section_of(name); !sections.empty())
        walk(*table, sections + '.');
      else
        unknown(name, node);
      return;
    }
    if (name.starts_with(std::string{method_section} + '.'))
      return keep(name, name, node);
    auto paths = meanings(name);
    if (paths.empty() && methods_.has_option(name))
      paths = {std::string{method_section} + '.' + name};
    if (paths.empty())
      return unknown(name, node);
    if (paths.size() == 1)
      return keep(paths[0], name, node);
    std::string text = said(name) + " may mean ";
    for (std::size_t i = 0; i < paths.size(); ++i)
      text += (i == 0                  ? ""
               : i + 1 == paths.size() ? " or "
                                       : ", ")
              + in_quotes(paths[i]);
    wrong_.add(where(node), text + ": write one of these");
  }

  /// A table under its plain name: `staleness = {…}` at the top.
  static std::string section_of(const std::string& name) {
    for (const auto& x : known_keys()) {
      const auto section =
        std::string_view{x.path}.substr(0, x.path.rfind('.'));
      if (leaf(section) == name && is_section(section))
        return std::string{section};
    }
    return {};
  }

  /// A key as it was written; who makes keys makes long ones, too.
  static std::string said(const std::string& name) {
    return in_quotes(shortened(name));
  }

  void keep(const std::string& path, const std::string& typed,
            const toml::node& node) {
    auto made = make_entry(node, where(node), typed);
    made.raw = raw_;
    if (const auto old = found_.find(path);
        old != found_.end() && overriding_.empty()) {
      wrong_.add(made.where,
                 said(path) + " is given twice, also at " + old->second.where);
      return;
    }
    const auto* count = std::get_if<std::int64_t>(&made.value);
    const bool says_none = count && *count == 0; // It is no limit at all.
    if (!overriding_.empty() && !says_none)
      drop_rivals(path);
    found_.insert_or_assign(path, std::move(made));
  }

  /// An override of one of a pair takes the place of the file's other.
  void drop_rivals(const std::string& path) {
    constexpr std::array<std::array<std::string_view, 2>, 2> pairs{
      {{"clients.clients_per_round", "clients.fraction"},
       {"rounds", "versions"}}};
    for (const auto& [a, b] : pairs)
      for (const auto& [mine, rival] : {std::pair{a, b}, std::pair{b, a}})
        if (path == mine)
          if (const auto old = found_.find(std::string{rival});
              old != found_.end() && !old->second.raw)
            found_.erase(old);
  }

  void unknown(const std::string& name, const toml::node& node) {
    const bool section = node.is_table();
    wrong_.add(where(node),
               (section ? "unknown table " : "unknown key ") + said(name),
               [&methods = methods_, name, section] {
                 const auto near = nearest(name, candidates(methods, section));
                 return near.empty()
                          ? "; 'troupe check-config --keys' lists all keys"
                          : "; did you mean " + in_quotes(near) + "?";
               });
  }

  static std::vector<std::string> candidates(const method_list& methods,
                                             bool section) {
    std::vector<std::string> result;
    for (const auto& x : known_keys())
      result.push_back(section ? x.path.substr(0, x.path.rfind('.')) : x.path);
    for (const auto* x : methods.built)
      for (const auto& option : x->options)
        result.push_back(std::string{method_section} + '.' + option.name);
    return result;
  }

  const method_list& methods_;
  problems& wrong_;
  entries found_;
  std::string origin_;
  std::string overriding_;
  std::optional<std::string> raw_;
};

} // namespace

std::string entry::found() const {
  return std::visit(printer{}, value);
}

void problems::add(std::string_view where, std::string_view what,
                   hint would_do) {
  ++count_;
  const auto colon = where.rfind(':');
  const auto number =
    colon == where.npos
      ? 0
      : std::atoi(std::string{where.substr(colon + 1)}.c_str());
  const auto at = std::ranges::upper_bound(shown_, number, {}, &line::number);
  if (at == shown_.end() && shown_.size() == shown_max)
    return;
  shown_.insert(at, {number, std::string{where}, shortened(what, text_bytes),
                     std::move(would_do)});
  if (shown_.size() > shown_max)
    shown_.pop_back();
}

std::string problems::text() const {
  std::string result;
  for (const auto& x : shown_)
    result += (result.empty() ? "" : "\n") + x.where + ": " + x.what
              + (x.would_do ? x.would_do() : "");
  if (count_ > shown_.size())
    result += "\nand " + std::to_string(count_ - shown_.size()) + " more";
  return result;
}

entries read_entries(config_source from, std::span<const std::string> overrides,
                     const method_list& methods, problems& wrong) {
  collector all{methods, wrong};
  all.read_file(from);
  for (const auto& x : overrides)
    all.read_override(x);
  return all.take();
}

} // namespace troupe::node
