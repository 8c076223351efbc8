#include "node/join/visit_counts.hpp"

#include <utility>
#include <variant>

namespace troupe::node {

visit_counts::visit_counts(std::function<void(const std::string&)> say)
  : say_(std::move(say)) {
  // nop
}

// A choice that is made is no visit yet; one that fails ends it.
void visit_counts::add(const messages::job_finished& x,
                       actors::workshop::kind what) {
  const auto* wrong = std::get_if<error>(&x.outcome);
  std::unique_lock guard{mutex_};
  if (over_)
    return;
  if (!wrong) {
    trained_ += what == actors::workshop::kind::training;
    return;
  }
  if (++failed_ > 1)
    return;
  why_ = wrong->context;
  guard.unlock();
  if (say_)
    say_("a visit of client " + std::to_string(x.visit.client.value)
         + " failed, which the server hears without the reason: "
         + wrong->context);
}

void visit_counts::tell(join_summary& to) {
  const std::lock_guard guard{mutex_};
  over_ = true;
  to.visits = trained_;
  to.failed = failed_;
  to.why_failed = why_;
}

counted_workshop::counted_workshop(std::shared_ptr<actors::workshop> behind,
                                   std::shared_ptr<visit_counts> counts)
  : behind_(std::move(behind)),
    counts_(std::move(counts)) {
  // nop
}

void counted_workshop::submit(key when, work what, deliver to) {
  behind_->submit(
    when,
    [counts = counts_, is = when.is,
     what = std::move(what)](models::trainer& own) {
      auto done = what(own);
      counts->add(done, is);
      return done;
    },
    std::move(to));
}

} // namespace troupe::node
