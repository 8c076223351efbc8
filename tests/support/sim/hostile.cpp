#include "tests/support/sim/hostile.hpp"

#include <algorithm>
#include <limits>

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

} // namespace

hostile::hostile(parts x, client_id me, std::uint64_t seed,
                 std::uint64_t honest)
  : x_(x),
    me_(me),
    habit_(habit_of(seed)),
    draw_(derive_seed(seed, "hostile", me.value)),
    honest_(honest) {
  // nop
}

void hostile::begin() {
  hello();
  speak();
}

void hostile::speak() {
  const std::chrono::milliseconds pause{
    habit_ == habit::hellos ? 20 : 1 + draw_.below(200)};
  x_.w.later(pause, [this] {
    if (habit_ > habit::another_none)
      by_habit();
    else if (x_.w.now() >= quiet_until_)
      one_harm();
    speak();
  });
}

void hostile::say(const char* what, messages::any_message x) {
  ++x_.happened[std::string{"hostile: "} + what];
  if (const auto* o = std::get_if<messages::offer_made>(&x))
    x_.all.offered[o->pass.visit].push_back(*o);
  x_.network.inject(me_, transport::encode(x));
}

void hostile::heard(const messages::any_message& any) {
  if (const auto* x = std::get_if<messages::invited>(&any)) {
    if (!now_ || now_->pass != x->pass)
      now_ = {x->pass, {}};
    x_.all.tickets.push_back(x->pass);
  } else if (const auto* y = std::get_if<messages::line_served>(&any)) {
    if (now_ && now_->pass.visit == y->visit)
      now_->served[y->line] = y->base;
  } else if (const auto* z = std::get_if<messages::offer_answered>(&any)) {
    const auto pass =
      std::ranges::find(x_.all.tickets, z->visit, &messages::ticket::visit);
    if (z->verdict == policies::verdict::accepted
        && pass != x_.all.tickets.end())
      x_.all.merged.push_back(*pass);
  } else if (std::holds_alternative<messages::farewell>(any)
             && draw_.chance(0.5)) {
    hello();
  }
}

void hostile::one_harm() {
  // Before it is at work, it looks for work.
  if (!now_ && draw_.chance(0.5))
    return draw_.chance(0.2) ? hello() : silence_for(500ms);
  if (x_.asks && now_ && draw_.chance(0.1))
    return strange_request();
  if (now_ && now_->served.empty() && draw_.chance(0.7))
    return fetch();
  switch (draw_.below(17)) {
    case 0:
      return draw_.chance(0.3) ? hello() : strange_hello();
    case 1:
    case 2:
    case 3:
      return fetch();
    case 4:
      return strange_fetch();
    case 5:
    case 6:
      return offer();
    case 7:
    case 8:
      return strange_offer();
    case 9:
      return other_offer();
    case 10:
      return saved_up();
    case 11:
      return decline();
    case 12:
      return go();
    case 13:
      return servers_words();
    case 14:
      return draw_.chance(0.5) ? await() : strange_await();
    case 15:
      return draw_.chance(0.9)
               ? garbage()
               : silence_for(std::chrono::seconds{draw_.below(30)});
    default:
      return draw_.chance(0.98) ? garbage() : flood();
  }
}

messages::hello hostile::greeting() {
  messages::hello x;
  x.client = me_;
  x.incarnation = ++incarnation_;
  x.layout = x_.blocks.fingerprint();
  x.nonce = nonce_ = incarnation_ << 32;
  x.examples = 10;
  x.last = {};
  return x;
}

void hostile::hello() {
  say("hello", greeting());
}

