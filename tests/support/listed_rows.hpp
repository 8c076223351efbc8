#pragma once

// Rows of tokens as they are written down, and bases of the rule's weights.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/language/base.hpp"
#include "models/language/token_rows.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::test {

/// The training set and the test set are the same. Of what a row leaves out
/// there is nothing.
class listed_rows final : public models::token_rows {
public:
  struct row {
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> targets;
    std::size_t second_from = 0; ///< As of token_rows.
  };

  listed_rows(std::size_t context, std::uint32_t vocabulary,
              std::vector<row> rows,
              std::map<std::uint32_t, models::later_windows> later = {})
    : context_(context),
      vocabulary_(vocabulary),
      rows_(std::move(rows)),
      later_(std::move(later)) {
    // nop
  }

  std::size_t context() const noexcept override {
    return context_;
  }

  std::uint32_t vocabulary() const noexcept override {
    return vocabulary_;
  }

  std::uint32_t types() const noexcept override {
    return std::ranges::any_of(rows_,
                               [](const row& x) { return x.second_from > 0; })
             ? 2
             : 1;
  }

  std::size_t second_from(models::split, std::uint32_t which) const override {
    return rows_.at(which).second_from;
  }

  std::size_t size(models::split) const noexcept override {
    return rows_.size();
  }

  void read(models::split, std::uint32_t which, std::span<std::int32_t> ids,
            std::span<std::int32_t> targets) const override {
    TROUPE_ASSERT(which < rows_.size() && ids.size() == context_
                  && targets.size() == context_);
    copy(rows_[which].ids, ids);
    copy(rows_[which].targets, targets);
  }

  models::later_windows later_of(models::split,
                                 std::uint32_t which) const override {
    const auto found = later_.find(which);
    return found == later_.end() ? models::later_windows{} : found->second;
  }

  const row& at(std::size_t which) const {
    return rows_.at(which);
  }

private:
  static void copy(const std::vector<std::int32_t>& from,
                   std::span<std::int32_t> to) {
    TROUPE_ASSERT(from.size() <= to.size());
    std::ranges::fill(to, -1);
    std::ranges::copy(from, to.begin());
  }

  std::size_t context_;
  std::uint32_t vocabulary_;
  std::vector<row> rows_;
  std::map<std::uint32_t, models::later_windows> later_;
};

/// Of 13 tokens: a whole one, one that is padded, one of a single target, and
/// one without any.
inline std::shared_ptr<const listed_rows> unequal_rows() {
  using row = listed_rows::row;
  return std::make_shared<const listed_rows>(
    6, 13,
    std::vector<row>{
      row{.ids = {1, 4, 0, 2, 10, 11}, .targets = {4, 0, 2, 10, 11, 5}},
      row{.ids = {6, 9, 5, 7}, .targets = {9, -1, 7, 0}},
      row{.ids = {11, 1, 10, 12, 7, 8}, .targets = {-1, -1, -1, 3}},
      row{.ids = {2, 3}, .targets = {}}});
}

inline std::shared_ptr<const models::language_base>
base_by_rule(const models::language_spec& x) {
  std::vector<float> values;
  for (const auto& tensor : tensors_by_rule(x, at::kFloat)) {
    const auto* first = tensor.data_ptr<float>();
    values.insert(values.end(), first, first + tensor.numel());
  }
  return models::make_base(x, std::move(values));
}

/// The largest size among them.
inline double largest_of(std::span<const float> xs) {
  float most = 0;
  for (const auto x : xs)
    most = std::max(most, x < 0 ? -x : x);
  return static_cast<double>(most);
}

/// Each within a share of what is largest.
inline void expect_alike(std::span<const float> found,
                         std::span<const float> expected, double share) {
  ASSERT_EQ(found.size(), expected.size());
  const auto apart_max = share * largest_of(expected);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], apart_max) << "value " << i;
}

} // namespace troupe::test
