#include "node/config/reader.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/text.hpp"
#include "node/config/keys.hpp"
#include "node/config/schema.hpp"

namespace troupe::node {

namespace {

/// Of --set users=[ana, ben], of which a shell leaves no quotes.
std::vector<std::string> bare_words(const entry& x) {
  const auto* text = std::get_if<std::string>(&x.value);
  if (!text || !x.raw || *text != *x.raw || !text->starts_with('[')
      || !text->ends_with(']'))
    return {};
  std::vector<std::string> words;
  auto rest = std::string_view{*text}.substr(1, text->size() - 2);
  while (!rest.empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    const auto word = trimmed(rest.substr(0, end));
    if (word.empty() || word.find_first_of("[]\"'") != word.npos)
      return {};
    words.emplace_back(word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

std::vector<std::string> texts_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> all;
  for (const auto x : numbers)
    all.push_back(std::to_string(x));
  return all;
}

class reader : public schema_visitor {
public:
  reader(const entries& said, problems& wrong, std::vector<std::string>& notes)
    : said_(said),
      wrong_(wrong),
      notes_(notes) {
    // nop
  }

  void begin(const key& section) override {
    prefix_ += std::string{section.name} + '.';
  }

  void end() override {
    prefix_.pop_back();
    prefix_.erase(prefix_.rfind('.') + 1);
  }

  void flag(const key& k, bool& x) override {
    if (const auto* e = find(k))
      take(*e, x, "true or false");
  }

  void text(const key& k, std::string& x) override {
    if (const auto* e = find(k)) {
      if (e->raw && !std::holds_alternative<std::string>(e->value))
        x = *e->raw; // --set name=7 means "7".
      else
        take(*e, x, "a string");
    }
  }

  void number(const key& k, double& x, number_range range) override {
    if (const auto* e = find(k))
      take_number(*e, x, range);
  }

  /// Only their method says what these may be: `read_options`.
  void numbers(const key&, options&) override {
    // nop
  }

  void counts(const key& k, std::vector<std::uint32_t>& x,
              count_range range) override {
    const auto* e = find(k);
    if (!e)
      return;
    const auto* list = std::get_if<std::vector<std::int64_t>>(&e->value);
    const auto fits = [&](std::int64_t y) {
      return y >= 0 && static_cast<std::uint64_t>(y) >= range.min
             && static_cast<std::uint64_t>(y) <= range.max;
    };
    if (list && list->size() <= items_max && std::ranges::all_of(*list, fits))
      x.assign(list->begin(), list->end());
    else {
      const auto* one = std::get_if<std::int64_t>(&e->value);
      refuse(*e, describe_list(describe(range)),
             one && fits(*one) && !k.bounded_elsewhere);
    }
  }

  /// One alone may stand without its brackets: --set adapt=query.
  void texts(const key& k, std::vector<std::string>& x) override {
    const auto* e = find(k);
    if (!e)
      return;
    const auto* none = std::get_if<std::vector<std::int64_t>>(&e->value);
    if (auto words = bare_words(*e); !words.empty())
      x = std::move(words);
    else if (const auto* one = std::get_if<std::string>(&e->value))
      x = {*one};
    else if (e->raw && !e->raw->starts_with('['))
      x = {*e->raw}; // --set adapt=0 means "0".
    else if (e->raw && none && !none->empty() && none->size() <= items_max)
      x = texts_of(*none); // --set users=[1, 2] means "1" and "2".
    else if (none && none->empty())
      x.clear();
    else if (const auto* list =
               std::get_if<std::vector<std::string>>(&e->value);
             list && list->size() <= items_max)
      x = *list;
    else
      refuse(*e, describe_list("a string"));
  }

  void reals(const key& k, std::vector<double>& x,
             number_range range) override {
    const auto* e = find(k);
    if (!e)
      return;
    std::optional<std::vector<double>> list;
    if (const auto* numbers = std::get_if<std::vector<double>>(&e->value))
      list = *numbers;
    else if (const auto* integers =
               std::get_if<std::vector<std::int64_t>>(&e->value))
      list.emplace(integers->begin(), integers->end());
    if (list && list->size() <= items_max
        && std::ranges::all_of(*list,
                               [&](double y) { return contains(range, y); }))
      x = std::move(*list);
    else
      refuse(*e, describe_list(describe(range)),
             contains(range, number_in(*e)) && !k.bounded_elsewhere);
  }

  /// A table is there where a key of it is.
  bool has(const key& k, bool) override {
    const auto below = prefix_ + std::string{k.name} + '.';
    const auto first = said_.lower_bound(below);
    return find(k) != nullptr
           || (first != said_.end() && first->first.starts_with(below));
  }

protected:
  void visit_count(const key& k, std::uint64_t& x, count_range range) override {
    const auto* e = find(k);
    if (!e)
      return;
    const auto* integer = std::get_if<std::int64_t>(&e->value);
    if (integer && *integer >= 0
        && static_cast<std::uint64_t>(*integer) >= range.min
        && static_cast<std::uint64_t>(*integer) <= range.max)
      x = static_cast<std::uint64_t>(*integer);
    else
      refuse(*e, describe(range));
  }

  void visit_choice(const key& k, std::size_t& index,
                    std::span<const std::string_view> names) override {
    const auto* e = find(k);
    if (!e)
      return;
    const auto* text = std::get_if<std::string>(&e->value);
    const auto at = text ? std::ranges::find(names, *text) : names.end();
    if (at != names.end())
      index = static_cast<std::size_t>(at - names.begin());
    else
      refuse(*e, describe(names));
  }

private:
  const entry* find(const key& k) {
    const auto at = said_.find(prefix_ + std::string{k.name});
    if (at == said_.end())
      return nullptr;
    if (k.used)
      return &at->second;
    const auto note = at->second.where + ": '" + at->second.typed
                      + "' has no effect: it needs " + std::string{k.needs};
    if (std::ranges::find(notes_, note) == notes_.end())
      notes_.push_back(note);
    return nullptr;
  }

  /// @param lacks_brackets and nothing else, where it is to be a list
  void refuse(const entry& e, const std::string& takes,
              bool lacks_brackets = false) {
    wrong_.add(e.where,
               '\'' + shortened(e.typed) + "' must be " + takes + ", found "
                 + e.found()
                 + (lacks_brackets ? "; [" + e.found() + "] would do" : ""));
  }

  template <class T>
  void take(const entry& e, T& x, const char* takes) {
    if (const auto* value = std::get_if<T>(&e.value))
      x = *value;
    else
      refuse(e, takes);
  }

  /// No number where it has none.
  static double number_in(const entry& e) {
    if (const auto* real = std::get_if<double>(&e.value))
      return *real;
    const auto* integer = std::get_if<std::int64_t>(&e.value);
    return integer ? static_cast<double>(*integer) : std::nan("");
  }

  void take_number(const entry& e, double& x, number_range range) {
    const auto value = number_in(e);
    if (contains(range, value))
      x = value;
    else
      refuse(e, describe(range));
  }

  const entries& said_;
  problems& wrong_;
  std::vector<std::string>& notes_;
  std::string prefix_;
};

} // namespace

loaded_config read_experiment(const entries& said, problems& wrong) {
  loaded_config result;
  reader visit{said, wrong, result.notes};
  visit_keys(visit, result.x);
  return result;
}

} // namespace troupe::node
