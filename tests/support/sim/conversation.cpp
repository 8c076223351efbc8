#include "tests/support/sim/conversation.hpp"

#include <algorithm>
#include <sstream>

#include "actors/transport/envelope.hpp"

namespace troupe::test {

namespace {

using visit_said = conversation::visit_said;

/// Writes the things of a list with commas between them.
class list {
public:
  explicit list(std::ostream& to, const char* begin) : to_(to), before_(begin) {
    // nop
  }

  std::ostream& next() {
    return to_ << std::exchange(before_, ", ");
  }

  ~list() {
    if (std::string_view{before_} == ", ")
      to_ << '\n';
  }

private:
  std::ostream& to_;
  const char* before_;
};

const char* to_string(messages::decline_reason x) {
  using messages::decline_reason;
  return x == decline_reason::busy      ? "busy"
         : x == decline_reason::failed  ? "failed"
         : x == decline_reason::dropped ? "dropped"
                                        : "no offer";
}

conversation::leg_said& leg_of(visit_said& x, std::uint32_t leg) {
  x.legs.resize(std::max<std::size_t>(x.legs.size(), leg + 1));
  return x.legs[leg];
}

void write(std::ostream& to, visit_id x) {
  to << x.client.value << '.' << x.number.value;
}

void write_offer(std::ostream& to, const messages::offer_made& x,
                 const recipe& method, const models::layout& blocks) {
  {
    list parts{to, "  client offers "};
    for (const auto& part : x.blocks) {
      parts.next() << blocks.find(part.block)->name << ' ' << part.base.value;
      if (part.rank != 0)
        to << " rank " << part.rank;
    }
  }
  list told{to, "  client discloses "};
  for (const auto& values : x.disclosures)
    told.next() << method.disclosures[values.index].name << " ("
                << values.values.size() << ')';
}

void write_visit(std::ostream& to, const visit_said& x, const recipe& method,
                 const models::layout& blocks) {
  const auto name = [&](line_id line) { return blocks.find(line)->name; };
  to << "visit ";
  write(to, x.pass.visit);
  to << ' ' << method.roles[x.pass.role].name;
  if (x.pass.round.value > 0)
    to << " round " << x.pass.round.value;
  to << '\n';
  for (const auto& leg : x.legs) {
    {
      list wanted{to, "  client wants "};
      for (const auto line : leg.wanted) {
        auto& out = wanted.next() << name(line);
        if (const auto rank = leg.ranks.find(line); rank != leg.ranks.end())
          out << " to rank " << rank->second;
      }
    }
    list given{to, "  server gives "};
    for (const auto& [line, base] : leg.given)
      given.next() << name(line) << ' ' << base.value;
  }
  if (x.offer)
    write_offer(to, *x.offer, method, blocks);
  if (x.declined)
    to << "  client declines: " << to_string(*x.declined) << '\n';
  {
    list answers{to, "  server answers "};
    for (const auto& [line, said] : x.answers)
      answers.next() << name(line) << ' ' << policies::to_string(said.what)
                     << ' ' << said.head.value;
  }
  if (x.ended)
    to << "  server ends it: " << policies::to_string(*x.ended) << '\n';
}

} // namespace

sim_network::witness conversation::witness() {
  return {.server_said = [this](client_id,
                                const messages::any_message& x) { see(x); },
          .client_said = [this](client_id,
                                const messages::any_message& x) { see(x); },
          .server_heard = {}};
}

conversation::visit_said& conversation::of(const messages::ticket& pass) {
  auto& x = visits_[pass.visit];
  x.pass = pass;
  return x;
}

void conversation::see(const messages::any_message& any) {
  ++frames_;
  if (!marks_.empty()) {
    const auto bytes = transport::encode(any);
    frames_with_marks_ +=
      !std::ranges::search(bytes, std::as_bytes(marks_)).empty();
  }
  if (const auto* a = std::get_if<messages::invited>(&any)) {
    of(a->pass);
  } else if (const auto* b = std::get_if<messages::fetch_requested>(&any)) {
    auto& leg = leg_of(of(b->pass), b->leg);
    for (const auto& want : b->wanted) {
      leg.wanted.insert(want.line);
      if (want.rank > 0)
        leg.ranks[want.line] = want.rank;
    }
  } else if (const auto* c = std::get_if<messages::line_served>(&any)) {
    leg_of(visits_[c->visit], c->leg).given.emplace(c->line, c->base);
  } else if (const auto* d = std::get_if<messages::offer_made>(&any)) {
    if (auto& x = of(d->pass); !x.offer)
      x.offer = *d;
  } else if (const auto* e = std::get_if<messages::offer_answered>(&any)) {
    visits_[e->visit].answers.emplace(e->line, answer{e->verdict, e->head});
  } else if (const auto* f = std::get_if<messages::visit_ended>(&any)) {
    visits_[f->visit].ended = f->why;
  } else if (const auto* g = std::get_if<messages::visit_declined>(&any)) {
    of(g->pass).declined = g->why;
  }
}

std::string conversation::text(const recipe& method,
                               const models::layout& blocks,
                               const sim_store& store) const {
  std::ostringstream to;
  std::map<std::uint64_t, const visit_said*> in_order;
  for (const auto& [id, x] : visits_)
    in_order[x.pass.index] = &x;
  for (const auto& [index, x] : in_order)
    write_visit(to, *x, method, blocks);
  for (const auto& line : blocks.lines)
    for (const auto& version : store.line(line.id))
      if (version.head.value > 0) {
        to << line.name << ' ' << version.head.value << " merges";
        for (const auto& visit : version.merged) {
          to << ' ';
          write(to, visit);
        }
        to << '\n';
      }
  return to.str();
}

} // namespace troupe::test
