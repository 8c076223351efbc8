#include "models/torch/language/routed_blocks.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/assert.hpp"
#include "models/torch/language/feed_forward.hpp"
#include "models/torch/language/noisy_gate.hpp"

namespace troupe::models {

namespace {

/// The tokens that chose an expert, and what it counts for them.
struct chosen_rows {
  at::Tensor rows;    ///< Long, ascending; undefined: all.
  at::Tensor weights; ///< [n x 1]

  bool are_all() const {
    return !rows.defined();
  }

  bool are_none() const {
    return rows.defined() && rows.numel() == 0;
  }

  at::Tensor pick(const at::Tensor& x) const {
    return rows.defined() && x.defined() ? x.index_select(0, rows) : x;
  }

  at::Tensor add(const at::Tensor& to, const at::Tensor& x) const {
    return rows.defined() ? to.index_add(0, rows, x) : to + x;
  }
};

chosen_rows rows_of(const expert_choice& choice, std::int64_t expert) {
  const auto weights = choice.weights.narrow(1, expert, 1);
  if (!choice.order.defined() || choice.order.size(1) == choice.weights.size(1))
    return {.rows = {}, .weights = weights};
  const auto rows = choice.order.eq(expert).any(1).nonzero().squeeze(1);
  return {.rows = rows, .weights = weights.index_select(0, rows)};
}

at::Tensor in_rows(const at::Tensor& x) {
  return x.reshape({-1, x.size(-1)});
}

/// What each expert should have of the tokens' chances.
std::vector<double> wanted_parts(const routing_options& how) {
  const auto experts = static_cast<double>(how.experts);
  if (how.favoured == 0 || how.experts == 1)
    return std::vector<double>(how.experts, 1 / experts);
  std::vector<double> parts(how.experts, (1 - how.favoured) / (experts - 1));
  parts.front() = how.favoured;
  return parts;
}

std::int64_t chosen_of(const routing_options& how) {
  return static_cast<std::int64_t>(std::min(how.top, how.experts));
}

/// Where all tokens go to all experts and each counts the same, the balance of
/// linear gates is a constant.
bool has_slope(const routing_options& how, const std::vector<double>& rates) {
  if (how.gate == gate_kind::noisy)
    return how.balance > 0 && how.experts > 1;
  return how.balance > 0
         && (how.top < how.experts
             || std::ranges::count(rates, rates.front())
                  != static_cast<std::ptrdiff_t>(rates.size()));
}

} // namespace

expert_choice choose(const at::Tensor& logits, std::int64_t most) {
  TROUPE_ASSERT(most > 0 && most <= logits.size(1));
  // The order is no function that has a slope.
  const auto order = std::get<1>(at::sort(logits.detach(), true, 1, true))
                       .narrow(1, 0, most)
                       .contiguous();
  if (most == logits.size(1))
    return {.weights = at::softmax(logits, 1), .order = order};
  const auto kept = at::softmax(logits.gather(1, order), 1);
  return {.weights =
            at::zeros(logits.sizes(), logits.options()).scatter(1, order, kept),
          .order = order};
}

std::vector<double> balance_rates(const routing_options& how) {
  const auto chosen = static_cast<double>(chosen_of(how));
  auto rates = wanted_parts(how);
  for (auto& x : rates)
    x = 1 / (chosen * x);
  if (how.printed_scale) {
    const auto sum = std::accumulate(rates.begin(), rates.end(), 0.);
    for (auto& x : rates)
      x /= sum;
  }
  return rates;
}

at::Tensor load_balance(const at::Tensor& logits, const at::Tensor& order,
                        std::span<const double> rates) {
  TROUPE_ASSERT(static_cast<std::int64_t>(rates.size()) == logits.size(1));
  const auto flat = order.contiguous();
  std::vector<double> parts(rates.size());
  const std::span chosen{flat.data_ptr<std::int64_t>(),
                         static_cast<std::size_t>(flat.numel())};
  for (const auto expert : chosen)
    parts[static_cast<std::size_t>(expert)] += 1;
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i] *= rates[i] / static_cast<double>(logits.size(0));
  return at::softmax(logits, 1)
    .mv(at::tensor(parts, at::kDouble).to(logits.scalar_type()))
    .mean();
}

at::Tensor load_sums(const at::Tensor& logits, const at::Tensor& order) {
  const auto counts = at::bincount(order.reshape({-1}), {}, logits.size(1));
  return at::cat(
    {counts.to(logits.scalar_type()), at::softmax(logits, 1).sum(0)});
}

at::Tensor balance_of_sums(const at::Tensor& sums, std::int64_t most,
                           std::span<const double> rates) {
  const auto experts = static_cast<std::int64_t>(rates.size());
  TROUPE_ASSERT(sums.size(0) == 2 * experts);
  const auto counts = sums.narrow(0, 0, experts).detach();
  const auto tokens = counts.sum() / static_cast<double>(most);
  const auto parts =
    counts / tokens
    * at::tensor(at::ArrayRef<double>{rates.data(), rates.size()},
                 sums.options().requires_grad(false));
  return parts.dot(sums.narrow(0, experts, experts)) / tokens;
}

