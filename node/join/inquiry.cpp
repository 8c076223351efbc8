#include "node/join/inquiry.hpp"

namespace troupe::node {

void inquiry::heard(const messages::any_message& any) {
  std::uint64_t nonce = 0;
  if (const auto* terms = std::get_if<messages::terms_given>(&any))
    nonce = terms->nonce;
  else if (const auto* places = std::get_if<messages::places_given>(&any))
    nonce = places->nonce;
  else if (const auto* frozen = std::get_if<messages::frozen_given>(&any))
    nonce = frozen->nonce;
  else if (const auto* enrolled =
             std::get_if<messages::enrolment_answered>(&any))
    nonce = enrolled->nonce;
  else
    return;
  const std::lock_guard guard{mutex_};
  answer_ = any;
  answered_ = nonce;
  changed_.notify_all();
}

std::optional<messages::any_message> inquiry::wait_for(std::uint64_t nonce) {
  constexpr std::chrono::milliseconds moment{50};
  std::unique_lock guard{mutex_};
  const auto is_here = [&] { return answer_ && answered_ == nonce; };
  if (!changed_.wait_for(guard, moment, is_here))
    return std::nullopt;
  return std::exchange(answer_, std::nullopt);
}

} // namespace troupe::node
