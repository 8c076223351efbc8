// Who does one thing to each invitation.

#include <limits>

#include "tests/support/sim/hostile.hpp"

namespace troupe::test {

hostile::habit hostile::habit_of(std::uint64_t seed) {
  return static_cast<habit>(seed / 4 % 12);
}

bool hostile::answers(std::uint64_t seed) {
  const auto x = habit_of(seed);
  return x > habit::another_none && x != habit::hellos;
}

void hostile::by_habit() {
  using messages::decline_reason;
  if (habit_ == habit::hellos)
    return say("says hello fifty times a second", greeting());
  if (!now_)
    return;
  const auto declines = [&](const char* what, decline_reason why) {
    say(what, messages::visit_declined{now_->pass, why});
  };
  switch (habit_) {
    case habit::no_line: {
      auto wish = sound_fetch(0);
      wish.wanted.front().line = {99};
      say("answers each invitation with a wish for line 99", std::move(wish));
      break;
    }
    case habit::failure:
      declines("fails each time", decline_reason::failed);
      break;
    case habit::no_offer:
      declines("has nothing to offer each time", decline_reason::no_offer);
      break;
    case habit::drop_out:
      declines("drops out each time", decline_reason::dropped);
      break;
    case habit::busy:
      declines("is busy each time, and says hello", decline_reason::busy);
      hello();
      break;
    case habit::leave:
      say("leaves each time, and comes back", messages::leave{me_});
      hello();
      break;
    default:
      return after_a_fetch();
  }
  now_.reset();
}

void hostile::after_a_fetch() {
  auto x = sound_offer();
  if (!x)
    return fetch();
  const auto based_on = [&](version base) {
    for (auto& part : x->blocks)
      part.base = base;
  };
  if (habit_ == habit::no_number) {
    x->blocks.front().delta =
      share({std::numeric_limits<float>::quiet_NaN(), 0, 0, 0});
    say("answers each invitation with NaN", std::move(*x));
  } else if (habit_ == habit::ahead) {
    based_on({~std::uint64_t{0} - 1});
    say("offers on a version to come each time", std::move(*x));
  } else {
    based_on({0});
    say("offers on the first version each time", std::move(*x));
  }
  now_.reset();
}

} // namespace troupe::test
