#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "actors/record/store.hpp"
#include "models/layout.hpp"
#include "policies/staleness.hpp"
#include "tests/support/sim/sim_arrivals.hpp"

namespace troupe::test {

/// What a client said it offers; the judge of every merge.
using offers_made = std::map<visit_id, messages::offer_made>;

/// What a crash leaves, and a judge of what is written: each version must be,
/// to the bit, the merge of the offers that it names.
class sim_store final : public actors::store {
public:
  struct rules {
    policies::staleness_discount discount;
    double rate = 1;
    bool target_is_model = false;
    std::uint64_t admitted = 1;
    std::uint64_t staleness_max = 16;
    /// Told of each line of events.jsonl.
    std::function<void(const std::string&)> noted = {};
    std::shared_ptr<sim_arrivals> arrived = {}; ///< Null: offers do not wait.
  };

  sim_store(const models::layout& blocks, const offers_made& made, rules how);

  result<actors::stored_node> load() override;
  result<void> begin(line_id line,
                     const std::vector<messages::merged_block>& first) override;
  result<void> commit(const messages::commit_requested& x) override;
  bool reads() const noexcept override {
    return true;
  }

  std::shared_ptr<actors::arrivals> arrived() const override {
    return rules_.arrived;
  }

  result<std::optional<messages::version_published>>
  read(const messages::version_wanted& x) override;
  result<void> save(const messages::save_requested& x) override;
  result<void> note(const messages::line_noted& x) override;

  /// The version that holds the visit's offer to the line is stored.
  bool holds(line_id line, visit_id visit) const {
    return merged_.contains({line, visit});
  }

  /// Whether it is is not known any more.
  bool is_closed(line_id line, visit_id visit) const {
    const auto found = windows_.find(line);
    return found != windows_.end()
           && policies::state_of(found->second, visit)
                == policies::visit_window::state::closed;
  }

  /// Numbers up to this one may have been given to the client.
  std::uint64_t numbers_upto(client_id x) const {
    const auto found = reserved_.find(x);
    return found == reserved_.end() ? 0 : found->second;
  }

  /// The visit is in the cohort of a round that was stored.
  bool has_invited(visit_id x) const {
    return invited_.contains(x);
  }

  version head(line_id line) const {
    return lines_.at(line).back().head;
  }

  const std::vector<messages::commit_requested>& line(line_id x) const {
    return lines_.at(x);
  }

  /// How often an older version was read.
  std::uint64_t times_read() const {
    return reads_;
  }

  /// How many parts are merged that a node before had kept.
  std::uint64_t found_merged() const {
    return found_merged_;
  }

  /// How often a list was found closed and became shorter.
  std::uint64_t lists_struck() const {
    return lists_struck_;
  }

  /// Null: none waits on disk.
  const sim_arrivals* waiting() const {
    return rules_.arrived.get();
  }

  /// No version comes any more: the run has come to last visits.
  bool has_ended() const {
    return end_ != messages::course_end::none;
  }

  /// Clients of whom it is durable that they had their last visit.
  const std::set<client_id>& had_last() const {
    return had_last_;
  }

  std::uint64_t lines_noted() const {
    return notes_;
  }

  std::size_t merges() const {
    return merged_.size();
  }

  /// FNV hash of the order of everything merged.
  std::uint64_t trace() const {
    return trace_;
  }

  void mix(std::uint64_t x) {
    trace_ = (trace_ ^ x) * 1099511628211ull;
  }

private:
  void judge(const messages::commit_requested& x);
  void judge(const messages::round_record& x);
  std::vector<float> replay(const messages::commit_requested& x,
                            const models::block_layout& block,
                            std::size_t index) const;
  std::vector<float> sum_of_all(const messages::commit_requested& x,
                                const models::block_layout& block,
                                std::size_t index) const;

  const models::layout& blocks_;
  const offers_made& made_;
  rules rules_;
  std::unique_ptr<actors::store> inner_;
  std::map<line_id, std::vector<messages::commit_requested>> lines_;
  std::set<std::pair<line_id, visit_id>> merged_;
  std::map<line_id, policies::visit_windows> windows_;
  std::map<client_id, std::uint64_t> reserved_;
  std::set<visit_id> invited_;
  std::optional<messages::round_record> closed_; ///< The last list.
  messages::course_end end_{};
  std::set<client_id> had_last_;
  std::uint64_t lists_struck_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t notes_ = 0;
  std::uint64_t found_merged_ = 0;
  std::uint64_t trace_ = 14695981039346656037ull;
};

} // namespace troupe::test
