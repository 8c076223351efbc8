#include "tests/support/sim/sim_witness.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace troupe::test {

using policies::verdict;

namespace {

/// With TROUPE_TRACE, the same binary and seed tell what was said.
void tell(const world& w, const char* direction, client_id who,
          const messages::any_message& x) {
  static const bool wanted = std::getenv("TROUPE_TRACE") != nullptr;
  if (!wanted)
    return;
  constexpr std::array names{
    "hello",          "welcome",     "farewell",       "beat",
    "beat_answered",  "leave",       "invited",        "fetch_requested",
    "line_served",    "visit_ended", "visit_declined", "offer_made",
    "offer_answered", "offer_held",  "offer_awaited",  "version_announced"};
  std::cout << seconds(w.now()) << ' ' << direction << ' ' << who.value << ' '
            << names.at(x.index());
  std::visit(
    [](const auto& m) {
      if constexpr (requires { m.pass; })
        std::cout << " visit " << m.pass.visit.number.value << " round "
                  << m.pass.round.value;
      if constexpr (requires { m.visit; })
        std::cout << " visit " << m.visit.number.value;
      if constexpr (requires { m.line; })
        std::cout << " line " << m.line.value;
      if constexpr (requires { m.verdict; })
        std::cout << ' ' << to_string(m.verdict);
      if constexpr (requires { m.text; })
        std::cout << ' ' << m.text;
    },
    x);
  std::cout << '\n';
}

/// A client of lower rank is served the first rows.
bool begins_with(const value_view& all, const value_view& some) {
  return some.size() <= all.size()
         && std::equal(some.begin(), some.end(), all.begin());
}

} // namespace

void sim_witness::server_said(client_id to, const messages::any_message& any) {
  tell(x_.w, "to", to, any);
  if (const auto* a = std::get_if<messages::offer_answered>(&any)) {
    check_answer(to, *a);
  } else if (const auto* s = std::get_if<messages::line_served>(&any)) {
    check_served(*s);
  } else if (const auto* i = std::get_if<messages::invited>(&any)) {
    check_invitation(i->pass);
  } else if (const auto* v = std::get_if<messages::version_announced>(&any)) {
    EXPECT_LE(v->head.value, x_.store.head(v->line).value)
      << "announced, not durable";
  } else if (const auto* e = std::get_if<messages::visit_ended>(&any)) {
    ++x_.happened[std::string{"visit ended "} + to_string(e->why)];
    check_ended(*e);
  } else if (const auto* h = std::get_if<messages::offer_held>(&any)) {
    check_held(*h);
  } else if (const auto* f = std::get_if<messages::farewell>(&any)) {
    // Without a session nothing of it was heard. Who says hello when all is
    // over has been away.
    using messages::farewell_reason;
    if (f->reason == farewell_reason::no_session
        || (f->reason == farewell_reason::finished && f->nonce != 0))
      std::erase_if(awaited_,
                    [=](const auto& x) { return x.first.client == to; });
  }
}

// Of what arrived before, the lines tell.
void sim_witness::check_ended(const messages::visit_ended& x) {
  const auto limit = expires_.find(x.visit);
  if (x.why != verdict::withdrawn) {
    x_.answers.refused.insert(x.visit);
    forget(x.visit);
  } else if (limit != expires_.end() && limit->second <= x_.w.now()) {
    ++x_.happened["visit expired at work"];
  }
}

// Held before it is there, or let go of before it is merged.
void sim_witness::check_held(const messages::offer_held& x) {
  held_.insert({x.visit, x.line});
  if (x.durable == 0)
    return;
  ++x_.happened["an offer is held durably"];
  const auto* disk = x_.store.waiting();
  EXPECT_TRUE(x_.store.holds(x.line, x.visit)
              || (disk && disk->has(x.line, x.visit))
              || (disk && disk->was_dropped(x.line, x.visit)))
    << "said to be durable, and is not: of client " << x.visit.client.value;
  x_.answers.durable.insert({x.visit, x.line});
}

