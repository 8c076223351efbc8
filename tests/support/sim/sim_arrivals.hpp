#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "actors/record/arrivals.hpp"

namespace troupe::test {

/// The disk on which offers wait, and what crashes leave of it. It remembers
/// what was ever dropped: whoever was told that an offer is durable hears
/// nothing else of it but what its line decided.
class sim_arrivals final : public actors::arrivals {
public:
  using part = std::pair<line_id, visit_id>;

  explicit sim_arrivals(bool outlives) : outlives_(outlives) {
    // nop
  }

  bool outlives() const noexcept override {
    return outlives_;
  }

  result<void> keep(const messages::part_offered& x) override {
    parts_.insert_or_assign({x.line, x.visit}, x);
    return {};
  }

  result<void> drop(line_id line, std::span<const visit_id> visits) override {
    for (const auto& visit : visits)
      if (parts_.erase({line, visit}) > 0)
        dropped_.insert({line, visit});
    return {};
  }

  result<messages::part_offered> read(line_id line,
                                      visit_id visit) const override {
    const auto found = parts_.find({line, visit});
    if (found == parts_.end())
      return fail(errc::storage_failure, "it is not there");
    ++reads_;
    return found->second;
  }

  result<shared_values> values(line_id line, visit_id visit, block_id block,
                               values_part of) const override {
    return read(line, visit).map([&](const messages::part_offered& x) {
      for (const auto& y : x.blocks)
        if (y.block == block)
          return some_of(y.delta, of);
      return shared_values{};
    });
  }

  result<std::vector<messages::part_offered>> found() override {
    if (!outlives_)
      parts_.clear();
    std::vector<messages::part_offered> out;
    for (const auto& [name, x] : parts_) {
      out.push_back(x);
      for (auto& block : out.back().blocks)
        block.delta = nullptr;
      found_.insert(name);
    }
    return out;
  }

  bool has(line_id line, visit_id visit) const {
    return parts_.contains({line, visit});
  }

  bool was_dropped(line_id line, visit_id visit) const {
    return dropped_.contains({line, visit});
  }

  /// A node before the last one kept it.
  bool was_found(line_id line, visit_id visit) const {
    return found_.contains({line, visit});
  }

  std::uint64_t times_read() const {
    return reads_;
  }

  std::size_t times_found() const {
    return found_.size();
  }

private:
  bool outlives_;
  std::map<part, messages::part_offered> parts_;
  std::set<part> dropped_;
  std::set<part> found_;
  mutable std::uint64_t reads_ = 0;
};

} // namespace troupe::test
