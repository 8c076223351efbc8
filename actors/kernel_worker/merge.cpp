#include "actors/kernel_worker/merge.hpp"

#include <algorithm>
#include <cmath>

#include "core/assert.hpp"
#include "kernels/robust.hpp"
#include "kernels/running_sum.hpp"
#include "models/adapters/mean_of_products.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "policies/mixing.hpp"

namespace troupe::actors {

namespace {

using messages::block_merge;

/// A sum and what it is to be divided by.
struct sum_of_terms {
  std::vector<double> sum;
  double total = 1;
};

double total_weight(const block_merge& x) {
  double total = 0;
  for (const auto& t : x.terms)
    total += x.grid.snap(x.alone ? t.weight / t.share : t.weight);
  return total;
}

/// The largest value that an offer of this weight may have.
float most_of(double weight, const kernels::grid& grid) {
  constexpr double rounded_down = 1 - 0x1p-20;
  return static_cast<float>(grid.product_max() / weight * rounded_down);
}

/// Where the values of a block's terms are, of one line.
struct term_source {
  line_id line;
  const values_on_disk& on_disk;
  values_part part; ///< Of those on disk.

  result<shared_values> of(const block_merge& x,
                           const messages::merge_term& t) const {
    TROUPE_ASSERT(t.delta || on_disk);
    return t.delta ? t.delta : on_disk(line, t.visit, x.block, part);
  }
};

result<sum_of_terms> add_padded(kernels::backend& arithmetic,
                                const models::block_layout& block,
                                const block_merge& x,
                                const term_source& source) {
  sum_of_terms out{.sum = std::vector<double>(x.base->size()),
                   .total = total_weight(x)};
  for (const auto& t : x.terms) {
    const auto delta = source.of(x, t);
    if (!delta)
      return tl::make_unexpected(delta.error());
    kernels::term term{**delta, t.weight * t.discount};
    std::vector<float> whole;
    if (t.rank != 0 && t.rank < block.rank) {
      auto here = t;
      here.delta = *delta;
      whole =
        models::padded(block, here, *x.base, most_of(term.weight, x.grid));
      term.values = whole;
    }
    if (auto ok = arithmetic.accumulate(std::span{&term, 1}, x.grid, out.sum);
        !ok)
      return tl::make_unexpected(ok.error());
  }
  return out;
}

/// What is in memory at once, then the others one by one: a sum has the same
/// bits in any order.
result<sum_of_terms> add_all(kernels::backend& arithmetic, const block_merge& x,
                             const term_source& source) {
  sum_of_terms out{.sum = std::vector<double>(x.base->size()),
                   .total = total_weight(x)};
  std::vector<kernels::term> terms;
  for (const auto& t : x.terms)
    if (t.delta)
      terms.push_back({*t.delta, t.weight * t.discount});
  if (auto ok = arithmetic.accumulate(terms, x.grid, out.sum); !ok)
    return tl::make_unexpected(ok.error());
  for (const auto& t : x.terms) {
    if (t.delta)
      continue;
    const auto delta = source.of(x, t);
    if (!delta)
      return tl::make_unexpected(delta.error());
    const kernels::term one{**delta, t.weight * t.discount};
    if (auto ok = arithmetic.accumulate(std::span{&one, 1}, x.grid, out.sum);
        !ok)
      return tl::make_unexpected(ok.error());
  }
  return out;
}

/// All of them beside each other.
result<std::vector<shared_values>> hold_all(const block_merge& x,
                                            const term_source& source) {
  std::vector<shared_values> held;
  for (const auto& t : x.terms) {
    auto delta = source.of(x, t);
    if (!delta)
      return tl::make_unexpected(delta.error());
    held.push_back(std::move(*delta));
  }
  return held;
}

result<sum_of_terms> choose(const block_merge& x, const term_source& source) {
  const auto held = hold_all(x, source);
  if (!held)
    return tl::make_unexpected(held.error());
  std::vector<std::span<const float>> deltas;
  std::vector<double> discounts;
  for (std::size_t i = 0; i < held->size(); ++i) {
    deltas.emplace_back(*(*held)[i]);
    discounts.push_back(x.terms[i].discount);
  }
  const kernels::offer_set offers{deltas, discounts};
  sum_of_terms out{.sum = std::vector<double>(x.base->size())};
  const auto done =
    x.rule.kind == merge_kind::median
      ? kernels::coordinate_median(offers, out.sum)
    : x.rule.kind == merge_kind::trimmed_mean
      ? kernels::trimmed_mean(offers, x.rule.count, out.sum)
      : kernels::krum(offers, x.rule.count, x.rule.keep, out.sum);
  if (!done)
    return tl::make_unexpected(done.error());
  return out;
}

result<sum_of_terms> combine(kernels::backend& arithmetic,
                             const models::block_layout& block,
                             const block_merge& x, const term_source& source) {
  switch (x.rule.kind) {
    case merge_kind::median:
    case merge_kind::trimmed_mean:
    case merge_kind::krum:
      return choose(x, source);
    case merge_kind::padded:
      return add_padded(arithmetic, block, x, source);
    case merge_kind::sum_over:
    case merge_kind::mean:
    case merge_kind::mix:
    case merge_kind::replace:
    case merge_kind::product_svd: // Makes no sum: `factored`.
      break;
  }
  return add_all(arithmetic, x, source);
}

/// The server optimiser belongs to blocks that are learned and averaged; a
/// control variate, a replaced block and statistics have no use for momentum.
kernels::server_step step_for(const models::block_layout& block,
                              const block_merge& x, kernels::server_step step) {
  if (policies::takes_server_step(block.family, x.rule.kind))
    return step;
  return {.rate = x.rule.kind == merge_kind::mix ? x.rule.amount : 1};
}

result<void> check_finite(const models::block_layout& block,
                          std::span<const float> values) {
  for (const float x : values)
    if (!std::isfinite(x))
      return fail(errc::diverged, "block '" + block.name
                                    + "' diverged: the merge has values that "
                                      "are not finite");
  return {};
}

/// What a block becomes, and the optimiser's state or the sum beside it.
struct block_after {
  std::vector<float> values;
  std::vector<double> moments = {};
};

/// Terms are in the order of their visits. Nothing is discounted: a method with
/// such a block has rounds, or is refused.
result<block_after> factored(const models::block_layout& block,
                             const block_merge& x, const term_source& source) {
  const auto held = hold_all(x, source);
  if (!held)
    return tl::make_unexpected(held.error());
  const auto total = total_weight(x);
  std::vector<models::merged_offer> offers;
  for (std::size_t i = 0; i < held->size(); ++i)
    offers.push_back({*(*held)[i], x.terms[i].weight / total});
  return models::mean_of_products(block, *x.base, offers)
    .map([](std::vector<float> values) {
      return block_after{.values = std::move(values)};
    });
}

result<block_after> summed(kernels::backend& arithmetic,
                           const models::block_layout& block,
                           const block_merge& x,
                           const messages::merge_requested& job,
                           const term_source& source) {
  auto sum = combine(arithmetic, block, x, source);
  if (!sum)
    return tl::make_unexpected(sum.error());
  const auto before = x.moments.view();
  block_after to{.values = std::vector<float>(x.base->size()),
                 .moments = {before.begin(), before.end()}};
  if (x.rule.kind == merge_kind::sum_over) {
    kernels::add_to_sum(*x.base, sum->sum, job.admitted, to.moments, to.values);
    return to;
  }
  const auto step = step_for(block, x, job.step);
  to.moments.resize(x.base->size()
                    * static_cast<std::size_t>(step.moment_count()));
  return arithmetic
    .finish(*x.base, sum->sum, sum->total, step, to.moments, to.values)
    .map([&] { return std::move(to); });
}

/// Whether each value follows from those of its own place, and nothing else is
/// remembered.
bool goes_by_place(const models::block_layout& block, const block_merge& x,
                   const messages::merge_requested& job) {
  const bool adds = x.rule.kind == merge_kind::mean
                    || x.rule.kind == merge_kind::mix
                    || x.rule.kind == merge_kind::replace;
  return adds && step_for(block, x, job.step).moment_count() == 0
         && std::ranges::all_of(x.terms, [&](const auto& t) {
              return !t.delta || t.delta->size() == x.base->size();
            });
}

block_merge some_of(const block_merge& x, values_part of) {
  auto out = x;
  out.base = troupe::some_of(x.base, of);
  out.moments = {};
  for (auto& t : out.terms)
    if (t.delta)
      t.delta = troupe::some_of(t.delta, of);
  return out;
}

/// Has the bits of `summed`. @pre goes_by_place
result<block_after>
summed_in_parts(kernels::backend& arithmetic, const models::block_layout& block,
                const block_merge& x, const messages::merge_requested& job,
                const values_on_disk& on_disk, std::size_t values_at_once) {
  block_after out{.values = {}};
  out.values.reserve(x.base->size());
  while (out.values.size() < x.base->size()) {
    const values_part next{
      .first = out.values.size(),
      .count = std::min(values_at_once, x.base->size() - out.values.size())};
    const auto some = summed(arithmetic, block, some_of(x, next), job,
                             {job.line, on_disk, next});
    if (!some)
      return tl::make_unexpected(some.error());
    out.values.insert(out.values.end(), some->values.begin(),
                      some->values.end());
  }
  return out;
}

result<messages::merged_block>
merge_block(kernels::backend& arithmetic, const models::block_layout& block,
            const block_merge& x, const messages::merge_requested& job,
            const values_on_disk& on_disk, std::size_t values_at_once) {
  const term_source source{job.line, on_disk, {}};
  auto after =
    x.rule.kind == merge_kind::product_svd ? factored(block, x, source)
    : x.base->size() > values_at_once && goes_by_place(block, x, job)
      ? summed_in_parts(arithmetic, block, x, job, on_disk, values_at_once)
      : summed(arithmetic, block, x, job, source);
  if (!after)
    return tl::make_unexpected(after.error());
  if (auto ok = check_finite(block, after->values); !ok)
    return tl::make_unexpected(ok.error());
  const auto digest = models::digest_of(block, after->values);
  return messages::merged_block{.block = x.block,
                                .values = share(std::move(after->values)),
                                .moments =
                                  shared_moments{std::move(after->moments)},
                                .digest = digest};
}

} // namespace

result<messages::merge_finished> merge(kernels::backend& arithmetic,
                                       const models::layout& blocks,
                                       const messages::merge_requested& x,
                                       const values_on_disk& on_disk,
                                       std::size_t values_at_once) {
  TROUPE_ASSERT(values_at_once > 0);
  messages::merge_finished out{.line = x.line, .base = x.base, .blocks = {}};
  for (const auto& job : x.blocks) {
    const auto* block = blocks.find(job.block);
    TROUPE_ASSERT(block);
    auto merged =
      merge_block(arithmetic, *block, job, x, on_disk, values_at_once);
    if (!merged)
      return tl::make_unexpected(merged.error());
    out.blocks.push_back(std::move(*merged));
  }
  return out;
}

} // namespace troupe::actors
