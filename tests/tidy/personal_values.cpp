// A personal block cannot be turned into a message. This file compiles as it
// stands; with one token changed, TROUPE_MAKE=personal_values, it must not.

#include "actors/messages/offer.hpp"
#include "core/values.hpp"

#ifndef TROUPE_MAKE
#define TROUPE_MAKE share
#endif

namespace troupe {

auto values = TROUPE_MAKE(std::vector<float>{1, 2, 3});

messages::offer_block sent{
  {.block = {1}, .rank = 0, .weight = 1, .delta = values}, {0}};

} // namespace troupe