void sim_witness::check_answer(client_id to,
                               const messages::offer_answered& x) {
  ++x_.happened[std::string{"verdict "} + to_string(x.verdict)];
  if (x.verdict != verdict::overloaded)
    x_.answers.by_line.insert({x.visit, x.line});
  if (x.verdict == verdict::withdrawn) {
    // Of visits of long ago nobody knows.
    if (!x_.store.is_closed(x.line, x.visit))
      withdrawn_.insert_or_assign({x.visit, x.line}, lives_);
    if (const auto limit = expires_.find(x.visit);
        limit != expires_.end() && limit->second <= x_.w.now())
      ++x_.happened["visit expired in a line"];
  }
  // It was said to be durable: only what its line decided may end it.
  if (x_.answers.durable.contains({x.visit, x.line})
      && !x_.store.is_closed(x.line, x.visit)) {
    const bool dropped = x_.store.waiting()->was_dropped(x.line, x.visit);
    // To a server that began again a late copy of what was dropped is new.
    EXPECT_TRUE(x.verdict != verdict::overloaded || dropped);
    EXPECT_TRUE(x_.store.holds(x.line, x.visit) || dropped)
      << "answered " << to_string(x.verdict) << ", and it was lost: of client "
      << to.value;
  }
  x_.store.mix(x.visit.client.value * 31
               + static_cast<std::uint64_t>(x.verdict));
  awaited_.erase({x.visit, x.line});
  held_.erase({x.visit, x.line});
  if (x.verdict == verdict::unknown_expert)
    return;
  EXPECT_LE(x.head.value, x_.store.head(x.line).value)
    << "a client hears of a head that is not stored";
  if (x.verdict == verdict::accepted || x.verdict == verdict::duplicate) {
    EXPECT_TRUE(x_.store.holds(x.line, x.visit))
      << "answered " << to_string(x.verdict) << " and not durable, client "
      << to.value;
  }
}

void sim_witness::check_served(const messages::line_served& x) const {
  ASSERT_LE(x.base.value, x_.store.head(x.line).value) << "served, not stored";
  const auto& stored = x_.store.line(x.line)[x.base.value];
  for (std::size_t i = 0; i < x.blocks.size(); ++i)
    EXPECT_TRUE(begins_with(*stored.blocks[i].values, *x.blocks[i].values))
      << "served values are not those of the version";
}

// A restart must know of each number and of each cohort that a client has heard
// of.
void sim_witness::check_invitation(const messages::ticket& x) {
  const bool is_new =
    expires_.insert_or_assign(x.visit, began_ + x.expires()).second;
  EXPECT_LE(x.visit.number.value, x_.store.numbers_upto(x.visit.client))
    << "a visit's number is not reserved";
  if (is_last_visit(x_.method, x.role)) {
    ++x_.happened["a last visit"];
    EXPECT_TRUE(x_.store.has_ended())
      << "a last visit, and a restart would not know of it";
    EXPECT_FALSE(is_new && x_.store.had_last().contains(x.visit.client))
      << "a last visit, after it had one, of client " << x.visit.client.value;
  }
  if (x.round.value > 0) {
    EXPECT_TRUE(x_.store.has_invited(x.visit))
      << "invited to a round that is not stored";
  }
}

void sim_witness::client_said(client_id from, const messages::any_message& x) {
  tell(x_.w, "from", from, x);
  x_.happened["a client asks after its offer"] +=
    std::holds_alternative<messages::offer_awaited>(x);
  const auto* o = std::get_if<messages::offer_made>(&x);
  if (o == nullptr)
    return;
  x_.made.try_emplace(o->pass.visit, *o);
  // It did not hear that the server had withdrawn it, and what the server knew
  // of it is gone.
  for (const auto& part : o->blocks)
    if (const auto* block = x_.blocks.find(part.block))
      if (const auto at = withdrawn_.find({o->pass.visit, block->line});
          at != withdrawn_.end() && at->second < lives_)
        withdrawn_.erase(at);
}

void sim_witness::server_heard(client_id from,
                               const messages::any_message& any) {
  heard_.insert_or_assign(from, x_.w.now());
  // Who has left hears nothing. It asks again when it is back.
  if (std::holds_alternative<messages::leave>(any))
    std::erase_if(awaited_,
                  [=](const auto& x) { return x.first.client == from; });
  if (const auto* x = std::get_if<messages::offer_made>(&any); x && listens_)
    for (const auto& part : x->blocks)
      if (const auto* block = x_.blocks.find(part.block))
        awaited_.insert({x->pass.visit, block->line});
}

void sim_witness::server_began(instant zero) {
  awaited_.clear();
  x_.happened["a node forgets an offer that it held"] += held_.size();
  held_.clear();
  ++lives_;
  // By a clock that began anew a ticket is good again.
  if (began_ != zero)
    withdrawn_.clear();
  began_ = zero;
}

// Who was silent for so long that it has no session, or soon has none, hears
// nothing, and asks when it is back.
void sim_witness::listen_no_more(instant silence_max) {
  listens_ = false;
  if (silence_max > instant{})
    std::erase_if(awaited_, [&](const auto& x) {
      return heard_.at(x.first.client) + silence_max / 2 < x_.w.now();
    });
}

