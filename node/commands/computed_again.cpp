#include "node/commands/computed_again.hpp"

#include <string>
#include <utility>

#include "kernels/backend.hpp"

namespace troupe::node {

namespace {

/// Why a run that was computed again is not the run.
result<void> check_same(const replay_summary& x) {
  if (!x.stopped_by.empty())
    return fail(errc::invalid_config,
                "what clients keep stays with them, and that of this run is "
                "computed again: "
                  + x.stopped_by);
  const auto& first = x.digests.first ? x.digests.first : x.scores.first;
  if (first)
    return fail(errc::invalid_data,
                "what clients keep stays with them, and computed again the run "
                "is another: "
                  + first->what
                  + " differs; troupe replay on the machine of the run would "
                    "say whether its record is whole");
  if (compared_nothing(x))
    return fail(errc::invalid_config,
                "what clients keep stays with them, and nothing of the run "
                "could be compared, so what is computed again may be of "
                "another run; "
                  + has_scores(x));
  return {};
}

} // namespace

result<home_site> site_of(const workload& work) {
  auto arithmetic = kernels::make_backend({});
  if (!arithmetic)
    return tl::make_unexpected(arithmetic.error());
  auto model = work.make_objective();
  if (!model)
    return tl::make_unexpected(model.error());
  return home_site{.at = models::local_site{work.task, std::move(*arithmetic)},
                   .model = std::move(*model)};
}

result<void>
compute_again(const finished_run& run, const model_maker& make_model,
              const std::function<result<void>(const replayed_moment&)>& look,
              const stage_teller& now) {
  const auto show = [&](const replay_progress& x) {
    if (now)
      now("computing the run again, "
          + std::to_string(static_cast<int>(100 * x.done)) + " %");
  };
  const auto done = replay(run.x, run.folder,
                           {.make_model = make_model,
                            .note = [](const std::string&) {},
                            .show = show,
                            .work = &run.work,
                            .look = look});
  if (!done)
    return tl::make_unexpected(done.error());
  return check_same(*done);
}

} // namespace troupe::node
