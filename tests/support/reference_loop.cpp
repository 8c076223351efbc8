#include "tests/support/reference_loop.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>

#include "core/assert.hpp"
#include "kernels/robust.hpp"
#include "models/adapters/mean_of_products.hpp"
#include "models/adapters/rank_prefix.hpp"

namespace troupe::test {

namespace {

/// One part of an offer, for the block that is being merged.
struct reference_part {
  double weight;
  std::span<const float> delta; ///< Shorter than the block at a lower rank.
  std::size_t rank = 0;
};

struct quotient {
  std::vector<double> sum;
  double total;
};

/// Integers that count steps of the grid: their sums have no rounding error, in
/// whatever order the offers come.
quotient add_in_integers(std::span<const reference_part> parts,
                         const kernels::grid& grid, std::size_t size) {
  const double steps = std::exp2(grid.fraction_bits);
  std::int64_t total = 0;
  std::vector<std::int64_t> sum(size);
  for (const auto& x : parts) {
    total += std::llrint(x.weight * steps);
    for (std::size_t j = 0; j < x.delta.size(); ++j)
      sum[j] += std::llrint(x.weight * static_cast<double>(x.delta[j]) * steps);
  }
  quotient result{.sum = {}, .total = static_cast<double>(total) / steps};
  for (const auto x : sum)
    result.sum.push_back(static_cast<double>(x) / steps);
  return result;
}

/// The robust rules have tests of their own; here only what goes into them
/// counts.
quotient choose(std::span<const reference_part> parts, const merge_rule& rule,
                std::size_t size) {
  std::vector<std::span<const float>> deltas;
  for (const auto& x : parts)
    deltas.push_back(x.delta);
  const std::vector<double> discounts(parts.size(), 1.0);
  const kernels::offer_set offers{deltas, discounts};
  quotient out{.sum = std::vector<double>(size), .total = 1};
  const auto done = rule.kind == merge_kind::median
                      ? kernels::coordinate_median(offers, out.sum)
                    : rule.kind == merge_kind::trimmed_mean
                      ? kernels::trimmed_mean(offers, rule.count, out.sum)
                      : kernels::krum(offers, rule.count, rule.keep, out.sum);
  TROUPE_ASSERT(done.has_value());
  return out;
}

/// An offer of the first rows of each tensor, as one whose other values are
/// zeros: from the base, the way to zero is all of it back.
std::vector<float> with_zeros(std::span<const float> delta, std::size_t rows,
                              std::span<const float> base,
                              const models::block_layout& block) {
  std::vector<float> whole;
  for (std::size_t next = 0; const auto& tensor : block.tensors) {
    const auto row =
      models::has_ranks(tensor)
        ? tensor.size() / static_cast<std::size_t>(tensor.shape.front())
        : tensor.size();
    for (std::size_t j = 0; j < tensor.size(); ++j)
      whole.push_back(j / row < rows ? delta[next++] : -base[whole.size()]);
  }
  return whole;
}

quotient combine(std::span<const reference_part> parts,
                 std::span<const float> base,
                 const models::block_layout& block) {
  switch (block.merge.kind) {
    case merge_kind::median:
    case merge_kind::trimmed_mean:
    case merge_kind::krum:
      return choose(parts, block.merge, block.size);
    default:
      break;
  }
  std::deque<std::vector<float>> padded; // What is in it stays where it is.
  std::vector<reference_part> whole(parts.begin(), parts.end());
  for (auto& x : whole)
    if (x.delta.size() < block.size)
      x.delta = padded.emplace_back(with_zeros(x.delta, x.rank, base, block));
  return add_in_integers(whole, block.grid, block.size);
}

/// The factoring has tests of its own.
std::vector<float> factored(std::span<const reference_part> parts,
                            std::span<const float> base,
                            const models::block_layout& block) {
  double total = 0;
  for (const auto& x : parts)
    total += x.weight;
  std::vector<models::merged_offer> offers;
  for (const auto& x : parts)
    offers.push_back({x.delta, x.weight / total});
  const auto made = models::mean_of_products(block, base, offers);
  TROUPE_ASSERT(made.has_value());
  return *made;
}

/// Only what is learned and averaged goes through the server's optimiser:
/// statistics of a module are averaged and no more.
kernels::server_step step_of(const models::block_layout& block,
                             const kernels::server_step& server) {
  const auto kind = block.merge.kind;
  if (kind == merge_kind::mix)
    return {.rate = block.merge.amount};
  if (kind == merge_kind::sum_over || kind == merge_kind::replace
      || kind == merge_kind::product_svd || block.family.ends_with(".buffers"))
    return {};
  return server;
}

/// Reddi et al. (2021), algorithm 2, on one value. `v` is kept without its
/// first value, tau^2.
double change_of(const kernels::server_step& how, double delta, double* m,
                 double* v) {
  const auto square = delta * delta;
  const auto first = how.tau * how.tau;
  switch (how.rule) {
    case kernels::server_rule::plain:
      return how.rate * delta;
    case kernels::server_rule::momentum:
      *m = how.beta1 * *m + delta;
      return how.rate * *m;
    default:
      break;
  }
  auto now = std::max(*v + first, 0.0);
  if (how.rule == kernels::server_rule::adam)
    now = how.beta2 * now + (1 - how.beta2) * square;
  else if (how.rule == kernels::server_rule::adagrad)
    now = now + square;
  else if (now > square)
    now = now - (1 - how.beta2) * square;
  else if (now < square)
    now = now + (1 - how.beta2) * square;
  *v = now - first;
  *m = how.beta1 * *m + (1 - how.beta1) * delta;
  return how.rate * *m / (std::sqrt(now) + how.tau);
}

std::vector<float> apply(std::span<const float> base, const quotient& x,
                         const kernels::server_step& step,
                         std::span<double> moments) {
  const auto size = base.size();
  std::vector<float> result;
  for (std::size_t j = 0; j < size; ++j) {
    auto* m = step.moment_count() > 0 ? &moments[j] : nullptr;
    auto* v = step.moment_count() > 1 ? &moments[size + j] : nullptr;
    const auto change = change_of(step, x.sum[j] / x.total, m, v);
    result.push_back(static_cast<float>(static_cast<double>(base[j]) + change));
  }
  return result;
}

/// A sum over all clients, as N times what was served and what came to it.
std::vector<float> add_to_sum(const quotient& x, std::uint64_t admitted,
                              std::span<double> sum) {
  std::vector<float> result;
  for (std::size_t j = 0; j < sum.size(); ++j) {
    sum[j] += x.sum[j];
    result.push_back(
      static_cast<float>(sum[j] / static_cast<double>(admitted)));
  }
  return result;
}

/// How many buffers of the block's size are kept beside it.
std::size_t buffers_of(const models::block_layout& block,
                       const kernels::server_step& step) {
  return block.merge.kind == merge_kind::sum_over
           ? 1
           : static_cast<std::size_t>(step.moment_count());
}

/// The place of a client among those of its role: roles with members come
/// first.
std::uint64_t place_in_role(const recipe& method, const invited& who) {
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < who.role; ++i)
    before += method.roles[i].members;
  return who.client.value - 1 - before;
}

} // namespace