void sim_witness::forget(visit_id visit) {
  std::erase_if(awaited_, [=](const auto& x) { return x.first == visit; });
}

void sim_witness::check_end() const {
  for (const auto& [part, life] : withdrawn_)
    EXPECT_FALSE(x_.store.holds(part.second, part.first))
      << "answered withdrawn, yet merged: of client " << part.first.client.value
      << ", visit " << part.first.number.value << ", line "
      << part.second.value;
  for (const auto& [visit, line] : x_.answers.durable)
    EXPECT_TRUE(x_.store.holds(line, visit)
                || x_.store.waiting()->was_dropped(line, visit))
      << "said to be durable, neither merged nor refused: of client "
      << visit.client.value << ", line " << line.value;
  for (const auto& [visit, line] : awaited_)
    ADD_FAILURE() << "an offer that arrived was not answered: of client "
                  << visit.client.value << ", to line " << line.value;
}

void sim_audience::published(const messages::version_published& x, instant) {
  EXPECT_LE(x.head.value, store->head(x.line).value)
    << "announced, not durable";
}

void sim_audience::evaluated(const messages::evaluation_finished& x,
                             const actors::version_heads& scored, instant) {
  EXPECT_LE(x.head, scored.at(x.line).head) << "scored before it was there";
  if (this->scored)
    this->scored(x);
}

void sim_audience::left_out(version, instant) {
  // Evaluations of tests take no time.
}

void sim_audience::finished(
  const messages::run_finished& x,
  const std::optional<messages::evaluation_finished>& last, instant) {
  end = x;
  if (scored && last)
    scored(*last);
}

namespace {

bool is_offered(const actors::client_file& x, visit_id visit) {
  return std::ranges::any_of(
    x.outbox, [=](const auto& kept) { return kept.offer.pass.visit == visit; });
}

} // namespace

// Who has let go of values has nothing to offer again.
void sim_vault::check_what_is_let_go(const actors::kept_offer& before,
                                     const actors::kept_offer& after) {
  for (const auto& part : before.offer.blocks) {
    const auto line = answers.blocks->find(part.block)->line;
    const bool gone = std::ranges::find(after.offer.blocks, part.block,
                                        &messages::offer_block::block)
                      == after.offer.blocks.end();
    let_go += gone;
    EXPECT_TRUE(!gone
                || answers.durable.contains({before.offer.pass.visit, line}))
      << "values are let go of that no line has durably, by client "
      << before.offer.pass.visit.client.value;
  }
}

// Of an offer its lines tell, unless the door refused it: else a client would
// believe of one that is merged that it is not.
void sim_vault::check_what_ended(const actors::client_file& before,
                                 const actors::client_file& after) {
  if (before.open)
    if (const auto visit = before.open->pass.visit;
        !is_offered(after, visit)
        && !(after.open && after.open->pass.visit == visit))
      dropped.insert(visit);
  for (const auto& kept : before.outbox) {
    const auto visit = kept.offer.pass.visit;
    for (const auto& x : after.outbox)
      if (x.offer.pass.visit == visit)
        check_what_is_let_go(kept, x);
    if (is_offered(after, visit) || answers.refused.contains(visit))
      continue;
    for (const auto line : kept.unanswered)
      EXPECT_TRUE(answers.by_line.contains({visit, line}))
        << "an offer is forgotten that its line did not answer, of client "
        << visit.client.value;
  }
}

bool sim_vault::save(client_id who, const actors::client_file& x,
                     std::function<void()> kept) {
  if (!slow) {
    keep(who, x);
    return true;
  }
  auto& wish = waiting[who];
  wish.file = x;
  wish.kept.push_back(std::move(kept));
  return false;
}

bool sim_vault::keep_one(std::optional<client_id> who) {
  const auto found = who ? waiting.find(*who) : waiting.begin();
  if (found == waiting.end())
    return false;
  const auto done = std::move(found->second);
  const auto of = found->first;
  waiting.erase(found);
  keep(of, done.file);
  for (const auto& kept : done.kept)
    kept();
  return true;
}

void sim_vault::forget(client_id who) {
  waiting.erase(who);
}

void sim_vault::keep(client_id who, const actors::client_file& x) {
  if (x.open) {
    EXPECT_FALSE(offered.contains(x.open->pass.visit))
      << "a visit is begun again after its offer was kept";
  }
  for (const auto& kept : x.outbox)
    offered.insert(kept.offer.pass.visit);
  if (const auto before = inner.load(who))
    check_what_ended(*before, x);
  EXPECT_LE(x.outbox.size(), limits::outbox_offers_max);
  inner.save(who, x);
}

} // namespace troupe::test
