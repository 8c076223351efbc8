#include "actors/director/loads.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "core/limits.hpp"

namespace troupe::actors {

double relative_entropy(const std::vector<double>& parts) {
  if (parts.size() < 2)
    return 0;
  double sum = 0;
  for (const auto x : parts)
    sum -= x > 0 ? x * std::log(x) : 0;
  return std::clamp(sum / std::log(static_cast<double>(parts.size())), 0.0,
                    1.0);
}

loads::loads(const recipe& method, const models::layout& blocks,
             std::size_t groups, std::optional<policies::request_watch> before)
  : groups_(groups),
    wishes_(wishes_of(method, blocks)) {
  if (wishes_ && before)
    wishes_->watch = std::move(*before);
  std::set<line_id> known; // A group's families share their lines.
  for (const auto& block : blocks.blocks) {
    if (block.where != scope::expert || !known.insert(block.line).second)
      continue;
    auto found = std::ranges::find(families_, block.family, &family::name);
    if (found == families_.end()) {
      families_.push_back({.name = block.family});
      found = std::prev(families_.end());
    }
    found->experts.push_back({.line = block.line, .block = block.id});
  }
  for (const auto& x : method.disclosures)
    mixtures_.push_back(x.sum ? std::optional{mixture{.name = x.name}}
                              : std::nullopt);
}

std::optional<loads::wishes> loads::wishes_of(const recipe& method,
                                              const models::layout& blocks) {
  const auto& all = method.disclosures;
  const auto of = std::ranges::find_if(
    all, [](const auto& x) { return !x.chosen_of.empty(); });
  if (of == all.end())
    return std::nullopt;
  wishes out{.index = static_cast<std::size_t>(of - all.begin()),
             .lines = {},
             .names = {},
             .watch = policies::request_watch{
               {.experts = blocks.family(of->chosen_of).size(),
                .asked = of->count_max}}};
  for (const auto id : blocks.family(of->chosen_of)) {
    const auto& block = *blocks.find(id);
    out.lines.push_back(block.line);
    out.names.push_back(block.name);
  }
  return out;
}

void loads::hear(const messages::visit_loaded& x) {
  if (wishes_)
    for (const auto& said : x.disclosures)
      if (said.index == wishes_->index)
        wishes_->watch.add(
          x.visit, policies::request_in(said.values, wishes_->lines.size()));
}

request_status loads::requests() const {
  if (!wishes_)
    return {};
  const auto& [index, lines, names, watch] = *wishes_;
  request_status out{.experts = {}, .visits = watch.visits(), .alarms = {}};
  for (std::size_t i = 0; i < lines.size(); ++i)
    out.experts[lines[i]] = {.first = watch.first()[i],
                             .asked = watch.asked()[i]};
  using kind = policies::request_watch::alarm::kind;
  for (const auto& x : watch.alarms())
    out.alarms.push_back(
      {.line = lines[x.expert],
       .what = x.what == kind::crowded ? "crowded" : "deserted",
       .text = policies::text_of(x, names[x.expert])});
  return out;
}

void loads::add(const messages::visit_loaded& x) {
  // It was heard before a restart.
  if (wishes_ && wishes_->watch.has(x.visit))
    return;
  hear(x);
  for (const auto& said : x.disclosures)
    if (is_mixture(said)) {
      auto& to = mixtures_[said.index]->sum;
      ++to.count;
      to.sum += relative_entropy(said.values);
    }
  for (auto& of : families_)
    use(of, x);
  remember(x);
}

// A client may disclose fewer parts than there are.
void loads::remember(const messages::visit_loaded& x) {
  const auto client = x.visit.client;
  for (const auto& said : x.disclosures)
    if (is_mixture(said) && !families_.empty()
        && said.values.size() == families_.front().experts.size()
        && (said_.contains(client) || said_.size() < limits::routers_watched)) {
      said_[client] = said.values;
      return;
    }
}

bool loads::is_mixture(const messages::disclosed_values& x) const {
  return x.index < mixtures_.size() && mixtures_[x.index]
         && x.values.size() > 1;
}

std::vector<double> loads::shares(const family& of,
                                  const messages::visit_loaded& x) const {
  for (const auto& said : x.disclosures)
    if (is_mixture(said) && said.values.size() == of.experts.size())
      return said.values;
  std::vector<double> out;
  for (const auto& y : of.experts)
    out.push_back(std::ranges::find(x.blocks, y.block) != x.blocks.end());
  return out;
}

void loads::use(family& of, const messages::visit_loaded& x) const {
  const auto parts = shares(of, x);
  const auto is_used = [](double part) { return part >= limits::share_min; };
  if (std::ranges::none_of(parts, is_used))
    return;
  ++of.visits;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!is_used(parts[i]))
      continue;
    auto& to = of.experts[i];
    to.load.visits += parts[i];
    to.load.rows += parts[i] * static_cast<double>(x.examples);
    to.last = of.visits;
  }
}

load_status loads::status() const {
  load_status out;
  for (const auto& of : families_) {
    auto& active = out.active[of.name];
    for (const auto& x : of.experts) {
      out.experts[x.line] = x.load;
      active += x.last > 0
                && of.visits - x.last < visits_per_expert * of.experts.size();
    }
  }
  for (const auto& x : mixtures_)
    if (x)
      out.entropies[x->name] = x->sum;
  out.figures = models::router_figures(said_, groups_);
  out.requests = requests();
  return out;
}

} // namespace troupe::actors
