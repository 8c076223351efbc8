#include "node/config/keys.hpp"

#include <algorithm>
#include <set>

#include "node/config/schema.hpp"

namespace troupe::node {

namespace {

class key_lister : public schema_visitor {
public:
  std::vector<known_key> keys;
  std::set<std::string, std::less<>> sections;

  void begin(const key& section) override {
    prefix_.push_back(path(section.name));
    sections.insert(prefix_.back());
  }

  void end() override {
    prefix_.pop_back();
  }

  void flag(const key& k, bool&) override {
    add(k, "true or false");
  }

  void text(const key& k, std::string&) override {
    add(k, "a string");
  }

  void number(const key& k, double&, number_range range) override {
    add(k, describe(range));
  }

  void numbers(const key& section, options&) override {
    sections.insert(path(section.name));
  }

  void counts(const key& k, std::vector<std::uint32_t>&,
              count_range range) override {
    add(k, describe_list(describe(range)));
  }

  void texts(const key& k, std::vector<std::string>&) override {
    add(k, describe_list("a string"));
  }

  void reals(const key& k, std::vector<double>&, number_range range) override {
    add(k, describe_list(describe(range)));
  }

  bool has(const key&, bool) override {
    return true;
  }

protected:
  void visit_count(const key& k, std::uint64_t&, count_range range) override {
    add(k, describe(range));
  }

  void visit_choice(const key& k, std::size_t&,
                    std::span<const std::string_view> names) override {
    add(k, describe(names));
  }

private:
  std::string path(std::string_view name) const {
    return prefix_.empty() ? std::string{name}
                           : prefix_.back() + '.' + std::string{name};
  }

  void add(const key& k, std::string takes) {
    keys.push_back({path(k.name), std::string{k.says}, std::move(takes)});
  }

  std::vector<std::string> prefix_;
};

const key_lister& listed() {
  static const key_lister instance = [] {
    key_lister result;
    experiment x;
    visit_keys(result, x);
    return result;
  }();
  return instance;
}

/// What both models have is that of [model] where no table is said.
constexpr std::string_view said_in_full = "common_model.";

} // namespace

const std::vector<known_key>& known_keys() {
  return listed().keys;
}

bool is_key(std::string_view path) {
  return std::ranges::find(known_keys(), path, &known_key::path)
         != known_keys().end();
}

bool is_section(std::string_view path) {
  return listed().sections.contains(path);
}

std::string_view leaf(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

std::vector<std::string> meanings(std::string_view name) {
  if (is_key(name))
    return {std::string{name}};
  if (is_section(name))
    for (const auto inner :
         {leaf(name), std::string_view{"kind"}, std::string_view{"mode"},
          std::string_view{"rule"}}) {
      auto path = std::string{name} + '.' + std::string{inner};
      if (is_key(path))
        return {std::move(path)};
    }
  std::vector<std::string> result;
  const auto ending = '.' + std::string{name};
  for (const auto& x : known_keys())
    if ((leaf(x.path) == name || x.path.ends_with(ending))
        && !x.path.starts_with(said_in_full))
      result.push_back(x.path);
  if (result.empty())
    for (const auto& x : listed().sections)
      if (leaf(x) == name && is_key(x + ".kind"))
        result.push_back(x + ".kind");
  return result;
}

} // namespace troupe::node
