// What becomes of offers, asked as if their values were let go of.

#include "tests/support/sim/hostile.hpp"

namespace troupe::test {

messages::offer_awaited
hostile::sound_await(const messages::ticket& pass) const {
  messages::offer_awaited x{.pass = pass, .lines = {}};
  for (const auto& line : x_.blocks.lines)
    x.lines.push_back(line.id);
  return x;
}

void hostile::await() {
  switch (draw_.below(4)) {
    case 0: // Before it has offered anything, or after.
      return say("asks after its offer",
                 sound_await(now_ ? now_->pass : some_ticket()));
    case 1:
      if (auto x = sound_offer()) {
        const auto pass = x->pass;
        say("asks after its offer before it says it", sound_await(pass));
        say("offers", std::move(*x));
        for (int i = 0; i < 20; ++i)
          say("asks after its offer without end", sound_await(pass));
      }
      return;
    case 2:
      if (const auto& all = x_.all.merged; !all.empty())
        say("asks after what is merged",
            sound_await(all[draw_.below(all.size())]));
      return;
    default:
      return say("asks after some offer", sound_await(some_ticket()));
  }
}

void hostile::strange_await() {
  auto x = sound_await(now_ ? now_->pass : some_ticket());
  switch (draw_.below(4)) {
    case 0:
      x.pass.visit.client = {1 + draw_.below(honest_)};
      return say("asks after another's offer", std::move(x));
    case 1:
      x.pass.mac[draw_.below(16)] ^= 1;
      return say("asks after an offer with a forged seal", std::move(x));
    case 2:
      x.lines.push_back({99});
      return say("asks a line that is not there", std::move(x));
    default:
      x.lines.assign(4096, x.lines.front());
      return say("asks one line 4,096 times", std::move(x));
  }
}

void hostile::decline() {
  const auto pass = now_ && draw_.chance(0.5) ? now_->pass : some_ticket();
  auto forged = pass;
  forged.mac = {};
  say("declines with a forged seal",
      messages::visit_declined{forged, messages::decline_reason::failed});
  for (int i = 0; i < 50; ++i)
    say("declines", messages::visit_declined{
                      pass, static_cast<messages::decline_reason>(i % 4)});
  if (auto x = sound_offer()) {
    x->pass = pass;
    say("offers what it declined", std::move(*x));
  }
}

} // namespace troupe::test
