#pragma once

#include <map>
#include <memory>

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

#include "actors/interfaces.hpp"

namespace troupe::node {

/// Asks actors where they stand. Who has not looked at the question before is
/// not asked again: what it is at may take minutes, and each question holds a
/// whole answer.
class patient_questions {
public:
  template <class Handle>
  void ask(const Handle& whom,
           const std::shared_ptr<actors::status_draft>& draft) {
    if (!whom)
      return;
    std::erase_if(open_, [](const auto& x) { return x.second.expired(); });
    auto& open = open_[caf::actor_cast<caf::actor_addr>(whom)];
    if (!open.expired())
      return;
    const auto held = std::make_shared<const held_draft>(draft);
    open = held;
    caf::anon_send(whom, messages::status_asked{{held, draft.get()}});
  }

private:
  using held_draft = std::shared_ptr<actors::status_draft>;

  std::map<caf::actor_addr, std::weak_ptr<const held_draft>> open_;
};

} // namespace troupe::node
