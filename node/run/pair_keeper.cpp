#include "node/run/pair_keeper.hpp"

#include "core/hex.hpp"

namespace troupe::node {

namespace {

constexpr std::chrono::milliseconds pair_glance{200};
constexpr std::chrono::seconds pair_patience{5};

/// Whoever was here so lately may be on its way back.
constexpr std::chrono::seconds pair_lately{10};

} // namespace

void pair_keeper::look() {
  const auto now = steady_now();
  if (now < looked_at_ + pair_glance)
    return;
  looked_at_ = now;
  // What cannot be read now is looked at again, and nothing changes until then.
  const auto found = beside_.keys->coming().and_then(
    [this](const std::optional<coming_pair>& x) { return still_coming(x); });
  if (!found)
    return log_once(found.error().context);
  next_ = *found;
  change_.found(next_);
  if (!next_)
    return;
  if (beside_.socket->listens_with() == next_->pair.open)
    return conclude();
  if (!change_.is_due(unix_milliseconds()))
    return tell();
  if (std::exchange(wanted_, next_->pair.open) != next_->pair.open) {
    wanted_at_ = now;
    beside_.socket->listen_with(next_->pair);
  } else if (now > wanted_at_ + pair_patience) {
    log_once(
      "nobody can be heard with it yet; it is tried again and again, and "
      "another process may have the port");
  }
}

// Another server of the folder may have gone over to it before us.
result<std::optional<coming_pair>>
pair_keeper::still_coming(const std::optional<coming_pair>& found) const {
  if (found || !next_)
    return found;
  return beside_.keys->kept().map([this](const key_pair& kept) {
    return kept.open == next_->pair.open ? next_ : std::nullopt;
  });
}

void pair_keeper::tell() {
  const auto now = unix_milliseconds();
  const transport::announcement what{next_->pair.open, change_.left(now)};
  for (const auto link :
       change_.to_tell(beside_.socket->links_here(pair_lately), now))
    beside_.socket->announce(link, what);
}

void pair_keeper::conclude() {
  if (const auto ok = beside_.keys->serves(next_->pair); !ok)
    return log_once(ok.error().context);
  beside_.log("the server has another pair of keys now: "
              + to_hex(next_->pair.open));
  next_.reset();
  beside_.changed();
}

// It is looked for five times a second.
void pair_keeper::log_once(const std::string& problem) {
  if (std::exchange(problem_, problem) != problem)
    beside_.log("the server's next pair of keys: " + problem);
}

} // namespace troupe::node
