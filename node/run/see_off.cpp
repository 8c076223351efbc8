// Which processes are here, and how they hear that a run is over, or that they
// are to go.

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "node/run/serving.hpp"

namespace troupe::node {

using namespace actors;

namespace {

/// For what processes are told at the end of a run, or of this process; and for
/// those that say nothing at all meanwhile.
constexpr std::chrono::seconds last_words_max{10};
constexpr std::chrono::seconds last_silence_max{3};

/// Whoever was here so lately may be on its way back.
constexpr std::chrono::seconds lately{4};

} // namespace

// Those that are gone are looked for now and then: a crowd comes one by one.
void known_links::add(std::uint64_t link, const all_links& all) {
  const std::lock_guard guard{mutex_};
  links_.insert(link);
  if (links_.size() <= 2 * left_)
    return;
  const auto there = all();
  const std::set<std::uint64_t> known{there.begin(), there.end()};
  std::erase_if(links_, [&](auto x) { return !known.contains(x); });
  left_ = links_.size();
}

std::vector<client_id> serving::newly_denied() const {
  std::vector<client_id> out;
  if (!guard_ || !guard_->may_have_changed(steady_now()))
    return out;
  const auto all = posted_->all();
  std::set<key_hash> owners;
  for (const auto& [who, clients] : all)
    owners.insert(who);
  const auto denied = guard_->newly_denied(std::move(owners));
  if (!guard_->saw_all())
    refused_->add(transport::refusal::unreadable_key, steady_now());
  if (!denied.empty())
    socket_->look_at_keys();
  for (const auto& [who, clients] : all)
    if (denied.contains(who))
      out.insert(out.end(), clients.begin(), clients.end());
  return out;
}

std::set<peer_id> serving::here() const {
  std::set<peer_id> out;
  for (const auto link : socket_->links_here(lately))
    out.insert(process_of(link));
  return out;
}

std::set<peer_id> serving::spoke(instant lately) const {
  std::set<peer_id> out;
  for (const auto link : socket_->links_heard(lately))
    out.insert(process_of(link));
  return out;
}

void serving::see_off(messages::parting why, const std::string& text) const {
  constexpr std::chrono::milliseconds glance{20};
  constexpr int glances_between_words = 25;
  if (why == messages::parting::over)
    control_->ended(text);
  const auto began = steady_now();
  for (int tick = 0; steady_now() < began + last_words_max; ++tick) {
    // The run goes nowhere any more, but nobody who is denied is heard.
    (void)newly_denied();
    auto left = socket_->links_here(lately);
    // One may be stopped, over a connection that holds.
    const bool all = steady_now() < began + last_silence_max;
    std::erase_if(left, [&, speaking = spoke(last_silence_max)](auto x) {
      return !came_->contains(x) || parted_->contains(x)
             || !(all || speaking.contains(process_of(x)));
    });
    // Clients hear the end in their sessions, behind their last answers. This
    // is for those who have none; and who is gone shows when it is sent.
    if (tick % glances_between_words == glances_between_words - 1
        || why == messages::parting::for_now)
      for (const auto link : left)
        socket_->send(process_of(link), messages::process_parted{why, text});
    if (left.empty() || why == messages::parting::for_now)
      return;
    std::this_thread::sleep_for(glance);
  }
}

} // namespace troupe::node
