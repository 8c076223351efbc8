#include "actors/gateway/gateway.hpp"

#include "actors/gateway/gate.hpp"
#include "actors/gateway/home_scores.hpp"
#include "actors/record/snapshot.hpp"

namespace troupe::actors {

namespace {

void serve(gate_pointer self, const messages::line_served& x) {
  note(self, x);
  const auto peer = self->state.peers.peer_of(x.visit.client);
  const bool queued = peer && send(self, *peer, x) == 0;
  self->state.granted->is_served(x, queued);
}

/// The record may have lost it with the process that wrote it.
void note_beginning(gate_pointer self, const messages::ticket& pass) {
  if (self->state.granted->is_to_be_noted(pass.visit))
    note(self, messages::invitation_made{pass, true});
}

/// @param fetched what the record does not tell of it otherwise
void note_offer(gate_pointer self, const messages::offer_made& x,
                const std::vector<messages::line_served>& fetched) {
  for (const auto& served : fetched)
    note(self, served);
  note(self, x, discloses_soundly(x, self->state.args.rules.disclosures));
}

/// What a ticket is worth when its owner shows it.
worth judge(gate_pointer self, const messages::ticket& pass, client_id owner) {
  if (pass.visit.client != owner)
    return worth::none;
  const auto found = self->state.args.tickets->judge(pass, unix_milliseconds());
  return found == worth::good && pass.expires() < now(self) ? worth::over
                                                            : found;
}

/// Its client has no ticket for it, or none any more, and drops it: nobody is
/// to wait for it. What is made up is not for the record.
void turn_away(gate_pointer self, visit_id visit, client_id owner,
               worth of_ticket) {
  auto& state = self->state;
  const bool was_ours = of_ticket == worth::over;
  if (visit.client == owner && state.granted->shut(visit)) {
    if (was_ours && state.granted->withdrawn(visit))
      note(self, messages::visit_withdrawn{visit});
    self->send(state.args.others->director,
               messages::visit_failed{visit, verdict::not_invited});
  }
  // What was offered on one that was ours is the lines' to refuse.
  const auto why = was_ours ? verdict::withdrawn : verdict::not_invited;
  state.refusals[static_cast<std::size_t>(why)] += !was_ours;
  say(self, owner, messages::visit_ended{visit, why});
}

/// The visit that a client says it is at work on, if it may go on with it.
std::optional<messages::ticket> at_work_on(gate_pointer self,
                                           const messages::hello& x) {
  if (x.open.size() != 1)
    return std::nullopt;
  const auto& pass = x.open.front();
  const auto of = judge(self, pass, x.client);
  if (of == worth::good)
    return pass;
  turn_away(self, pass.visit, x.client, of);
  return std::nullopt;
}

// What a client with a session says.

void heard(gate_pointer self, const sessions::session& from,
           messages::fetch_requested x) {
  const auto visit = x.pass.visit;
  if (const auto of = judge(self, x.pass, from.client); of != worth::good)
    return turn_away(self, visit, from.client, of);
  if (const auto refusal = self->state.granted->fetch(x, now(self))) {
    if (refusal->ends)
      return end_visit(self, visit, refusal->why);
    return say(self, from.client, messages::visit_ended{visit, refusal->why});
  }
  note_beginning(self, x.pass);
  for (const auto& want : x.wanted)
    self->send(self->state.args.others->router,
               messages::serve_requested{visit, x.leg, want, x.pass.cut});
}

/// No line has any of it.
std::vector<messages::any_message>
refusals(gate_pointer self, const messages::offer_made& x, verdict why) {
  std::vector<messages::any_message> all;
  for (const auto line : self->state.granted->lines_of(x))
    all.emplace_back(answer({x.pass.visit, line, why, {}}));
  return all;
}

void refuse_parts(gate_pointer self, const messages::offer_made& x,
                  verdict why) {
  for (const auto& refusal : refusals(self, x, why))
    say(self, x.pass.visit.client, refusal);
}

/// Its ticket serves nothing more, and a line that has a part says so.
void refuse_over(gate_pointer self, const messages::offer_made& x) {
  auto& granted = *self->state.granted;
  if (!granted.lines_may_have(x))
    return refuse_parts(self, x, verdict::withdrawn);
  for (const auto line : granted.lines_of(x))
    self->send(self->state.args.others->router,
               messages::part_awaited{x.pass.visit, line});
}

/// It stands on versions that this server never had.
void refuse_lost(gate_pointer self, const messages::offer_made& x) {
  const messages::visit_failed failed{x.pass.visit, verdict::withdrawn};
  note_and_say(self, failed, x.pass.visit.client,
               refusals(self, x, verdict::withdrawn));
  self->send(self->state.args.others->director, failed);
}

void heard(gate_pointer self, const sessions::session& from,
           const messages::offer_made& x) {
  const auto& args = self->state.args;
  auto& granted = *self->state.granted;
  const auto of_ticket = judge(self, x.pass, from.client);
  if (of_ticket == worth::none)
    return turn_away(self, x.pass.visit, from.client, of_ticket);
  const bool first = granted.is_first(x);
  const auto fetched =
    first ? granted.fetched_for(x) : std::vector<messages::line_served>{};
  // Kept, since its client's state moves on with it, or else as if not said.
  if (args.keeps && first && !args.keeps(x, from.examples))
    return refuse_parts(self, x, verdict::overloaded);
  const auto found = granted.offer(x);
  if (found == grants::standing::lost)
    return refuse_lost(self, x);
  if (found == grants::standing::over)
    return refuse_over(self, x);
  const bool again = found == grants::standing::again;
  if (!again) {
    note_beginning(self, x.pass);
    note_offer(self, x, fetched);
  }
  auto refusal = screen(x, from.examples, args.rules);
  if (!refusal && !found)
    refusal = found.error();
  if (refusal && again)
    return say(self, from.client,
               messages::visit_ended{x.pass.visit, *refusal});
  if (refusal)
    return end_visit(self, x.pass.visit, *refusal);
  if (!again)
    self->state.trips.ended(x.pass.visit, steady_now());
  if (self->state.has_load && !again)
    self->send(args.others->director, load_of(x, from.examples));
  if (args.offered && !again)
    args.offered(x.pass.visit, x.loss);
  for (auto& part : split(x, from.examples, args.rules)) {
    // Its line may have it, and knows.
    part.late =
      of_ticket == worth::over || !granted.is_offered(part.visit, part.line);
    self->send(args.others->router, std::move(part));
  }
}

void heard(gate_pointer self, const sessions::session& from,
           const messages::offer_awaited& x) {
  const auto of = judge(self, x.pass, from.client);
  if (of == worth::none)
    return turn_away(self, x.pass.visit, from.client, of);
  for (const auto& part : self->state.granted->await(x))
    self->send(self->state.args.others->router, part);
}

void heard(gate_pointer self, const sessions::session& from,
           const messages::visit_declined& x) {
  if (judge(self, x.pass, from.client) == worth::none
      || !self->state.granted->decline(x.pass.visit))
    return;
  const messages::visit_failed failed{x.pass.visit, x.why};
  note(self, failed);
  self->send(self->state.args.others->director, failed);
}

void heard(gate_pointer self, const sessions::session& from,
           const messages::beat& x) {
  if (x.session != session_id{} && x.session != from.id)
    return count_refusal(self, transport::refusal::replayed_session);
  self->send(self->state.args.others->roster,
             messages::beat_heard{from.client});
  say(self, from.client, messages::beat_answered{});
}

void heard(gate_pointer self, const sessions::session& from,
           const messages::leave&) {
  self->send(self->state.args.others->roster,
             messages::client_left{from.client, true});
  self->state.peers.close(from.client);
}

/// What only a server says is not for a server's ears.
void heard(gate_pointer self, const sessions::session&, const auto&) {
  ++self->state.args.counted->frames_malformed;
  count_refusal(self, transport::refusal::frame_of_servers);
}

/// Why a peer may not say hello as this client; null: it may.
const char* not_to_be_admitted(gate_pointer self, peer_id peer, client_id who,
                               bool may) {
  if (!may) {
    count_refusal(self, transport::refusal::client_of_another);
    return "this client is not this key's; after a restored copy join again";
  }
  const auto* here = self->state.peers.of(peer);
  if (!here || here->client == who)
    return nullptr;
  count_refusal(self, transport::refusal::too_many_clients);
  return "this channel is another client's";
}

void heard(gate_pointer self, peer_id peer, const messages::any_message& any) {
  auto& peers = self->state.peers;
  if (const auto* x = std::get_if<messages::hello>(&any)) {
    if (const auto& over = self->state.over)
      return say(self, peer, last_words(*over, x->nonce));
    const auto& asked = self->state.args.may_speak;
    const auto may = asked ? asked(peer, x->client) : std::optional{true};
    // Whether it may, or whose channel it is, shows when it is said again.
    if (!may || peers.waits(peer, *x))
      return;
    if (const auto why = not_to_be_admitted(self, peer, x->client, *may))
      return say(self, peer, not_admitted(why, x->nonce));
    if (const auto* open = peers.opened_by(peer, *x)) // Its answer was lost.
      return say(self, peer,
                 welcome_to(x->nonce, open->id, *self->state.args.blocks));
    peers.ask(peer, *x);
    return self->send(self->state.args.others->roster,
                      messages::hello_heard{peer, *x});
  }
  const auto* found = peers.of(peer);
  if (!found && std::holds_alternative<messages::leave>(any)
      && peers.give_up(peer))
    return;
  if (!found)
    return say(self, peer, no_session());
  const auto from = *found;
  if (self->state.args.silence_counts
      && !std::holds_alternative<messages::beat>(any)
      && peers.shows(peer, now(self)))
    self->send(self->state.args.others->roster,
               messages::beat_heard{from.client});
  std::visit([&](const auto& x) { heard(self, from, x); }, any);
}

void arrived(gate_pointer self, const transport::frame_arrived& x) {
  auto& counted = *self->state.args.counted;
  const auto bytes = x.what.size();
  counted.bytes_up.fetch_add(bytes, std::memory_order_relaxed);
  if (x.what.is_left_out()
      || (bytes > transport::hello_bytes_max && !self->state.peers.of(x.peer)))
    return say(self, x.peer, no_session());
  if (const auto message = x.what.open())
    heard(self, x.peer, **message);
  else
    ++counted.frames_malformed;
}

void judged(gate_pointer self, const messages::hello_judged& x) {
  const bool gone = self->state.peers.is_gone(x);
  if (x.refusal)
    return say(self, x.peer, refused(x));
  // Who left meanwhile was here for nobody.
  if (gone)
    return self->send(self->state.args.others->roster,
                      messages::client_left{x.what.client, true});
  self->state.granted->came_back(x.what.client);
  if (const auto old = self->state.peers.open(x))
    say(self, old->peer, superseded(old->nonce));
  self->state.args.network->has_session(x.peer);
  say(self, x.peer,
      welcome_to(x.what.nonce, x.session, *self->state.args.blocks));
  // Only now can the director invite it, and not to what is over.
  const auto at_work = at_work_on(self, x.what);
  self->send(self->state.args.others->director,
             messages::client_joined{x.what.client, x.what.examples,
                                     x.what.last, at_work});
}

void answered(gate_pointer self, const messages::part_answered& x) {
  if (self->state.granted->answered(x.visit, x.line, x.verdict))
    note_and_say(self, x, x.visit.client, {answer(x)});
  else
    say(self, x.visit.client, answer(x));
}

/// It was silent for too long; or, where that is said by somebody else, its key
/// was taken from it: nothing that it was given or has offered counts.
void lost(gate_pointer self, const messages::client_left& x) {
  if (!x.said)
    return self->state.peers.close(x.client);
  self->state.peers.turn_out(x.client);
  self->send(self->state.args.others->roster, x);
  for (const auto visit : self->state.granted->voided(x.client))
    self->send(self->state.args.others->director,
               messages::visit_failed{visit, verdict::withdrawn});
}

void say_to_all(gate_pointer self, const messages::any_message& x) {
  for (const auto& [peer, session] : self->state.peers.all())
    say(self, peer, x);
}

void start(gate_pointer self, gateway_args args) {
  auto& state = self->state;
  auto& own = state.args = std::move(args);
  own.rules.blocks = own.blocks.get();
  own.tickets->begin(own.key);
  state.granted.emplace(*own.method, *own.blocks, own.found,
                        std::move(own.arrived));
  state.has_load = is_to_be_watched(*own.method);
  if (own.resumed)
    restore(*own.resumed, state.name, state.peers, *state.granted);
}

} // namespace

gateway_actor::behavior_type gateway(gate_pointer self, gateway_args args) {
  start(self, std::move(args));
  return {
    [self](const transport::frame_arrived& x) { arrived(self, x); },
    [self](const messages::hello_judged& x) { judged(self, x); },
    [self](const messages::invitation_made& x) {
      // Its client has dropped it, which who invites has not heard, or forgot.
      if (self->state.granted->is_withdrawn(x.pass.visit)) {
        self->send(self->state.args.others->director,
                   messages::visit_failed{x.pass.visit, verdict::not_invited});
        return;
      }
      auto pass = x.pass;
      self->state.trips.began(pass.visit, steady_now());
      if (self->state.granted->invited(pass.visit, x.earlier))
        note(self, x);
      self->state.args.tickets->sign(pass);
      say(self, pass.visit.client, messages::invited{pass});
    },
    [self](const messages::visit_withdrawn& x) {
      if (self->state.granted->withdrawn(x.visit))
        note(self, x);
      say(self, x.visit.client, messages::visit_ended{x.visit, x.why});
    },
    [self](const messages::line_served& x) { serve(self, x); },
    [self](const messages::part_held& x) {
      say(self, x.visit.client, held(x));
    },
    [self](const messages::part_answered& x) { answered(self, x); },
    [self](const messages::version_announced& x) {
      if (self->state.args.announce)
        say_to_all(self, x);
    },
    [self](const messages::scores_wanted& x) { return ask(self->state, x); },
    [self](const messages::client_left& x) { lost(self, x); },
    [self](const messages::run_finished& x) {
      self->state.over = x;
      say_to_all(self, last_words(x));
    },
    [self](const messages::state_asked& x) {
      x.draft->add(self->state.name, self->state.peers, *self->state.granted);
    },
    [self](const messages::status_asked& x) {
      x.draft->add(self->state.status(self->mailbox().size()));
    },
  };
}

} // namespace troupe::actors
