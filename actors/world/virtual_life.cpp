#include "actors/world/virtual_life.hpp"

namespace troupe::actors {

virtual_life::virtual_life(options opts)
  : options_(std::move(opts)),
    down_(options_.absent) {
  // nop
}

// Results under way are for nobody.
void virtual_life::crash() {
  jobs_.clear();
  down_ = true;
}

instant virtual_life::begin(const work& x, instant now) {
  if (!options_.duration)
    return now; // It is a matter of this instant.
  auto due = now;
  if (const auto* train = std::get_if<messages::train_job>(&x))
    due += options_.duration(train->input);
  jobs_.insert_or_assign(visit_of(x), std::pair{due, x});
  return due;
}

// Under the virtual clock: work that was asked for before a crash may be done
// while its visit is computed again.
virtual_life::fate virtual_life::end(const messages::job_finished& x,
                                     instant now) {
  if (!options_.duration)
    return down_ ? fate::stale : fate::counts;
  const auto found = jobs_.find(x.visit);
  if (found == jobs_.end() || found->second.first > now)
    return fate::stale;
  const auto done = std::move(found->second.second);
  jobs_.erase(found);
  const auto* train = std::get_if<messages::train_job>(&done);
  return train && options_.drops_out && options_.drops_out(train->input)
           ? fate::drops_out
           : fate::counts;
}

visit_id visit_of(const virtual_life::work& x) {
  return std::visit([](const auto& y) { return y.input.visit; }, x);
}

} // namespace troupe::actors
