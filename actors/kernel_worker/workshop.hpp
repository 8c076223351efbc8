#pragma once

#include <cstdint>
#include <functional>
#include <tuple>
#include <variant>

#include "actors/messages/internal.hpp"
#include "core/clock.hpp"
#include "models/trainer.hpp"

namespace troupe::actors {

/// Where the work of clients is computed. How it is delivered is what the
/// clocks differ in: as soon as it is done, or at the instant that it is due.
class workshop {
public:
  using work = std::function<messages::job_finished(models::trainer&)>;
  using deliver = std::function<void(messages::job_finished)>;

  /// A visit has one job that trains, and before it one for each leg by which
  /// it chooses.
  enum class kind : std::uint8_t { training, choice };

  /// Results are delivered in this order under a virtual clock.
  struct key {
    instant due{};
    visit_id visit;
    kind is = kind::training;

    friend bool operator<(const key& x, const key& y) {
      return std::tie(x.due, x.visit) < std::tie(y.due, y.visit);
    }
  };

  virtual ~workshop() = default;

  virtual void submit(key when, work what, deliver to) = 0;
};

/// What computes a client's job. Owns or shares all that it needs.
workshop::work
work_of(visit_id visit,
        std::variant<messages::choose_job, messages::train_job> what);

} // namespace troupe::actors
