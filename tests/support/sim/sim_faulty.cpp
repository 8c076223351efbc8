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
    [=](const messages::status_asked& x) { self->send(behind, x); },
  };
}

struct what_happens {
  const char* failed;
  const char* unanswered;
};

/// Not at all, or without an answer.
template <class Answer>
caf::result<Answer> pass_on(archivist_actor::pointer self,
                            const archivist_actor& behind, const auto& x,
                            shared with, what_happens names) {
  auto& luck = with.luck;
  if (luck.happens(luck.disk, luck.active.failure, names.failed))
    return caf::make_error(caf::sec::runtime_error);
  if (luck.happens(luck.disk, luck.active.silence, names.unanswered))
    return caf::delegated<Answer>{};
  return self->delegate(behind, x);
}

/// Or what is said of it is wrong.
caf::result<messages::part_kept> keep(archivist_actor::pointer self,
                                      const archivist_actor& behind,
                                      const messages::keep_requested& x,
                                      shared with) {
  auto& luck = with.luck;
  if (luck.happens(luck.disk, luck.active.failure, "keep failed"))
    return caf::make_error(caf::sec::runtime_error);
  auto promise = self->make_response_promise<messages::part_kept>();
  self->request(behind, caf::infinite, x)
    .then(
      [=](const messages::part_kept& done) mutable {
        auto& luck = with.luck;
        if (luck.happens(luck.disk, luck.active.failure,
                         "kept, answered as failed"))
          promise.deliver(caf::make_error(caf::sec::runtime_error));
        else if (!luck.happens(luck.disk, luck.active.silence,
                               "kept, unanswered"))
          promise.deliver(done);
      },
      [=](const caf::error& e) mutable { promise.deliver(e); });
  return promise;
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
      return pass_on<saved>(self, behind, x, with,
                            {"save failed", "save unanswered"});
    },
    [=](const messages::version_wanted& x)
      -> caf::result<messages::version_read> {
      return pass_on<messages::version_read>(
        self, behind, x, with, {"read failed", "read unanswered"});
    },
    [=](const messages::keep_requested& x) -> caf::result<messages::part_kept> {
      return keep(self, behind, x, with);
    },
    [=](const messages::drop_requested& x)
      -> caf::result<messages::parts_dropped> {
      return pass_on<messages::parts_dropped>(
        self, behind, x, with, {"drop failed", "drop unanswered"});
    },
    [=](const messages::part_wanted& x) { return self->delegate(behind, x); },
    [=](const messages::line_noted& x) { self->send(behind, x); },
    [=](const messages::status_asked& x) { self->send(behind, x); },
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
