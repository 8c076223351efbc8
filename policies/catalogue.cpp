#include "policies/catalogue.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "policies/methods/methods.hpp"
#include "policies/mixing.hpp"

namespace troupe::policies {

namespace {

std::string as_code(std::string_view x) {
  return "`" + std::string{x} + "`";
}

constexpr std::array all_paces{pace_kind::sync, pace_kind::semisync,
                               pace_kind::fedbuff, pace_kind::fedasync};

/// Whether each offer can be mixed into the head as a whole model.
bool can_be_mixed(const recipe& method) {
  return std::all_of(
    method.blocks.begin(), method.blocks.end(), [](const block_spec& x) {
      return !travels(x.where) || x.merge.kind == merge_kind::mean
             || x.merge.kind == merge_kind::padded
             || x.merge.kind == merge_kind::replace;
    });
}

bool weighs_shares(const recipe& method) {
  return std::ranges::any_of(method.blocks, has_shares, &block_spec::weight);
}

bool weighs_ranks(const recipe& method) {
  return std::ranges::any_of(method.blocks, [](const block_spec& x) {
    return x.weight == weight_rule::rank_norm;
  });
}

bool merges_products(const recipe& method) {
  return std::ranges::any_of(method.blocks, [](const block_spec& x) {
    return x.merge.kind == merge_kind::product_svd;
  });
}

bool weighs_examples(const recipe& method) {
  return std::ranges::any_of(method.blocks, [](const block_spec& x) {
    return travels(x.where)
           && (x.weight == weight_rule::examples
               || x.weight == weight_rule::examples_times_share);
  });
}

/// What is done in another way than published, whatever the pace.
std::string departures(const recipe& method, const circumstances& x) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() ? "" : " ") + sentence;
  };
  if (!method.offers)
    return text;
  if (robust(x.rule))
    add("Merge rule \"" + std::string{to_string(x.rule)}
        + "\" takes the place of the mean: what offers weigh is dropped.");
  else if (x.weights != weight_kind::examples && weighs_examples(method))
    add("Offers weigh \"" + std::string{to_string(x.weights)}
        + "\" of their examples, and not their number.");
  if (x.server_optimises && !method.server_optimises)
    add("The server's optimiser makes a step of what the publication adds.");
  if (x.clips)
    add("Offers longer than 'clip_norm' are shortened.");
  if (x.rounds)
    add("Offers and served versions are rounded to bf16.");
  if (x.pace != pace_kind::sync)
    return text;
  if (x.closes_early)
    add("A round whose deadline passes closes with its quorum, without who is "
        "slow.");
  if (x.over_selects)
    add("A round merges the first of those that it invites, and not all.");
  return text;
}

std::string remark_on_pace(const recipe& method, const circumstances& x) {
  if (standing_of(method, x) == standing::refused)
    return method.asynchronous == standing::refused
             ? "Its offers mean nothing outside of the round that they were "
               "made in."
             : "Mixing one client's model into the head has no meaning for a "
               "block "
               "whose offers are summed over clients.";
  if (!method.offers)
    return "Nothing is merged: visits only follow each other.";
  switch (x.pace) {
    case pace_kind::semisync:
      return "A window merges what arrived in it; late offers enter the next "
             "one, "
             "discounted by their staleness.";
    case pace_kind::fedbuff:
      if (x.alone)
        break;
      return "The first K offers are merged, each against the version it "
             "started "
             "from, discounted by its staleness.";
    case pace_kind::fedasync:
      break;
    case pace_kind::sync:
      return {};
  }
  return "Each offer is mixed in alone, discounted by its staleness"
         + std::string{weighs_shares(method)
                         ? " and scaled by the share of its block."
                         : "."};
}

/// One item per remark, with all that it is about.
std::string remarks_as_markdown() {
  std::vector<std::pair<std::string, std::string>>
    items; // Remark, then subject.
  for (const auto& method : catalogue()) {
    std::string_view last;
    for (const auto pace : all_paces) {
      const auto remark = remark_on(method, pace);
      // What an extension does is the same for all methods that offer.
      const bool general =
        method.offers && standing_of(method, pace) == standing::extension
        && !(pace == pace_kind::fedasync && weighs_shares(method));
      const auto under = as_code(to_string(pace));
      const auto found = std::ranges::find(
        items, remark, &std::pair<std::string, std::string>::first);
      if (remark.empty())
        continue;
      if (found == items.end())
        items.emplace_back(
          remark, general ? under : as_code(method.name) + " under " + under);
      else if (!general)
        found->second +=
          ", " + (last == method.name ? "" : as_code(method.name) + " under ")
          + under;
      last = general ? last : method.name;
    }
  }
  std::string text;
  for (const auto& [remark, subject] : items)
    text += "* " + subject + ": " + remark + "\n";
  return text;
}

} // namespace

std::span<const recipe> catalogue() {
#define TROUPE_MAKE_METHOD(name) methods::name(),
  static const std::vector<recipe> all{TROUPE_METHODS(TROUPE_MAKE_METHOD)};
#undef TROUPE_MAKE_METHOD
  return all;
}

