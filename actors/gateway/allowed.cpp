#include "actors/gateway/allowed.hpp"

#include <algorithm>

#include "policies/invitations.hpp"

namespace troupe::actors {

namespace {

std::vector<line_id> lines_of(const models::layout& blocks,
                              const std::string& family) {
  std::vector<line_id> lines;
  for (const auto block : blocks.family(family))
    lines.push_back(blocks.find(block)->line);
  return lines;
}

bool has(std::span<const line_id> sorted, line_id x) {
  return std::ranges::binary_search(sorted, x);
}

} // namespace

allowed_choices::allowed_choices(const recipe& method,
                                 const models::layout& blocks)
  : roles_(method.roles) {
  if (!method.finish.value.empty())
    last_role_ = last_role(method);
  std::set<line_id> whole;
  for (const auto& leg : method.legs)
    for (const auto& want : leg.fetch)
      if (!want.chosen)
        for (const auto line : lines_of(blocks, want.family))
          whole.insert(line);
  for (const auto& leg : method.legs) {
    auto& to = legs_.emplace_back();
    for (const auto& want : leg.fetch) {
      const auto lines = lines_of(blocks, want.family);
      if (!want.chosen) {
        to.whole.insert(to.whole.end(), lines.begin(), lines.end());
        to.only_chosen &= lines.empty();
        continue;
      }
      std::set<line_id> counted{lines.begin(), lines.end()};
      std::erase_if(counted, [&](line_id x) { return whole.contains(x); });
      if (!counted.empty())
        to.chosen.push_back(
          {.most = want.chosen_max == 0 ? lines.size() : want.chosen_max,
           .lines = lines,
           .counted = {counted.begin(), counted.end()}});
    }
  }
  for (std::uint32_t i = 0; i < method.disclosures.size(); ++i)
    if (const auto& family = method.disclosures[i].chosen_of; !family.empty())
      requests_.push_back({.index = i, .lines = lines_of(blocks, family)});
}

bool allowed_choices::is_to_offer(std::uint32_t role) const {
  return last_role_ != role;
}

bool allowed_choices::is_bound(std::uint32_t role) const {
  return role < roles_.size() && roles_[role].choice_fixed;
}

// As its dialogue chooses.
bool allowed_choices::is_own(client_id who, const choice_of& of,
                             line_id line) const {
  if (!policies::role_of(who, roles_))
    return false;
  const auto place = policies::place_in_role(who, roles_);
  return of.lines[place % of.lines.size()] == line;
}

bool allowed_choices::is_within(const messages::fetch_requested& x,
                                const choice_of& of,
                                std::span<const line_id> served) const {
  const bool bound = is_bound(x.pass.role);
  std::size_t lines = 0;
  for (const auto& want : x.wanted) {
    if (!has(of.counted, want.line) || has(served, want.line))
      continue;
    if (bound && !is_own(x.pass.visit.client, of, want.line))
      return false;
    ++lines;
  }
  if (lines == 0)
    return true; // Nothing is new.
  for (const auto line : served)
    lines += has(of.counted, line);
  return lines <= (bound ? 1 : of.most);
}

// Where there is nothing to fetch a client asks for nothing.
bool allowed_choices::has_begun(std::uint32_t leg,
                                std::span<const line_id> served) const {
  const auto was_served = [&](line_id x) { return has(served, x); };
  for (std::uint32_t i = 0; i < leg; ++i) {
    if (!std::ranges::all_of(legs_[i].whole, was_served))
      return false;
    for (const auto& of : legs_[i].chosen)
      if (std::ranges::none_of(of.counted, was_served))
        return false;
  }
  return true;
}

// Of what a leg lets it choose it has one at least.
bool allowed_choices::asks_for_none(const messages::fetch_requested& x) const {
  const auto& leg = legs_[x.leg];
  return x.wanted.empty() && leg.only_chosen && !leg.chosen.empty();
}

bool allowed_choices::may_fetch(const messages::fetch_requested& x,
                                std::span<const line_id> served) const {
  return x.leg < legs_.size() && has_begun(x.leg, served)
         && may_go_on(x, served);
}

bool allowed_choices::may_go_on(const messages::fetch_requested& x,
                                std::span<const line_id> served) const {
  return x.leg < legs_.size() && !asks_for_none(x)
         && std::ranges::all_of(legs_[x.leg].chosen, [&](const choice_of& of) {
              return is_within(x, of, served);
            });
}

bool allowed_choices::may_offer(const messages::offer_made& x,
                                std::span<const line_id> lines,
                                std::span<const line_id> served) const {
  const bool bound = is_bound(x.pass.role);
  std::set<line_id> had{lines.begin(), lines.end()};
  had.insert(served.begin(), served.end());
  const auto are_within = [&](const choice_of& of) {
    std::size_t counted = 0;
    for (const auto line : had) {
      if (!has(of.counted, line))
        continue;
      if (bound && !is_own(x.pass.visit.client, of, line))
        return false;
      ++counted;
    }
    return counted <= (bound ? 1 : of.most);
  };
  for (const auto& leg : legs_)
    if (!std::ranges::all_of(leg.chosen, are_within))
      return false;
  return std::ranges::all_of(requests_, [&](const request_rule& rule) {
    const auto named = named_by(x, rule);
    if (bound || !named)
      return bound && !named;
    return std::ranges::all_of(rule.lines, [&](line_id line) {
      return !had.contains(line) || named->contains(line);
    });
  });
}

// What its numbers may be is known: see `screen`.
std::optional<std::set<line_id>>
allowed_choices::named_by(const messages::offer_made& x,
                          const request_rule& rule) const {
  const auto said = std::ranges::find(x.disclosures, rule.index,
                                      &messages::disclosed_values::index);
  if (said == x.disclosures.end())
    return std::nullopt;
  std::set<line_id> named;
  for (const auto value : said->values)
    if (value >= 0 && value < static_cast<double>(rule.lines.size()))
      named.insert(rule.lines[static_cast<std::size_t>(value)]);
  return named;
}

bool allowed_choices::is_of_request(const messages::offer_made& x,
                                    std::span<const line_id> served) const {
  const bool bound = is_bound(x.pass.role);
  return std::ranges::all_of(requests_, [&](const request_rule& rule) {
    const auto named = named_by(x, rule);
    if (bound || !named)
      return bound && !named;
    std::set<line_id> had;
    for (const auto line : rule.lines)
      if (has(served, line))
        had.insert(line);
    return !named->empty() && *named == had;
  });
}

} // namespace troupe::actors
