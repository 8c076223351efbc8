// What a configuration makes of a recipe: how many there are of what, how many
// of it a client asks for, and who is invited how often.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "policies/catalogue.hpp"

namespace troupe::policies {

namespace {

/// As people write it, where it is whole.
std::string as_written(double x) {
  return x == std::floor(x) && std::abs(x) < 1e15
           ? std::to_string(static_cast<std::int64_t>(x))
           : std::to_string(x);
}

/// One recipe on its way to what its options say.
class settled_recipe {
public:
  settled_recipe(recipe method, const options& said)
    : method_(std::move(method)),
      all_(with_defaults(method_, said)) {
    // nop
  }

  result<recipe> make() {
    return check_values()
      .map([this] { add_blocks(); })
      .and_then([this] { return set_blocks(); })
      .and_then([this] { return set_legs(); })
      .and_then([this] { return set_roles(); })
      .map([this] {
        set_disclosures();
        set_own();
        return std::move(method_);
      });
  }

private:
  result<void> refuse(const std::string& option, const std::string& how) const {
    return fail(errc::invalid_config,
                "option " + in_quotes(option) + " of method "
                  + in_quotes(method_.name) + " " + how + ", found "
                  + found(option));
  }

  /// Who never wrote a number does not know where it is from.
  std::string found(const std::string& option) const {
    const auto value = all_.at(option);
    const auto* known = find_option(method_, option);
    return as_written(value)
           + (known && known->value == value ? " (its default)" : "");
  }

  /// @param of the option that says `most`; empty: none does
  result<void> refuse_above(const std::string& option, const std::string& of,
                            std::uint32_t most) const {
    const auto bound = std::to_string(most);
    auto refused = refuse(option, "must be at most "
                                    + (of.empty() ? "" : in_quotes(of) + ", ")
                                    + bound);
    refused.error().context += "; options." + option + "=" + bound
                               + " would do";
    return refused;
  }

  void set(std::uint32_t& to, const std::string& option) const {
    if (const auto found = all_.find(option); found != all_.end())
      to = static_cast<std::uint32_t>(found->second);
  }

  bool is_on(const std::string& option) const {
    const auto found = all_.find(option);
    return found != all_.end() && found->second != 0;
  }

  /// It never travels: no leg fetches it, and nothing is merged.
  void set_personal(block_spec& x) {
    x.where = scope::personal;
    for (auto& leg : method_.legs)
      std::erase_if(leg.fetch,
                    [&](const fetch_spec& y) { return y.family == x.name; });
  }

  /// Null: there is no such family.
  const block_spec* find(const std::string& family) const {
    const auto at =
      std::ranges::find(method_.blocks, family, &block_spec::name);
    return at == method_.blocks.end() ? nullptr : &*at;
  }

  /// Whose instances are chosen from; null: nothing is chosen.
  const block_spec* chosen_family() const {
    for (const auto& leg : method_.legs)
      for (const auto& x : leg.fetch)
        if (x.chosen)
          return find(x.family);
    return nullptr;
  }

  void set_own() {
    if (!is_on(method_.own.option))
      return;
    method_.blocks.push_back(
      {.name = method_.own.family, .where = scope::personal});
    method_.personal = true;
  }

  result<void> check_values() const {
    for (const auto& x : method_.options)
      if (!fits(x, all_.at(x.name)))
        return refuse(x.name, "must be " + takes(x));
    return {};
  }

  /// Behind the recipe's own: lines and blocks keep their numbers.
  void add_blocks() {
    auto more = std::exchange(method_.more, {});
    if (!is_on(more.flag))
      return;
    for (auto& x : more.blocks) {
      if (travels(x.where))
        method_.legs.front().fetch.push_back({.family = x.name});
      method_.blocks.push_back(std::move(x));
    }
  }

  result<void> set_blocks() {
    for (auto& x : method_.blocks) {
      set(x.count, x.count_option);
      set(x.rank, x.rank_option);
      if (is_on(x.examples_option))
        x.weight = weight_rule::examples;
      if (is_on(x.personal_option)) {
        set_personal(x);
        continue;
      }
      const auto option = x.name + "_server_rate";
      const auto found = all_.find(option);
      if (found == all_.end() || found->second == 1)
        continue;
      if (x.merge.kind != merge_kind::mean)
        return refuse(option, "is 1 where the rule is not the mean");
      x.merge = {.kind = merge_kind::mix, .amount = found->second};
    }
    return {};
  }

  result<void> set_legs() {
    for (auto& leg : method_.legs) {
      for (auto& x : leg.fetch) {
        set(x.chosen_max, x.chosen_option);
        const auto* family = find(x.family);
        if (family == nullptr || x.chosen_max <= family->count)
          continue;
        if (!x.chosen_option.empty())
          return refuse_above(x.chosen_option, family->count_option,
                              family->count);
        x.chosen_max = family->count;
      }
    }
    return {};
  }

  result<void> set_roles() {
    for (auto& x : method_.roles) {
      set(x.members, x.members_option);
      set(x.quota, x.quota_option);
      if (auto ok = check_role(x); !ok)
        return ok;
      if (x.members > 0)
        x.quota = std::min(x.quota, x.members);
    }
    std::erase_if(method_.roles, is_nobody);
    return {};
  }

  static bool is_nobody(const role& x) {
    return x.members == 0 && !x.members_option.empty();
  }

  result<void> check_role(const role& x) const {
    if (is_nobody(x))
      return {};
    if (const auto* tied = chosen_family(); x.choice_fixed
                                            && !x.members_option.empty() && tied
                                            && x.members > tied->count)
      return refuse_above(x.members_option, tied->count_option, tied->count);
    if (x.quota_option.empty())
      return {};
    if (x.quota == 0)
      return refuse(
        x.quota_option,
        "must be from 1 where there are "
          + (x.members_option.empty() ? "members" : x.members_option));
    if (x.members > 0 && x.quota > x.members)
      return refuse_above(x.quota_option, x.members_option, x.members);
    return {};
  }

  void set_disclosures() {
    for (auto& x : method_.disclosures) {
      set(x.count_max, x.count_option);
      if (const auto* family = find(x.chosen_of)) {
        x.min = 0;
        x.max = family->count - 1.0;
      }
    }
  }

  recipe method_;
  options all_;
};

} // namespace

result<recipe> with_options(recipe method, const options& said) {
  return settled_recipe{std::move(method), said}.make();
}

result<recipe> with_often(recipe method, std::uint32_t members,
                          std::uint32_t quota) {
  if (members == 0)
    return method;
  if (method.roles.size() != 1) {
    const auto own = std::ranges::find_if(
      method.roles, [](const role& x) { return !x.members_option.empty(); });
    return fail(
      errc::invalid_config,
      "method " + in_quotes(method.name)
        + " has roles of its own: 'clients.often' must be 0"
        + (own == method.roles.end()
             ? ""
             : " (option " + in_quotes(own->members_option) + " would do)"));
  }
  const role often{.name = "often",
                   .quota = quota,
                   .procedure = method.roles.front().procedure,
                   .members = members};
  method.roles.insert(method.roles.begin(), often);
  return method;
}

} // namespace troupe::policies