const recipe* find_recipe(std::string_view name) {
  const auto all = catalogue();
  const auto found = std::find_if(
    all.begin(), all.end(), [&](const recipe& x) { return x.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::span<const std::string_view> announced_methods() {
#define TROUPE_NAME_METHOD(name) #name,
  static const std::vector<std::string_view> names{
    TROUPE_ANNOUNCED_METHODS(TROUPE_NAME_METHOD)};
#undef TROUPE_NAME_METHOD
  return names;
}

standing standing_of(const recipe& method, const circumstances& x) {
  if (x.pace == pace_kind::fedasync && !can_be_mixed(method))
    return standing::refused;
  if (x.pace != pace_kind::sync && method.asynchronous != standing::exact)
    return method.asynchronous;
  return departures(method, x).empty() ? standing::exact : standing::extension;
}

std::string remark_on(const recipe& method, const circumstances& x) {
  const auto found = standing_of(method, x);
  if (found == standing::exact)
    return {};
  const auto rest = departures(method, x);
  if (found == standing::refused || x.pace == pace_kind::sync)
    return found == standing::refused ? remark_on_pace(method, x) : rest;
  return remark_on_pace(method, x) + (rest.empty() ? "" : " " + rest);
}

std::string formula_of(const recipe& method, const circumstances& x) {
  if (!method.offers)
    return {};
  if (robust(x.rule))
    return "x + r·" + std::string{to_string(x.rule)} + "(s·d)";
  const auto* share = weighs_shares(method) ? "·π" : "";
  const bool ranks = weighs_ranks(method);
  const auto weight = (ranks                     ? std::string{"w"}
                       : weighs_examples(method) ? "n"
                                                 : "1")
                      + share;
  if (merges_products(method))
    return "Σ(" + weight + "·p) / Σ(" + weight
           + ") factored anew, p the product of a client's factors";
  const auto mean_by = [&](const std::string& a) {
    if (x.alone)
      return std::string{"x + r·s"} + share + "·d";
    const auto* discount = x.pace == pace_kind::sync ? "" : "·s";
    return "x + r·Σ(" + a + discount + "·d) / Σ(" + a + ")";
  };
  auto text = mean_by(weight);
  if (!ranks)
    return text;
  text += x.alone ? "" : ", w the norm of what a client adds";
  text += ", d = -x in ranks that a client lacks";
  for (const auto& block : method.blocks)
    if (travels(block.where) && block.weight == weight_rule::one)
      text += "; of " + in_quotes(block.name) + " " + mean_by("1");
  return text;
}

recipe with_buffers(recipe method, buffer_policy policy) {
  if (policy == buffer_policy::average)
    return method;
  for (auto& block : method.blocks) {
    if (block.where != scope::shared || !block.name.ends_with(".buffers"))
      continue;
    block.where =
      policy == buffer_policy::local ? scope::personal : scope::frozen;
    // Neither is fetched: the first values are part of the model itself.
    for (auto& leg : method.legs)
      std::erase_if(
        leg.fetch, [&](const fetch_spec& x) { return x.family == block.name; });
  }
  return method;
}

result<recipe> with_merging(recipe method, const merging& how) {
  const bool rules = how.rule.kind != merge_kind::mean;
  if (!method.offers && (rules || how.is_clipped))
    return fail(errc::invalid_config,
                "method '" + method.name
                  + "' merges nothing; rule = \"mean\" and 'clip_norm' = 0 "
                    "would do");
  bool is_ruled = !rules;
  for (auto& x : method.blocks) {
    if (!travels(x.where))
      continue;
    if (how.is_clipped && takes_few_ranks(x.merge.kind))
      return fail(errc::invalid_config,
                  "'clip_norm' bounds what is offered, and under method '"
                    + method.name
                    + "' what is not offered moves a version, too; 0 would do");
    if (rules && x.merge.kind == merge_kind::mean) {
      x.merge = how.rule;
      is_ruled = true;
    }
  }
  if (!is_ruled)
    return fail(errc::invalid_config,
                "method '" + method.name
                  + "' has merge rules of its own; rule = \"mean\" would do");
  return method;
}

std::string pairs_as_markdown() {
  std::string table = "| method |";
  std::string rule = "| --- |";
  for (const auto pace : all_paces) {
    table += " " + as_code(to_string(pace)) + " |";
    rule += " --- |";
  }
  table += "\n" + rule + "\n";
  for (const auto& method : catalogue()) {
    table += "| " + as_code(method.name) + " |";
    for (const auto pace : all_paces)
      table += " " + std::string{to_string(standing_of(method, pace))} + " |";
    table += "\n";
  }
  for (const auto name : announced_methods()) {
    table += "| " + as_code(name) + " |";
    for (std::size_t i = 0; i < all_paces.size(); ++i)
      table += " not built yet |";
    table += "\n";
  }
  return table + "\n" + remarks_as_markdown();
}

} // namespace troupe::policies
