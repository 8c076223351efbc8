#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "actors/archivist/store.hpp"

namespace troupe::node {

/// A store under a simulation: while the disk refuses, simulated time stands
/// still, so that a full one costs real time and changes no bit of the result.
class patient_store final : public actors::store {
public:
  /// Waits a moment, and says whether the same is to be tried again.
  using patience = std::function<bool(const error& refused)>;

  patient_store(std::shared_ptr<actors::store> behind, patience goes_on)
    : behind_(std::move(behind)),
      goes_on_(std::move(goes_on)) {
    // nop
  }

  result<actors::stored_node> load() override;
  result<void> begin(line_id line,
                     const std::vector<messages::merged_block>& first) override;
  result<void> commit(const messages::commit_requested& x) override;
  result<void> save(const messages::save_requested& x) override;
  result<void> note(const messages::line_noted& x) override;
  result<void> keep(const actors::snapshot& x) override;
  result<std::optional<actors::snapshot>> rewind() override;

private:
  std::shared_ptr<actors::store> behind_;
  patience goes_on_;
};

} // namespace troupe::node