routed_blocks::routed_blocks(const language_spec& spec,
                             const routing_options& how,
                             std::vector<at::Tensor> routers)
  : spec_(spec),
    places_(places_of(spec).layers),
    how_(how),
    most_(chosen_of(how)),
    routers_(std::move(routers)),
    seen_(places_.size()) {
  TROUPE_ASSERT(how.experts > 0 && how.top > 0);
  TROUPE_ASSERT(routers_.empty()
                || routers_.size()
                     == places_.size() * (is_noisy() || how.bias ? 2 : 1));
  rates_ = balance_rates(how);
  balances_ = has_slope(how, rates_);
}

void routed_blocks::begin(const pass_facts& x) {
  there_ = x.there.defined() ? x.there.reshape({-1}).nonzero().squeeze(1)
                             : at::Tensor{};
  is_scored_ = x.is_scored;
  is_counted_ = x.is_counted;
  beside_ = x.loads_beside;
  loads_.clear();
  draws_ = x.draws;
  balance_ = at::Tensor{};
}

at::Tensor routed_blocks::of_those_there(const at::Tensor& x) const {
  return there_.defined() ? x.index_select(0, there_) : x;
}

at::Tensor routed_blocks::linear_logits(std::size_t layer,
                                        const at::Tensor& x) const {
  if (!how_.bias)
    return x.mm(routers_[layer].t());
  return x.mm(routers_[2 * layer].t()) + routers_[2 * layer + 1];
}

routed_blocks::gate_logits routed_blocks::logits_at(std::size_t layer,
                                                    const at::Tensor& x,
                                                    std::int64_t tokens) const {
  if (!is_noisy()) {
    const auto logits = linear_logits(layer, x);
    return {.clean = logits, .noisy = logits};
  }
  const auto clean =
    noisy_logits(x, routers_[2 * layer], routers_[2 * layer + 1]);
  if (!draws_)
    return {.clean = clean, .noisy = clean};
  const auto noise = gate_noise(
    *draws_, layer,
    {.rows = x.size(0) / tokens, .tokens = tokens, .experts = clean.size(1)});
  return {.clean = clean, .noisy = clean + noise.to(clean.scalar_type())};
}

expert_choice routed_blocks::choose_at(std::size_t layer, const at::Tensor& x,
                                       std::int64_t tokens) {
  if (!chooses()) {
    const auto experts = static_cast<std::int64_t>(how_.experts);
    return {.weights =
              at::full({x.size(0), experts},
                       1 / static_cast<double>(how_.experts), x.options()),
            .order = {}};
  }
  const auto logits = logits_at(layer, x, tokens);
  auto choice = choose(logits.noisy, most_);
  if (how_.of_all && most_ < logits.noisy.size(1))
    choice.kept =
      at::softmax(logits.noisy, 1).gather(1, choice.order).sum(1, true);
  note(layer, logits, choice);
  return choice;
}

// What each expert has of a token's choice: of all, or of those kept alone.
at::Tensor routed_blocks::counted(const at::Tensor& said,
                                  const at::Tensor& order) const {
  if (!how_.balance_of_kept)
    return said;
  return at::zeros_like(said).scatter(1, order, said.gather(1, order));
}

at::Tensor routed_blocks::sums_of(const gate_logits& logits,
                                  const expert_choice& choice) const {
  if (is_noisy())
    return variation_sums(of_those_there(choice.weights),
                          of_those_there(logits.clean),
                          of_those_there(logits.noisy), most_);
  const auto order = of_those_there(choice.order);
  return load_sums(counted(of_those_there(logits.clean), order), order);
}

at::Tensor routed_blocks::loads_of(std::size_t layer, const gate_logits& logits,
                                   const expert_choice& choice) const {
  if (!beside_.empty()) {
    const auto sums = sums_of(logits, choice) + beside_.at(layer);
    return is_noisy()
             ? variation_of(sums, static_cast<std::int64_t>(how_.experts))
             : balance_of_sums(sums, most_, rates_);
  }
  if (is_noisy())
    return variation_balance(of_those_there(choice.weights),
                             of_those_there(logits.clean),
                             of_those_there(logits.noisy), most_);
  const auto order = of_those_there(choice.order);
  return load_balance(counted(of_those_there(logits.clean), order), order,
                      rates_);
}

void routed_blocks::add_loads(std::size_t layer, const gate_logits& logits,
                              const expert_choice& choice) {
  if (is_counted_)
    return loads_.push_back(sums_of(logits, choice));
  const auto loads = loads_of(layer, logits, choice);
  balance_ = balance_.defined() ? balance_ + loads : loads;
}

