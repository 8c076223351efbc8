#include "policies/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "policies/mixing.hpp"
#include "policies/recipe_complaints.hpp"

// What a recipe says about itself is checked in the order in which it is
// written: blocks, legs, roles, disclosures, options (check_options.cpp). Each
// function looks at one of them.

namespace troupe::policies {

namespace {

using std::string;

template <class Named>
const Named* find(const std::vector<Named>& xs, const string& name) {
  const auto found = std::ranges::find(xs, name, &Named::name);
  return found == xs.end() ? nullptr : &*found;
}

template <class Named>
string names_of(const std::vector<Named>& xs) {
  string text;
  for (const auto& x : xs)
    text += (text.empty() ? "" : ", ") + x.name;
  return text;
}

/// Speaks of one recipe, of all but its options.
struct checker : recipe_complaints {
  result<void> check_block(const block_spec& x) const {
    const auto where = "block " + in_quotes(x.name);
    if (x.count == 0 || x.count > limits::blocks_max)
      return refuse(where + " has a count of " + std::to_string(x.count)
                    + "; 1 to " + std::to_string(limits::blocks_max)
                    + " would do");
    if (!travels(x.where))
      return x.group.empty()
               ? result<void>{}
               : refuse(
                 where + " is in group " + in_quotes(x.group)
                 + " and has no versions; only shared and expert blocks form "
                   "groups");
    if (auto rule = policies::check(x.merge); !rule)
      return refuse(where + ": " + rule.error().context);
    if (takes_few_ranks(x.merge.kind) && x.rank == 0)
      return refuse(where
                    + " is merged by rank and has none; give a rank, or the "
                      "rule 'mean'");
    if (!x.rank_counter.empty() && !takes_few_ranks(x.merge.kind))
      return refuse(where
                    + " is offered by rank, which needs the rule 'padded' or "
                      "'product_svd'");
    if (x.merge.kind == merge_kind::product_svd
        && method.asynchronous != standing::refused)
      return refuse(where
                    + " has other factors in each version, so an offer means "
                      "nothing beside another one's; let `asynchronous` be "
                      "`refused`");
    if (has_shares(x.weight) && method.disclosures.empty())
      return refuse(
        where
        + " is weighed by a share that no message discloses; declare "
          "a disclosure, or weigh by 'examples' or 'one'");
    for (const auto& y : method.blocks)
      if (!x.group.empty() && y.group == x.group
          && (y.where != x.where || y.count != x.count))
        return refuse(
          "group " + in_quotes(x.group) + ": " + in_quotes(x.name) + " and "
          + in_quotes(y.name)
          + " differ in scope or count; one version line needs the same");
    return {};
  }

  result<void> check_blocks() const {
    if (method.blocks.empty())
      return refuse("it has no blocks; name at least one");
    if (auto names = check_names(method.blocks, "block"); !names)
      return names;
    for (const auto& x : method.blocks)
      if (auto block = check_block(x); !block)
        return block;
    return {};
  }

  bool has_fixed_choice() const {
    return std::ranges::any_of(method.roles, &role::choice_fixed);
  }

  result<void> check_fetch(std::size_t leg, const fetch_spec& x) const {
    const auto where = "leg " + std::to_string(leg + 1) + " fetches "
                       + in_quotes(x.family) + ", ";
    const auto* block = find(method.blocks, x.family);
    if (!block)
      return refuse(where + "which is no block of it; its blocks are "
                    + names_of(method.blocks));
    if (block->where == scope::personal)
      return refuse(where
                    + "which is personal and never travels; leave it out");
    return check_chosen(leg, x, *block, where);
  }

  result<void> check_chosen(std::size_t leg, const fetch_spec& x,
                            const block_spec& block,
                            const string& where) const {
    if (!x.chosen)
      return x.chosen_max == 0 && x.chosen_option.empty()
               ? result<void>{}
               : refuse(where
                        + "all of it, and has a bound on what is chosen; set "
                          "`chosen` to true, or drop the bound");
    if (block.count < 2)
      return refuse(
        where + "as chosen, and there is only one; set `chosen` to false");
    if (x.chosen_max > block.count)
      return refuse(where + "at most " + std::to_string(x.chosen_max) + " of "
                    + std::to_string(block.count) + "; 1 to "
                    + std::to_string(block.count) + ", or 0 for all, would do");
    const bool decided = leg > 0 && !method.legs[leg - 1].choice.value.empty();
    if (!decided && !has_fixed_choice())
      return refuse(
        where
        + "as chosen, and nothing chose before; give the leg before "
          "a choice, or a role a fixed one");
    return {};
  }

  result<void> check_legs() const {
    if (method.legs.empty())
      return refuse("it has no legs; a visit fetches something");
    std::set<string> fetched;
    for (std::size_t i = 0; i < method.legs.size(); ++i) {
      if (method.legs[i].fetch.empty())
        return refuse("leg " + std::to_string(i + 1)
                      + " fetches nothing; drop it");
      for (const auto& x : method.legs[i].fetch) {
        if (auto ok = check_fetch(i, x); !ok)
          return ok;
        if (!fetched.insert(x.family).second)
          return refuse(
            "leg " + std::to_string(i + 1) + " fetches " + in_quotes(x.family)
            + " again; what was fetched stays until the visit ends");
      }
    }
    for (const auto& x : method.blocks)
      if (method.offers && travels(x.where) && !fetched.contains(x.name))
        return refuse("no leg fetches block " + in_quotes(x.name)
                      + ", so nobody could offer to it; name it in a leg");
    return {};
  }

