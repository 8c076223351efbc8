#include "tests/support/sim/sim_faulty.hpp"

#include <caf/all.hpp>

namespace troupe::test {

using actors::archivist_actor;
using actors::merger_actor;
using stage = progress_of_lines::stage;

std::string progress_of_lines::phase(line_id line) const {
  const auto found = stages_.find(line);
  switch (found == stages_.end() ? stage::collecting : found->second) {
    case stage::collecting:
      return "collecting";
    case stage::merging:
      return "merging";
    case stage::merged:
      return "merged, not stored";
    case stage::stored:
      break;
  }
  return "stored, not announced";
}

namespace {

struct shared {
  chances& luck;
  progress_of_lines& progress;
};

merger_actor::behavior_type merger_proxy(merger_actor::pointer self,
                                         merger_actor behind, shared with) {
  using answer = caf::result<messages::merge_finished>;
  return {
    [=](const messages::merge_requested& x) -> answer {
      auto& luck = with.luck;
      with.progress.reach(x.line, stage::merging);
      if (luck.happens(luck.devices, luck.active.failure, "merge failed")) {
        with.progress.reach(x.line, stage::collecting);
        return caf::make_error(caf::sec::runtime_error);
      }
      if (luck.happens(luck.devices, luck.active.silence, "merge unanswered"))
        return caf::delegated<messages::merge_finished>{};
      with.progress.reach(x.line, stage::merged);
      return self->delegate(behind, x);
    },
  };
}

archivist_actor::behavior_type archivist_proxy(archivist_actor::pointer self,
                                               archivist_actor behind,
                                               shared with) {
  using committed = messages::version_committed;
  using saved = messages::records_saved;
  return {
    [=](const messages::commit_requested& x) -> caf::result<committed> {
      auto& luck = with.luck;
      if (luck.happens(luck.disk, luck.active.failure, "commit failed"))
        return caf::make_error(caf::sec::runtime_error);
      auto promise = self->make_response_promise<committed>();
      self->request(behind, caf::infinite, x)
        .then(
          [=](const committed& done) mutable {
            auto& luck = with.luck;
            with.progress.reach(x.line, stage::stored);
            if (luck.happens(luck.disk, luck.active.failure,
                             "commit stored, answered as failed")) {
              promise.deliver(caf::make_error(caf::sec::runtime_error));
              return;
            }
            if (luck.happens(luck.disk, luck.active.silence,
                             "commit stored, unanswered"))
              return;
            with.progress.reach(x.line, stage::collecting);
            promise.deliver(done);
          },
          [=](const caf::error& e) mutable { promise.deliver(e); });
      return promise;
    },
    [=](const messages::save_requested& x) -> caf::result<saved> {
      auto& luck = with.luck;
      if (luck.happens(luck.disk, luck.active.failure, "save failed"))
        return caf::make_error(caf::sec::runtime_error);
      if (luck.happens(luck.disk, luck.active.silence, "save unanswered"))
        return caf::delegated<saved>{};
      return self->delegate(behind, x);
    },
    [=](const messages::version_wanted& x)
      -> caf::result<messages::version_read> {
      auto& luck = with.luck;
      if (luck.happens(luck.disk, luck.active.failure, "read failed"))
        return caf::make_error(caf::sec::runtime_error);
      if (luck.happens(luck.disk, luck.active.silence, "read unanswered"))
        return caf::delegated<messages::version_read>{};
      return self->delegate(behind, x);
    },
    [=](const messages::line_noted& x) { self->send(behind, x); },
  };
}

} // namespace

merger_actor faulty_merger(caf::actor_system& system, chances& luck,
                           progress_of_lines& progress,
                           const merger_actor& behind,
                           std::vector<caf::actor>& spawned) {
  auto x = system.spawn(merger_proxy, behind, shared{luck, progress});
  spawned.push_back(caf::actor_cast<caf::actor>(x));
  return x;
}

archivist_actor faulty_archivist(caf::actor_system& system, chances& luck,
                                 progress_of_lines& progress,
                                 const archivist_actor& behind,
                                 std::vector<caf::actor>& spawned) {
  auto x = system.spawn(archivist_proxy, behind, shared{luck, progress});
  spawned.push_back(caf::actor_cast<caf::actor>(x));
  return x;
}

} // namespace troupe::test
