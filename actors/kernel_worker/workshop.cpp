#include "actors/kernel_worker/workshop.hpp"

namespace troupe::actors {

namespace {

messages::job_finished finish(visit_id visit, auto outcome) {
  if (!outcome)
    return {visit, outcome.error()};
  return {visit, std::move(*outcome)};
}

} // namespace

workshop::work
work_of(visit_id visit,
        std::variant<messages::choose_job, messages::train_job> what) {
  return [visit, what = std::move(what)](models::trainer& own) {
    if (const auto* job = std::get_if<messages::choose_job>(&what))
      return finish(visit, own.choose(job->input));
    return finish(visit, own.train(std::get<messages::train_job>(what).input));
  };
}

} // namespace troupe::actors
