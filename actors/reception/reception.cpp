#include "actors/reception/reception.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/metrics/status.hpp"
#include "core/clock.hpp"

namespace troupe::actors {

namespace {

using reception_pointer = reception_impl::stateful_pointer<reception_state>;

constexpr const char* places_of_clients = "places of clients";

constexpr std::chrono::seconds stored_again_after{1};

bool may_be_called(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*'))
    return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

messages::terms_given answer_to(const messages::terms_asked& x, peer_id from,
                                const reception_args& args) {
  constexpr auto ours = messages::protocol_version;
  if (x.protocol_min > ours || x.protocol_max < ours)
    return {.protocol = 0,
            .nonce = x.nonce,
            .run = {},
            .layout = {},
            .data = {},
            .config = {}};
  // All processes ask for these, also those that had their places before.
  if (args.came)
    args.came(from);
  auto out = args.terms;
  out.nonce = x.nonce;
  return out;
}

/// The one client that a key's name is for is let in whatever else it may have.
bool is_its_only_one(const claim& who, const std::string& name) {
  return !name.empty() && name == who.names && !name.ends_with('*');
}

/// Clients as a process asks for them, and what the book says then.
result<std::vector<client_id>> give(const messages::places_asked& x,
                                    const claim& who, leases& from) {
  const bool is_new = !x.name.empty() && !from.knows(x.name);
  const auto numbers = std::max<std::uint64_t>(x.name.empty() ? x.count : 0,
                                               from.numbers_of(who.who));
  if (!is_its_only_one(who, x.name)
      && numbers + from.named_by(who.who) + is_new > who.numbers_max)
    return fail(errc::invalid_config, "this key may have "
                                        + std::to_string(who.numbers_max)
                                        + " clients at most");
  if (x.name.empty())
    return from.give(who.who, x.count);
  if (!may_be_called(who.names, x.name))
    return fail(errc::invalid_config,
                "the clients of this key are called '" + who.names + "'");
  return from.give(who.who, x.name).map([](client_id found) {
    return std::vector{found};
  });
}

bool is_unavailable(const error& x) {
  return x.code == errc::unavailable;
}

/// Nobody is refused for it: what fails so may be done later.
bool has_to_wait(const error& x) {
  return is_unavailable(x) || x.code == errc::storage_failure;
}

std::string trouble_of(const error& x) {
  return is_unavailable(x) ? "read" : "stored";
}

/// Says once that what was asked for had to wait, and for what, and once that
/// it has not.
void note_waiting(const std::string& what, const result<void>& done,
                  reception_state& state) {
  const auto before = state.stuck[what];
  const auto now = done ? std::string{} : trouble_of(done.error());
  if (done)
    state.stuck.erase(what);
  else
    state.stuck[what] = now;
  if (now == before || !state.args.say)
    return;
  state.args.say(done ? what + " are " + before + " again"
                      : what + " are not " + now
                          + ", and who asks waits: " + done.error().context);
}

/// Nothing: nobody can say for the moment.
std::optional<messages::places_given> answer_to(const messages::places_asked& x,
                                                peer_id from,
                                                reception_state& state) {
  auto& args = state.args;
  const auto refused = [&](std::string why) {
    return messages::places_given{x.nonce, {}, std::move(why)};
  };
  const auto who =
    args.claim_of
      ? args.claim_of(from)
      : claim{.who = x.store,
              .numbers_max = args.book.size() + args.book.named_max()};
  if (!who && is_unavailable(who.error()))
    return std::nullopt;
  if (!who)
    return refused("this key may have no clients");
  auto next = args.book;
  auto found = give(x, *who, next);
  if (!found)
    return refused(found.error().context);
  if (next.all() != args.book.all()) {
    const auto kept = args.keep(next);
    note_waiting(places_of_clients, kept, state);
    if (!kept) {
      state.unkept = std::move(next);
      return std::nullopt;
    }
  }
  args.book = std::move(next);
  return messages::places_given{x.nonce, std::move(*found), {}};
}

void note(const messages::process_parted& x, peer_id from,
          const reception_args& args) {
  if (args.parted)
    args.parted(from, x.what);
}

/// Nothing: nobody can say for the moment.
std::optional<messages::enrolment_answered>
answer_to(const messages::enrolment_asked& x, peer_id from,
          reception_state& state) {
  using messages::enrolment_answered;
  if (!state.args.enrol)
    return enrolment_answered{x.nonce, "there are no keys here"};
  const auto done = state.args.enrol(from, x.own);
  const bool waits = !done && has_to_wait(done.error());
  if (done || waits)
    note_waiting("enrolments", done, state);
  if (waits)
    return std::nullopt;
  return enrolment_answered{x.nonce, done ? "" : done.error().context};
}

messages::frozen_given answer_to(const messages::frozen_asked& x,
                                 const reception_args& args) {
  const auto found = args.frozen.find(x.content);
  if (found == args.frozen.end())
    return {.nonce = x.nonce,
            .total = 0,
            .values = share({}),
            .why = "it is not served"};
  const auto& all = *found->second;
  const auto first = std::min<std::uint64_t>(x.first, all.size());
  const auto last = std::min<std::uint64_t>(
    all.size(), first + messages::frozen_given::values_max);
  const auto at = [&](std::uint64_t place) {
    return all.begin() + static_cast<std::ptrdiff_t>(place);
  };
  return {.nonce = x.nonce,
          .total = all.size(),
          .values = share(std::vector<float>(at(first), at(last))),
          .why = {}};
}

void pass_on(const messages::scores_told& x, peer_id from,
             const reception_args& args) {
  if (args.scored)
    args.scored({from, x});
}

/// An invitation is good for one thing, and this is another. Not while nobody
/// can say of which kind a key is: who has no answer asks again.
bool may_not_ask(peer_id from, const reception_args& args) {
  if (!args.claim_of)
    return false;
  const auto who = args.claim_of(from);
  if (!who && !is_unavailable(who.error()))
    args.refused->add(transport::refusal::beyond_enrolment, steady_now());
  return !who;
}

/// What takes a look at all that were here before, or at a folder. A process
/// asks again when it has no answer, once a second or so.
bool is_a_question(const messages::any_message& x) {
  return std::holds_alternative<messages::enrolment_asked>(x)
         || std::holds_alternative<messages::terms_asked>(x)
         || std::holds_alternative<messages::places_asked>(x);
}

bool asks_too_often(const messages::any_message& x, peer_id from,
                    reception_state& state) {
  if (!is_a_question(x)
      || state.asked.takes(std::to_string(from.value), steady_now()))
    return false;
  state.args.refused->add(transport::refusal::too_many_frames, steady_now());
  return true;
}

template <class Message>
void say(const std::optional<Message>& x, peer_id to,
         const reception_args& args) {
  if (x)
    args.network->send(to, *x);
}

void hear(const messages::any_message& any, peer_id from,
          reception_state& state) {
  const auto& args = state.args;
  if (const auto* own = std::get_if<messages::enrolment_asked>(&any))
    say(answer_to(*own, from, state), from, args);
  else if (const auto* gone = std::get_if<messages::process_parted>(&any))
    note(*gone, from, args);
  else if (may_not_ask(from, args))
    return;
  else if (const auto* asked = std::get_if<messages::terms_asked>(&any))
    args.network->send(from, answer_to(*asked, from, args));
  else if (const auto* want = std::get_if<messages::places_asked>(&any))
    say(answer_to(*want, from, state), from, args);
  else if (const auto* frozen = std::get_if<messages::frozen_asked>(&any))
    args.network->send(from, answer_to(*frozen, args));
  else if (const auto* told = std::get_if<messages::scores_told>(&any))
    pass_on(*told, from, args);
}

/// What is thrown ends no reception, which nobody would begin again: who has no
/// answer asks again. People hear once of what it is.
void guarded(reception_state& state, const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    if (std::exchange(state.thrown, e.what()) != e.what() && state.args.say)
      state.args.say(std::string{"a process has no answer, and asks again: "}
                     + e.what());
  }
}

/// Who waited for a place may be gone by then, and nobody else may come: people
/// hear nevertheless that there is room.
void look_for_room(reception_pointer self) {
  auto& state = self->state;
  if (state.looks_again || !state.stuck.contains(places_of_clients))
    return;
  state.looks_again = true;
  self->delayed_send(self, stored_again_after, caf::tick_atom_v);
}

/// With the place that somebody waits for: there may be room for all but that.
void store_again(reception_state& state) {
  if (!state.stuck.contains(places_of_clients))
    return;
  const auto kept = state.args.keep(*state.unkept);
  note_waiting(places_of_clients, kept, state);
  if (kept)
    state.args.book = *state.unkept;
}

} // namespace

reception_impl::behavior_type reception(reception_pointer self,
                                        reception_args what) {
  self->state.args = std::move(what);
  return {
    [self](const transport::frame_arrived& x) {
      guarded(self->state, [&] {
        if (const auto message = x.what.open();
            message && !asks_too_often(**message, x.peer, self->state))
          hear(**message, x.peer, self->state);
      });
      look_for_room(self);
    },
    [self](const messages::status_asked& x) {
      x.draft->add_mailbox("reception", self->mailbox().size());
    },
    [self](caf::tick_atom) {
      self->state.looks_again = false;
      guarded(self->state, [&] { store_again(self->state); });
      look_for_room(self);
    },
  };
}

} // namespace troupe::actors
