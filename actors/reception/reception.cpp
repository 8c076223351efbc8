#include "actors/reception/reception.hpp"

#include <string>
#include <utility>

#include "core/clock.hpp"

namespace troupe::actors {

namespace {

messages::terms_given answer(const messages::terms_asked& x,
                             const reception_args& args) {
  constexpr auto ours = messages::protocol_version;
  if (x.protocol_min > ours || x.protocol_max < ours)
    return {.protocol = 0,
            .nonce = x.nonce,
            .run = {},
            .layout = {},
            .data = {},
            .config = {}};
  auto out = args.terms;
  out.nonce = x.nonce;
  return out;
}

messages::places_given answer(const messages::places_asked& x, peer_id from,
                              reception_args& args) {
  const auto refused = [&](std::string why) {
    return messages::places_given{x.nonce, {}, std::move(why)};
  };
  const auto who =
    args.claim_of ? args.claim_of(from) : claim{x.store, args.book.size()};
  if (!who)
    return refused("this key may have no clients");
  if (x.count > who->numbers_max)
    return refused("this key may have " + std::to_string(who->numbers_max)
                   + " clients at most");
  auto next = args.book;
  auto found = next.give(who->who, x.count);
  if (!found)
    return refused(found.error().context);
  if (next.all() != args.book.all())
    if (auto kept = args.keep(next); !kept)
      return refused("the server cannot store it: " + kept.error().context);
  args.book = std::move(next);
  if (args.came)
    args.came(from);
  return {x.nonce, std::move(*found), {}};
}

void note(const messages::process_parted& x, peer_id from,
          const reception_args& args) {
  if (x.what == messages::parting::over && args.parted)
    args.parted(from);
}

messages::enrolment_answered answer(const messages::enrolment_asked& x,
                                    peer_id from, const reception_args& args) {
  if (!args.enrol)
    return {x.nonce, "there are no keys here"};
  const auto done = args.enrol(from, x.own);
  return {x.nonce, done ? "" : done.error().context};
}

/// An invitation is good for one thing, and this is another.
bool is_beyond_enrolment(peer_id from, const reception_args& args) {
  if (!args.claim_of || args.claim_of(from))
    return false;
  args.refused->add(transport::refusal::beyond_enrolment, steady_now());
  return true;
}

void hear(const messages::any_message& any, peer_id from,
          reception_args& args) {
  if (const auto* own = std::get_if<messages::enrolment_asked>(&any))
    args.network->send(from, answer(*own, from, args));
  else if (is_beyond_enrolment(from, args))
    return;
  else if (const auto* asked = std::get_if<messages::terms_asked>(&any))
    args.network->send(from, answer(*asked, args));
  else if (const auto* want = std::get_if<messages::places_asked>(&any))
    args.network->send(from, answer(*want, from, args));
  else if (const auto* gone = std::get_if<messages::process_parted>(&any))
    note(*gone, from, args);
}

} // namespace

reception_actor::behavior_type
reception(reception_actor::stateful_pointer<reception_state> self,
          reception_args what) {
  self->state.args = std::move(what);
  return {[self](const transport::frame_arrived& x) {
    if (const auto message = x.what.open())
      hear(**message, x.peer, self->state.args);
  }};
}

} // namespace troupe::actors