void hostile::strange_hello() {
  auto x = greeting();
  switch (draw_.below(8)) {
    case 0:
      x.incarnation = huge;
      return say("incarnation without end", x);
    case 1:
      x.protocol_min = 9;
      x.protocol_max = 12;
      return say("another protocol", x);
    case 2:
      x.layout = {};
      return say("another layout", x);
    case 3:
      x.client = {draw_.chance(0.5) ? 0 : huge};
      return say("no client's id", x);
    case 4:
      x.client = {honest_ + 100 + draw_.below(20'000)};
      return say("a connection speaks for many", x);
    case 5:
      x.examples = huge;
      return say("examples without end", x);
    case 6:
      x.incarnation = draw_.below(incarnation_);
      return say("an old incarnation", x);
    default:
      x.open.assign(1 + draw_.below(64), some_ticket());
      x.last = {huge};
      return say("at work on everything", x);
  }
}

std::vector<line_id> hostile::lines_of(const std::string& family) const {
  std::vector<line_id> lines;
  for (const auto block : x_.blocks.family(family))
    if (const auto line = x_.blocks.find(block)->line;
        std::ranges::find(lines, line) == lines.end())
      lines.push_back(line);
  return lines;
}

messages::ticket hostile::some_ticket() {
  auto& all = x_.all.tickets;
  return all.empty() ? messages::ticket{.visit = {me_, {1}}}
                     : all[draw_.below(all.size())];
}

messages::fetch_requested hostile::sound_fetch(std::uint32_t leg) {
  messages::fetch_requested x{
    .pass = now_ ? now_->pass : some_ticket(), .leg = leg, .wanted = {}};
  for (const auto line : lines_of(leg == 0 ? "base" : "expert"))
    if (leg == 0 || !x_.asks || x.wanted.size() < 2)
      x.wanted.push_back({.line = line});
  return x;
}

void hostile::fetch() {
  say("fetches", sound_fetch(now_ && !now_->served.empty() ? 1 : 0));
}

void hostile::strange_fetch() {
  auto x = sound_fetch(0);
  switch (draw_.below(9)) {
    case 0:
      x.wanted.push_back({.line = {99}});
      return say("fetches what is not there", x);
    case 1:
      x.wanted.assign(4096, x.wanted.front());
      return say("fetches one line 4,096 times", x);
    case 2:
      x.leg = 7;
      return say("fetches a leg that is not there", x);
    case 3:
      x.wanted.front().rank = 9;
      return say("fetches a rank that is not there", x);
    case 4:
      x.wanted.front().exact = {huge - 1};
      return say("fetches a version that is not there", x);
    case 5:
      x.pass.mac[draw_.below(16)] ^= 1;
      return say("fetches with a forged seal", x);
    case 6:
      x.pass = some_ticket();
      return say("fetches on some ticket", x);
    case 7:
      x.pass.visit.client = {1 + draw_.below(honest_)};
      return say("fetches as another", x);
    default:
      for (int i = 0; i < 50; ++i)
        say("fetches without end", x);
  }
}

std::optional<messages::offer_made> hostile::sound_offer() {
  if (!now_ || now_->served.empty())
    return std::nullopt;
  messages::offer_made x;
  x.pass = now_->pass;
  for (const auto& [line, base] : now_->served)
    for (const auto id : x_.blocks.find(line)->blocks) {
      const auto& block = *x_.blocks.find(id);
      messages::offer_block part;
      part.block = id;
      part.base = base;
      part.weight = 1;
      std::vector<float> delta(block.size);
      for (auto& y : delta)
        y = static_cast<float>(0.1 * draw_.uniform());
      part.delta = share(std::move(delta));
      x.blocks.push_back(part);
    }
  std::ranges::sort(x.blocks, {}, &messages::offer_block::block);
  x.disclosures.push_back({0, {1}});
  if (x_.asks)
    x.disclosures.front().values = experts_served();
  x.loss = draw_.uniform();
  return x;
}

void hostile::offer() {
  if (auto x = sound_offer())
    say("offers", std::move(*x));
}

void hostile::strange_offer() {
  auto x = sound_offer();
  if (!x)
    return;
  auto& part = x->blocks[draw_.below(x->blocks.size())];
  const auto with = [&](float y) {
    auto delta = part.delta.copy();
    delta[draw_.below(delta.size())] = y;
    part.delta = share(std::move(delta));
  };
  switch (draw_.below(13)) {
    case 0:
      with(std::numeric_limits<float>::quiet_NaN());
      return say("offers NaN", *x);
    case 1:
      with(3e38f);
      return say("offers what is too large", *x);
    case 2:
      part.block = {99};
      return say("offers to a block that is not there", *x);
    case 3:
      part.weight = draw_.chance(0.5) ? -1 : 1e300;
      return say("offers with a strange weight", *x);
    case 4:
      part.weight = std::numeric_limits<double>::quiet_NaN();
      return say("offers with a weight that is no number", *x);
    case 5:
      part.base = {huge - 1};
      return say("offers on a version to come", *x);
    case 6:
      x->blocks.erase(x->blocks.begin());
      return say("offers half a group", *x);
    case 7:
      x->blocks.push_back(x->blocks.back());
      return say("offers a block twice", *x);
    case 8:
      part.delta = share(std::vector<float>(3));
      return say("offers a wrong size", *x);
    case 9:
      x->disclosures.front().index =
        static_cast<std::uint32_t>(x_.disclosures + 7);
      return say("discloses what is not asked", *x);
    case 10:
      if (x->pass.visit.number.value % 2 == 0) {
        x->disclosures.resize(10'000);
        return say("discloses nothing 10,000 times", *x);
      }
      x->disclosures.front().values.assign(5000, 1e308);
      return say("discloses too much", *x);
    case 11:
      x->loss =
        draw_.chance(0.5) ? std::numeric_limits<double>::quiet_NaN() : -1.7e308;
      return say("says a strange loss", *x);
    default:
      part.rank = 77;
      return say("offers a rank that is not there", *x);
  }
}

void hostile::other_offer() {
  for (int i = 0; i < 20; ++i)
    if (auto x = sound_offer()) {
      // Now to fewer lines, then to all.
      while (i % 2 == 0 && x->blocks.size() > 2)
        x->blocks.pop_back();
      say("many offers on one ticket", std::move(*x));
    }
}

void hostile::saved_up() {
  if (auto x = sound_offer()) {
    x->pass = some_ticket();
    say("offers on some ticket", *x);
    x->pass.seed ^= 1;
    say("offers with a forged seal", std::move(*x));
  }
}

void hostile::go() {
  if (draw_.chance(0.5))
    return say("leaves as another",
               messages::leave{{1 + draw_.below(honest_)}});
  say("leaves", messages::leave{me_});
  if (draw_.chance(0.8))
    hello();
}

void hostile::servers_words() {
  switch (draw_.below(4)) {
    case 0:
      return say("a server's words", messages::welcome{});
    case 1:
      return say("a server's words", messages::invited{some_ticket()});
    case 2:
      return say("a server's words",
                 messages::farewell{messages::farewell_reason::finished, ""});
    default:
      return say("beats as another",
                 messages::beat{{1 + draw_.below(honest_)}, {1}});
  }
}

void hostile::garbage() {
  ++x_.happened["hostile: garbage"];
  auto bytes = transport::encode(messages::any_message{greeting()});
  if (draw_.chance(0.5))
    bytes.resize(draw_.below(bytes.size()));
  for (auto& byte : bytes)
    if (draw_.chance(0.1))
      byte ^= std::byte{1} << draw_.below(8);
  x_.network.inject(me_, std::move(bytes));
}

void hostile::silence_for(instant x) {
  ++x_.happened["hostile: silence"];
  quiet_until_ = x_.w.now() + x;
}

void hostile::flood() {
  for (int i = 0; i < 3000; ++i)
    say("flood", messages::beat{me_, {}});
}

} // namespace troupe::test
