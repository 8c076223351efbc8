#include "models/adapters/mean_of_products.hpp"

#include <algorithm>
#include <cstddef>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "models/adapters/spectrum.hpp"

namespace troupe::models {

namespace {

/// A client's block as it is, zeros where it has no ranks.
struct weighed_values {
  std::vector<float> values;
  double part = 0;
};

weighed_values values_of(const block_layout& block, std::span<const float> base,
                         const merged_offer& x) {
  const auto rank = prefix_rank(block, x.delta.size());
  TROUPE_ASSERT(rank.has_value());
  auto own = take_prefix(block, *rank, base);
  for (std::size_t j = 0; j < own.size(); ++j)
    own[j] += x.delta[j];
  weighed_values whole{.values = std::vector<float>(block.size),
                       .part = x.part};
  put_prefix(block, *rank, own, whole.values);
  return whole;
}

/// Two factors that lie behind each other, the outer one first.
struct factor_places {
  std::size_t at = 0;
  std::size_t rank = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;

  std::size_t inner_at() const noexcept {
    return at + rank * rows;
  }
};

/// What is said of one block. Holds its offers' factors of one matrix at a
/// time.
class product_mean {
public:
  product_mean(std::span<const float> base,
               const std::vector<weighed_values>& offers,
               std::vector<float>& out)
    : base_(base),
      offers_(offers),
      out_(out) {
    // nop
  }

  void factor(const factor_places& x) {
    u_.clear();
    v_.clear();
    scale_.clear();
    for (const auto& offer : offers_) {
      append(offer.values, x.at, x.rank * x.rows, u_);
      append(offer.values, x.inner_at(), x.rank * x.columns, v_);
      scale_.insert(scale_.end(), x.rank, static_cast<float>(offer.part));
    }
    const auto found = decompose({x.rows, x.columns, u_, v_, scale_}, x.rank);
    std::ranges::copy(found.u, out_.data() + x.at);
    std::ranges::copy(found.v, out_.data() + x.inner_at());
    for (std::size_t k = 0; k < x.rank; ++k)
      begin_anew(x.inner_at() + k * x.columns, x.columns);
  }

  void average(std::size_t at, std::size_t size) {
    for (auto j = at; j < at + size; ++j) {
      double sum = 0;
      for (const auto& x : offers_)
        sum += x.part * static_cast<double>(x.values[j]);
      out_[j] = static_cast<float>(sum);
    }
  }

private:
  static void append(std::span<const float> from, std::size_t at,
                     std::size_t size, std::vector<float>& to) {
    const auto part = from.subspan(at, size);
    to.insert(to.end(), part.begin(), part.end());
  }

  /// An inner factor of zeros, since both would be for ever.
  void begin_anew(std::size_t at, std::size_t size) {
    const auto row = std::span{out_}.subspan(at, size);
    if (std::ranges::all_of(row, [](float x) { return x == 0; }))
      std::ranges::copy(base_.subspan(at, size), row.begin());
  }

  std::span<const float> base_;
  const std::vector<weighed_values>& offers_;
  std::vector<float>& out_;
  std::vector<float> u_, v_, scale_;
};

} // namespace

result<std::vector<float>>
mean_of_products(const block_layout& block, std::span<const float> base,
                 std::span<const merged_offer> offers) {
  TROUPE_ASSERT(base.size() == block.size && !offers.empty());
  std::vector<weighed_values> all;
  for (const auto& x : offers)
    all.push_back(values_of(block, base, x));
  std::vector<float> out(block.size);
  product_mean of{base, all, out};
  std::size_t at = 0;
  for (std::size_t i = 0; i < block.tensors.size(); ++i) {
    const auto& outer = block.tensors[i];
    if (!has_ranks(outer)) {
      of.average(at, outer.size());
      at += outer.size();
      continue;
    }
    const auto* inner =
      i + 1 < block.tensors.size() ? &block.tensors[i + 1] : nullptr;
    if (inner == nullptr || !has_ranks(*inner)
        || inner->shape[0] != outer.shape[0])
      return fail(errc::invalid_config,
                  "block " + in_quotes(block.name)
                    + " is merged as products, and its factor "
                    + in_quotes(outer.name)
                    + " has no other of its ranks behind it");
    const auto rank = static_cast<std::size_t>(outer.shape[0]);
    of.factor({.at = at,
               .rank = rank,
               .rows = outer.size() / rank,
               .columns = inner->size() / rank});
    at += outer.size() + inner->size();
    ++i;
  }
  return out;
}

} // namespace troupe::models