bool routed_blocks::has_loads() const {
  return !is_scored_ && !(there_.defined() && there_.numel() == 0)
         && (is_counted_ || (balances_ && c10::GradMode::is_enabled()));
}

// What padding chooses counts nowhere: its states are numbers without a
// meaning, so they are left out before anything is added up.
void routed_blocks::note(std::size_t layer, const gate_logits& logits,
                         const expert_choice& choice) {
  if (routes_ != nullptr) {
    const auto first = choice.order.select(1, 0).contiguous();
    const std::span some{first.data_ptr<std::int64_t>(),
                         static_cast<std::size_t>(first.numel())};
    for (const auto expert : some)
      routes_->push_back(static_cast<std::uint32_t>(expert));
  }
  if (there_.defined() && there_.numel() == 0)
    return;
  if (is_scored_) {
    auto& to = seen_[layer];
    // Of the softmax over all experts: what is left of it for those that are
    // chosen says nothing of the others.
    const auto chances =
      at::softmax(of_those_there(logits.clean).detach(), 1).select(1, 0);
    to.chances += chances.to(at::kDouble).sum().item<double>();
    const auto first = of_those_there(choice.order).select(1, 0);
    to.first_places +=
      static_cast<double>(first.eq(0).sum().item<std::int64_t>());
    to.tokens += static_cast<double>(chances.numel());
  } else if (has_loads() && !how_.balance_on_output) {
    add_loads(layer, logits, choice);
  }
}

routed_blocks::mixture
routed_blocks::mix(const expert_terms& by, const layer_places& at,
                   const expert_choice& choice, const at::Tensor& x,
                   const at::Tensor& up, const at::Tensor& gate) const {
  const auto plain = activated(spec_.activation, up, gate);
  mixture to{.all = plain, .parts = {}};
  for (std::uint32_t expert = 0; expert < how_.experts; ++expert) {
    auto& part = to.parts.emplace_back();
    const auto chosen = rows_of(choice, static_cast<std::int64_t>(expert));
    // Whom nobody chose is not looked at: not even what is no number spreads.
    if (chosen.are_none())
      continue;
    const auto its_x = chosen.pick(x);
    const auto its_up = chosen.pick(up);
    const auto its_gate = chosen.pick(gate);
    const auto said = activated(
      spec_.activation, by(expert, at.up, its_up, its_x),
      its_gate.defined() ? by(expert, at.gate, its_gate, its_x) : its_gate);
    // Of the same rows at the same places: bits of a function may depend on
    // where in a tensor a value stands.
    const auto base =
      chosen.are_all() ? plain : activated(spec_.activation, its_up, its_gate);
    to.all = chosen.add(to.all, chosen.weights * (said - base));
    part = chosen.weights * said;
  }
  return to;
}

at::Tensor routed_blocks::forward(model_parts& of, const expert_terms& by,
                                  std::size_t layer, const at::Tensor& x) {
  const auto& at = places_.at(layer);
  const auto rows = in_rows(x);
  const auto choice = choose_at(layer, rows, x.size(-2));
  const auto up = in_rows(of.product(at.up, at.up_bias, x));
  const auto gate = at.gate == no_place
                      ? at::Tensor{}
                      : in_rows(of.product(at.gate, no_place, x));
  const auto mixed = mix(by, at, choice, rows, up, gate);
  auto sizes = x.sizes().vec();
  sizes.back() = up.size(1);
  const auto down = of.product(at.down, at.down_bias, mixed.all.reshape(sizes));
  auto y = in_rows(down);
  for (std::uint32_t expert = 0; expert < how_.experts; ++expert) {
    const auto& part = mixed.parts[expert];
    if (!part.defined())
      continue;
    const auto chosen = rows_of(choice, static_cast<std::int64_t>(expert));
    y = chosen.are_all()
          ? by(expert, at.down, y, part)
          : chosen.add(y, by(expert, at.down,
                             at::zeros({part.size(0), y.size(1)}, y.options()),
                             part));
  }
  if (choice.kept.defined())
    y = y * choice.kept;
  if (how_.balance_on_output && chooses() && has_loads()) {
    const auto logits = linear_logits(layer, y);
    add_loads(layer, {.clean = logits, .noisy = logits}, choose(logits, most_));
  }
  return y.reshape(down.sizes());
}

at::Tensor routed_blocks::balance() {
  auto taken = std::exchange(balance_, at::Tensor{});
  if (!taken.defined())
    return taken;
  if (is_noisy())
    return taken * how_.balance;
  return taken * (how_.balance / static_cast<double>(places_.size()));
}

inner_adapters::routing_seen routed_blocks::take_seen() {
  inner_adapters::routing_seen result;
  if (routers_.empty())
    return result;
  for (auto& x : seen_) {
    const auto tokens = std::max(x.tokens, 1.);
    result.mean_of_first.push_back(x.chances / tokens);
    result.first_places.push_back(x.first_places / tokens);
    x = {};
  }
  return result;
}

} // namespace troupe::models
