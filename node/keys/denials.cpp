#include "node/keys/denials.hpp"

#include <algorithm>

namespace troupe::node {

std::set<key_hash> denials::look(const std::set<key_hash>& known,
                                 const std::set<key_hash>& good, instant now) {
  std::erase_if(missed_,
                [&](const auto& x) { return !known.contains(x.first); });
  return look_at(known, good, now);
}

std::set<key_hash> denials::look_at(const std::set<key_hash>& some,
                                    const std::set<key_hash>& good,
                                    instant now) {
  std::erase_if(missed_, [&](const auto& x) { return good.contains(x.first); });
  std::set<key_hash> out;
  for (const auto& who : some) {
    if (good.contains(who))
      continue;
    auto& x = missed_.try_emplace(who, missed{.since = now}).first->second;
    if (x.is_denied || now < x.since + second_look)
      continue;
    x.is_denied = true;
    out.insert(who);
  }
  return out;
}

bool denials::is_in_doubt() const {
  return std::ranges::any_of(missed_,
                             [](const auto& x) { return !x.second.is_denied; });
}

} // namespace troupe::node
