#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/assessor/inquest.hpp"
#include "actors/interfaces.hpp"
#include "core/patience.hpp"

namespace troupe::actors {

struct assessor_args {
  evaluator_actor evaluator; ///< Of rows that are here.
  cast_ptr others;
  caf::actor_clock::time_point started; ///< The run's instant zero.
  patience waits = {};
  /// Questions are numbered from here; another life began elsewhere.
  std::uint64_t first_question = 0;
  /// Processes of which anything was heard within so long. Empty: of all.
  std::function<std::set<peer_id>(instant lately)> spoke = {};
  /// Who says nothing for so long is not waited for.
  instant silence_max = std::chrono::seconds{5};
  instant glance = std::chrono::seconds{1}; ///< How often that is looked at.
};

struct assessor_state {
  static inline constexpr const char* name = "assessor";

  /// An evaluation that waits for clients.
  struct open_case {
    inquest what;
    messages::evaluation_requested request;
    instant began;
    caf::typed_response_promise<messages::evaluation_finished> answer;
  };

  assessor_args args;
  std::uint64_t question = 0;
  std::optional<open_case> open; ///< A newer one takes its place.
};

using assessor_impl =
  assessor_actor::extend<caf::reacts_to<caf::tick_atom>,
                         caf::reacts_to<caf::timeout_atom, std::uint64_t>>;

/// Scores versions as the evaluator does, and asks those who are here what they
/// are worth to them. Whoever has not answered by the deadline, or says nothing
/// at all meanwhile, is left out.
assessor_impl::behavior_type
assessor(assessor_impl::stateful_pointer<assessor_state> self,
         assessor_args args);

} // namespace troupe::actors