  result<void> check_role(const role& x, bool last) const {
    const auto where = "role " + in_quotes(x.name);
    if (x.procedure.value.empty())
      return refuse(where + " has no procedure; name one");
    if (!last && x.quota == 0)
      return refuse(where + " has no quota; only the last role takes the rest");
    if (last && x.quota != 0)
      return refuse(where + " is the last and has a quota of "
                    + std::to_string(x.quota)
                    + "; it takes the rest, so leave it at 0");
    if (x.members > 0 && x.quota > x.members)
      return refuse(where + " has a quota of " + std::to_string(x.quota)
                    + " and " + std::to_string(x.members)
                    + " members; no more than those can come");
    if (!x.choice_fixed)
      return {};
    for (const auto& leg : method.legs)
      for (const auto& y : leg.fetch)
        if (const auto* block = find(method.blocks, y.family);
            y.chosen && block)
          return x.members > 0 && x.members <= block->count
                   ? result<void>{}
                   : refuse(where + " ties " + std::to_string(x.members)
                            + " members to instances of "
                            + in_quotes(block->name) + "; 1 to "
                            + std::to_string(block->count) + " would do");
    return refuse(where
                  + " has a fixed choice, and no leg fetches what is chosen");
  }

  result<void> check_roles() const {
    if (method.roles.empty())
      return refuse("it has no roles; one with a procedure would do");
    if (auto names = check_names(method.roles, "role"); !names)
      return names;
    for (const auto& x : method.roles)
      if (auto ok = check_role(x, &x == &method.roles.back()); !ok)
        return ok;
    if (std::ranges::count(method.roles, 0u, &role::members) != 1)
      return refuse(
        "exactly one role is for all clients that are no members of "
        "another; give the others `members`");
    return {};
  }

  /// A disclosure that lists what was chosen.
  result<void> check_listing(const string& where, const disclosure& x) const {
    if (x.chosen_of.empty())
      return {};
    const auto* family = find(method.blocks, x.chosen_of);
    if (!family || family->where != scope::expert)
      return refuse(where + " lists instances of " + in_quotes(x.chosen_of)
                    + ", which is no expert family; name one");
    const auto last = family->count - 1.0;
    return x.min == 0 && x.max == last && x.count_max <= family->count && !x.sum
             ? result<void>{}
             : refuse(where + " lists instances of " + in_quotes(family->name)
                      + "; up to " + std::to_string(family->count)
                      + " numbers from 0 to "
                      + std::to_string(family->count - 1)
                      + ", and no sum, would do");
  }

  result<void> check_disclosures() const {
    if (auto names = check_names(method.disclosures, "disclosure"); !names)
      return names;
    for (const auto& x : method.disclosures) {
      const auto where = "disclosure " + in_quotes(x.name);
      if (x.count_max == 0 || x.count_max > limits::disclosed_reals_max)
        return refuse(
          where + " has up to " + std::to_string(x.count_max) + " values; 1 to "
          + std::to_string(limits::disclosed_reals_max) + " would do");
      if (!std::isfinite(x.min) || !std::isfinite(x.max) || x.min > x.max)
        return refuse(where + " has no finite range; min <= max would do");
      if (auto ok = check_listing(where, x); !ok)
        return ok;
      if (x.sum
          && !(*x.sum <= x.count_max * std::max(0.0, x.max) && *x.sum >= x.min))
        return refuse(where + " cannot add up to " + std::to_string(*x.sum)
                      + " within its range; widen it");
    }
    return {};
  }

  /// What a client makes of its last visit nobody else has.
  result<void> check_finish() const {
    if (method.finish.value.empty())
      return {};
    if (!method.offers)
      return refuse("it has last visits, and no other one offers anything, so "
                    "none of them is a part of a version; leave `finish` out");
    return std::ranges::any_of(
             method.blocks,
             [](const block_spec& x) { return x.where == scope::personal; })
             ? result<void>{}
             : refuse("it has last visits, and no personal block that they "
                      "could change; leave `finish` out, or add one");
  }

  result<void> check_rest() const {
    const bool merges = std::ranges::any_of(
      method.blocks, [](const block_spec& x) { return travels(x.where); });
    if (method.offers && !merges)
      return refuse(
        "it offers and has no shared or expert block; set `offers` to false");
    if (!method.offers && method.state == state_rule::on_accept)
      return refuse(
        "its state waits for a verdict, and nothing is offered; use "
        "`on_offer`");
    return {};
  }
};

} // namespace

result<void> check(const recipe& method) {
  const checker of{{method}};
  if (method.name.empty())
    return of.refuse("it has no name");
  return of.check_blocks()
    .and_then([&] { return of.check_legs(); })
    .and_then([&] { return of.check_roles(); })
    .and_then([&] { return of.check_disclosures(); })
    .and_then([&] { return check_options(method); })
    .and_then([&] { return of.check_rest(); })
    .and_then([&] { return of.check_finish(); })
    .and_then([&]() -> result<void> {
      if (method.more.flag.empty())
        return {};
      return with_options(method, {{method.more.flag, 1}})
        .and_then([](const recipe& all) { return check(all); });
    });
}

} // namespace troupe::policies