reference_loop::reference_loop(models::trainer& trainer, reference_options how)
  : trainer_(trainer),
    how_(std::move(how)) {
  for (const auto& line : how_.blocks.lines) {
    reference_version first;
    for (const auto id : line.blocks) {
      const auto& block = *how_.blocks.find(id);
      const auto step = step_of(block, how_.server);
      first.values.push_back(how_.initial.at(block.name));
      const auto at = first.moments.size();
      first.moments.resize(at + block.size * buffers_of(block, step));
      if (block.merge.kind == merge_kind::sum_over)
        for (std::size_t j = 0; j < block.size; ++j)
          first.moments[at + j] = static_cast<double>((*first.values.back())[j])
                                  * static_cast<double>(how_.admitted);
    }
    lines_[line.id] = {std::move(first)};
  }
}

const shared_values& reference_loop::head_of(block_id x) const {
  const auto& line = *how_.blocks.find(how_.blocks.find(x)->line);
  const auto place = std::ranges::find(line.blocks, x) - line.blocks.begin();
  return lines_.at(line.id).back().values[static_cast<std::size_t>(place)];
}

models::fetched_block reference_loop::fetch(block_id x) const {
  const auto& versions = lines_.at(how_.blocks.find(x)->line);
  return {
    .block = x, .base = version{versions.size() - 1}, .values = head_of(x)};
}

std::vector<block_id>
reference_loop::instances(const fetch_spec& what, const invited& who,
                          const models::choice& last) const {
  const auto all = how_.blocks.family(what.family);
  if (!what.chosen || all.empty())
    return all;
  const auto& role = how_.method.roles[who.role];
  if (role.choice_fixed)
    return {all[place_in_role(how_.method, who) % all.size()]};
  std::vector<block_id> result;
  for (const auto x : all)
    if (std::ranges::find(last.chosen, x) != last.chosen.end())
      result.push_back(x);
  return result;
}

