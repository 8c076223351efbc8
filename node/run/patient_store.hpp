#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "actors/record/store.hpp"

namespace troupe::node {

/// A store that waits for room on the disk. Under a simulation simulated time
/// stands still meanwhile, so that a full one costs real time and changes no
/// bit of the result. Under the wall clock only lines of the record wait here,
/// so that none is lost; who asks for a commit or a save does so again.
class patient_store final : public actors::store {
public:
  /// Waits a moment, and says whether the same is to be tried again.
  using patience = std::function<bool(const error& refused)>;

  enum class waiting : std::uint8_t { for_all, for_lines };

  /// What events.jsonl has, and may have.
  struct event_bound {
    std::uint64_t bytes = 0;
    std::uint64_t bytes_max = 0;
    std::function<void()> reached = {}; ///< Called once.
  };

  void bound_events(event_bound x) {
    events_ = std::move(x);
  }

  patient_store(std::shared_ptr<actors::store> behind, waiting what,
                patience goes_on)
    : behind_(std::move(behind)),
      what_(what),
      goes_on_(std::move(goes_on)) {
    // nop
  }

  result<actors::stored_node> load() override;
  result<void> begin(line_id line,
                     const std::vector<messages::merged_block>& first) override;
  result<void> commit(const messages::commit_requested& x) override;
  bool reads() const noexcept override {
    return behind_->reads();
  }

  result<std::optional<messages::version_published>>
  read(const messages::version_wanted& x) override;
  result<void> save(const messages::save_requested& x) override;
  result<void> note(const messages::line_noted& x) override;
  std::shared_ptr<actors::arrivals> arrived() const override {
    return behind_->arrived();
  }

  result<void> flush() override;
  result<void> keep(const actors::snapshot& x) override;
  result<std::optional<actors::snapshot>> rewind() override;

private:
  std::shared_ptr<actors::store> behind_;
  waiting what_;
  patience goes_on_;
  event_bound events_;
};

} // namespace troupe::node
