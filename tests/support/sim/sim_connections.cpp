// What becomes of pieces, and of the connections that they go over.

#include <utility>

#include <gtest/gtest.h>

#include "tests/support/sim/sim_links.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using transport::piece;
using transport::piece_kind;

namespace {

instant drawn_ms(random_stream& draw, std::uint64_t most) {
  return std::chrono::milliseconds{draw.below(most + 1)};
}

piece_kind kind_of(const transport::piece_head& x) {
  return static_cast<piece_kind>(x[4]);
}

} // namespace

void sim_links::dial_later(std::uint64_t number) {
  world_.later(
    drawn_ms(draw_, 300),
    [this, number, life = processes_[number].life] { dial(number, life); });
}

void sim_links::dial(std::uint64_t number, std::uint64_t life) {
  auto& x = processes_[number];
  if (!*bell_ || x.life != life || !x.route.empty())
    return;
  luck_.happened["process came back on another connection"] += x.dialled > 0;
  x.route = std::to_string(number) + '.' + std::to_string(life) + '.'
            + std::to_string(++x.dialled);
  connections_[x.route] = {
    .process = number, .life = life, .delay = drawn_ms(draw_, 20)};
  x.silence->broken(world_.now());
  x.end->connected(x.dialled);
  ring();
}

/// @returns whether more may follow
bool sim_links::put(const std::string& route, bool up, const piece& x) {
  auto& on = connections_.at(route);
  if (on.how == standing::closed) {
    ++luck_.happened["piece said into a lost connection"];
    return false;
  }
  auto& line = up ? on.up : on.down;
  luck_.happened["a small frame overtakes a transfer"] +=
    x.kind == piece_kind::framed && !line.empty()
    && kind_of(line.back().head) == piece_kind::chunk;
  if (x.kind == piece_kind::chunk && !std::exchange(on.had_chunks[up], true))
    luck_.happened["a transfer goes on where it was"] += x.at > 0;
  line.push_back(
    {transport::head_of(x), {x.body.bytes.begin(), x.body.bytes.end()}});
  if (on.how == standing::open)
    world_.later(on.delay, [this, route, up] { deliver(route, up); });
  return true;
}

void sim_links::deliver(const std::string& route, bool up) {
  if (!*bell_)
    return;
  auto& on = connections_.at(route);
  auto& line = up ? on.up : on.down;
  if (line.empty() || on.how != standing::open)
    return;
  if (luck_.happens(draw_, luck_.active.connection_cut, "connection cut"))
    return cut(route);
  const auto x = std::move(line.front());
  line.pop_front();
  hear(route, on, up, x);
  ring(); // There is room for another.
}

// Nobody notices one that vanishes, but for the silence.
void sim_links::cut(const std::string& route) {
  auto& on = connections_.at(route);
  if (on.how == standing::closed)
    return;
  auto& x = processes_[on.process];
  const bool has_users = x.is_there() && x.route == route;
  if (has_users && luck_.active.connection_cut > 0 && draw_.chance(0.2)) {
    ++luck_.happened["connection vanished"];
    on.how = standing::vanished;
    lose(on, true, route);
    return lose(on, false, route);
  }
  on.how = standing::closed;
  lose(on, true, route);
  lose(on, false, route);
  ring();
  if (has_users)
    world_.later(drawn_ms(draw_, 50), [this, route, number = on.process] {
      auto& of = processes_[number];
      if (of.route != route)
        return;
      of.route.clear();
      of.silence->broken(world_.now());
      of.end->lost();
      dial_later(number);
    });
}

/// It is gone, or comes when there may be another connection.
void sim_links::lose(connection& x, bool up, const std::string& route) {
  auto line = std::exchange(up ? x.up : x.down, {});
  auto& happened = luck_.happened;
  for (const auto& y : line) {
    happened["credit lost in a cut"] += kind_of(y.head) == piece_kind::reached;
    happened["chunk lost in a cut"] += kind_of(y.head) == piece_kind::chunk;
    happened["frame lost with its connection"] +=
      kind_of(y.head) == piece_kind::framed;
  }
  // What follows what was lost never comes, nor before it.
  if (line.empty() || std::exchange(x.had_losses[up], true)
      || draw_.chance(0.5))
    return;
  world_.later(drawn_ms(draw_, 1000),
               [this, route, up, line, life = server_life_] {
                 if (!*bell_ || (up && life != server_life_))
                   return;
                 for (const auto& y : line) {
                   ++luck_.happened["piece of a lost connection comes late"];
                   hear(route, connections_.at(route), up, y);
                 }
                 ring();
               });
}

/// A process gives up its connection, or ends with it.
void sim_links::hang_up(process& x) {
  if (x.route.empty())
    return;
  auto& on = connections_.at(x.route);
  const auto route = std::exchange(x.route, {});
  if (on.how == standing::open)
    cut(route);
  else
    on.how = standing::closed;
}

void sim_links::hear(const std::string& route, const connection& on, bool up,
                     const wire& x) {
  const auto read = transport::read_piece(x.head, x.body);
  ASSERT_TRUE(read);
  ++pieces_;
  if (up)
    return server_hears(route, *read);
  if (auto& of = processes_[on.process]; of.life == on.life)
    process_hears(of, *read);
}

void sim_links::server_hears(const std::string& route, const piece& x) {
  auto* from = places_->of(route, "", x);
  if (from == nullptr) {
    ++luck_.happened["piece of nobody"];
    return;
  }
  from->heard = pieces_;
  const bool was_open = from->link.is_open();
  auto found = from->hear(x, world_.now());
  luck_.happened["what was kept for who is back goes on"] +=
    !was_open && from->link.is_open() && from->link.holds_room();
  EXPECT_TRUE(found) << "an honest process is wrong: "
                     << (found ? "" : found.error().context);
  luck_.happened["some frames came in one piece"] += found && found->size() > 1;
  const auto number = from->number;
  for (const auto& one : found.value_or(transport::arrivals{})) {
    const auto& on = connections_.at(route);
    // Of one that has died the last words may come.
    if (auto& of = processes_[on.process]; of.life == on.life)
      of.laws->heard(one);
    options_.server_hears({one.channel.value}, one.what);
    hub_->arrived({transport::peer_of(number, one.channel), one.what});
  }
}

void sim_links::process_hears(process& x, const piece& what) {
  x.silence->broken(world_.now());
  const auto before = x.end->other();
  const bool was_open = x.end->is_open();
  auto found = x.end->heard(what);
  EXPECT_TRUE(found) << "an honest server is wrong: "
                     << (found ? "" : found.error().context);
  if (before && !was_open && x.end->is_open()) {
    const bool goes_on = before == x.end->other();
    ++luck_
        .happened[goes_on ? "a link goes on" : "a link meets another server"];
    if (!goes_on)
      x.laws->met_another();
    x.hub->say_hello();
  }
  for (const auto& one : found.value_or(transport::arrivals{})) {
    for (const auto& [number, place] : places_->all())
      if (place.link.other() == x.instance)
        laws_of(number).heard(one);
    x.hub->arrived({{one.channel.value}, one.what});
  }
}

} // namespace troupe::test