result<reference_loop::finished_visit>
reference_loop::visit(const invited& who) const {
  const auto number = numbers_.find(who.client);
  models::visit_input x{.visit = {who.client, number == numbers_.end()
                                                ? visit_number{1}
                                                : next(number->second)},
                        .seed = who.seed,
                        .progress = who.progress,
                        .role = who.role,
                        .fetched = {},
                        .chosen = {},
                        .state = state(who.client)};
  models::choice last;
  for (const auto& leg : how_.method.legs) {
    for (const auto& what : leg.fetch)
      for (const auto id : instances(what, who, last))
        if (x.find(id) == nullptr)
          x.fetched.push_back(fetch(id));
    std::ranges::sort(x.fetched, {}, &models::fetched_block::block);
    // Where the place of a client says it all, nothing is computed.
    const auto& roles = how_.method.roles;
    const bool fixed = who.role < roles.size() && roles[who.role].choice_fixed;
    if (!leg.choice.value.empty() && !fixed) {
      auto chosen = trainer_.choose(x);
      if (!chosen)
        return tl::unexpected{chosen.error()};
      last = std::move(*chosen);
      x.chosen = last.chosen;
    }
    ++x.leg;
  }
  auto trained = trainer_.train(x);
  if (!trained)
    return tl::unexpected{trained.error()};
  return finished_visit{x.visit, std::move(*trained)};
}

result<void> reference_loop::round(std::span<const invited> cohort) {
  std::vector<finished_visit> visits;
  for (const auto& who : cohort) {
    auto done = visit(who);
    if (!done)
      return tl::unexpected{done.error()};
    visits.push_back(std::move(*done));
  }
  std::ranges::sort(visits, {}, &finished_visit::visit);
  loss_ = 0;
  for (const auto& x : visits) {
    numbers_[x.visit.client] = x.visit.number;
    states_[x.visit.client] =
      std::make_shared<const models::client_state>(x.result.next);
    loss_ += x.result.loss / static_cast<double>(visits.size());
  }
  for (const auto& line : how_.blocks.lines)
    merge(line, visits);
  return {};
}

result<void> reference_loop::last_visit(const invited& who) {
  return visit(who).map([this](finished_visit x) {
    numbers_[x.visit.client] = x.visit.number;
    states_[x.visit.client] =
      std::make_shared<const models::client_state>(std::move(x.result.next));
  });
}

void reference_loop::merge(const models::line_layout& line,
                           std::span<const finished_visit> visits) {
  const auto& head = lines_.at(line.id).back();
  reference_version made{.values = {}, .moments = head.moments, .merged = {}};
  std::span<double> moments{made.moments};
  for (std::size_t i = 0; i < line.blocks.size(); ++i) {
    const auto& block = *how_.blocks.find(line.blocks[i]);
    std::vector<reference_part> parts;
    made.merged.clear();
    for (const auto& x : visits)
      for (const auto& y : x.result.parts)
        if (y.block == block.id) {
          parts.push_back(
            {.weight = y.weight, .delta = *y.delta, .rank = y.rank});
          made.merged.push_back(x.visit);
        }
    if (parts.empty())
      return; // Nobody offered anything: no version.
    const auto step = step_of(block, how_.server);
    const auto used = block.size * buffers_of(block, step);
    if (block.merge.kind == merge_kind::product_svd) {
      made.values.push_back(share(factored(parts, *head.values[i], block)));
      continue;
    }
    const auto sum = combine(parts, *head.values[i], block);
    made.values.push_back(
      share(block.merge.kind == merge_kind::sum_over
              ? add_to_sum(sum, how_.admitted, moments.first(used))
              : apply(*head.values[i], sum, step, moments.first(used))));
    moments = moments.subspan(used);
  }
  lines_.at(line.id).push_back(std::move(made));
}

const std::vector<reference_version>& reference_loop::line(line_id x) const {
  return lines_.at(x);
}

const value_view& reference_loop::values(std::string_view block) const {
  const auto* found = how_.blocks.find(block);
  TROUPE_ASSERT(found != nullptr);
  return *head_of(found->id);
}

std::shared_ptr<const models::client_state>
reference_loop::state(client_id x) const {
  const auto found = states_.find(x);
  return found == states_.end() ? nullptr : found->second;
}

result<models::evaluated> reference_loop::evaluate(bool per_client) const {
  models::evaluation_input x{
    .versions = {}, .per_client = per_client, .states = states_};
  for (const auto& block : how_.blocks.blocks)
    x.versions.push_back(fetch(block.id));
  return trainer_.evaluate(x);
}

} // namespace troupe::test
