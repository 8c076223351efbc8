#pragma once

// Visits of one method, one after the other, without a federation around them.

#include <cstdint>
#include <memory>

#include "core/result.hpp"
#include "models/trainer.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

class lone_visits {
public:
  /// @param asked of experts that clients ask for each visit has the first so
  /// many
  [[nodiscard]] static result<lone_visits> make(workload work,
                                                std::uint32_t asked = 0);

  /// Seconds of CPU of a visit: the mean of clients 1 to so many, each of which
  /// begins anew.
  [[nodiscard]] result<double> take(std::uint64_t clients);

private:
  lone_visits(workload work, std::unique_ptr<models::trainer> trainer,
              std::uint32_t asked);

  workload work_;
  std::unique_ptr<models::trainer> trainer_;
  models::visit_input what_;
};

} // namespace troupe::node
