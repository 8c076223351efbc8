#include "node/run/guard.hpp"

#include "core/clock.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

result<std::shared_ptr<guard>>
guard::make(const std::filesystem::path& folder) {
  if (folder.empty())
    return std::make_shared<guard>(draw_pair());
  const keyring keys{folder};
  std::error_code failed; // Who reads it says what is wrong with it.
  const bool is_new = !std::filesystem::exists(folder / "pair", failed);
  const auto own = keys.own();
  if (!own)
    return tl::make_unexpected(own.error());
  const auto next = keys.coming();
  if (!next)
    return tl::make_unexpected(next.error());
  const bool is_due = *next && (*next)->at_ms <= unix_milliseconds();
  auto out = std::make_shared<guard>(is_due ? (*next)->pair : *own);
  out->keys_ = keys;
  if (is_new)
    out->made_in_ = folder;
  return out;
}

result<void> guard::settle(const std::filesystem::path& folder) {
  if (keys())
    return {};
  // A disk may take long, and others ask meanwhile who is here.
  auto made = make_private(folder).and_then(
    [&] { return write_pair(folder / "pair", own()); });
  if (!made)
    return made;
  const std::lock_guard lock{mutex_};
  keys_.emplace(folder);
  made_in_ = folder;
  return {};
}

std::string guard::news() const {
  const std::lock_guard lock{mutex_};
  if (made_in_.empty())
    return {};
  const auto folder = made_in_.string();
  return "a pair of keys is made in " + folder + "; troupe keys invite --keys "
         + folder + " --name NAME lets somebody in";
}

result<std::optional<coming_pair>> guard::coming() const {
  const auto known = keys();
  return known ? known->coming() : std::optional<coming_pair>{};
}

result<key_pair> guard::kept() const {
  const auto known = keys();
  return known ? known->kept() : own();
}

result<void> guard::serves(const key_pair& next) {
  const auto known = keys();
  if (known)
    if (auto ok = known->serves(next.open); !ok)
      return ok;
  const std::lock_guard lock{mutex_};
  own_ = next;
  return {};
}

std::optional<keyring> guard::keys() const {
  const std::lock_guard lock{mutex_};
  return keys_;
}

result<void> guard::say_address(const std::string& x) const {
  const auto known = keys();
  return known ? known->write_address(x) : result<void>{};
}

key_standing guard::in_its_file(const public_key& who) const {
  const auto known = keys();
  return known ? known->standing(who, unix_milliseconds())
               : key_standing::unknown;
}

key_standing guard::standing(const public_key& who) {
  const auto found = in_its_file(who);
  if (found == key_standing::unsure)
    if (const auto before = still(who); before != key_standing::unknown)
      return before;
  if (found == key_standing::allowed || found == key_standing::invited) {
    const auto hash = hash_of(who);
    const std::lock_guard lock{mutex_};
    let_in_[who] = {.standing = found, .hash = hash};
    denials_.is_good(hash);
  }
  return found;
}

key_standing guard::still(const public_key& who) const {
  const std::lock_guard lock{mutex_};
  const auto found = let_in_.find(who);
  return found == let_in_.end() ? key_standing::unknown
                                : found->second.standing;
}

std::optional<bool> guard::lets_in(const public_key& who) const {
  const auto found = in_its_file(who);
  const bool was_good = still(who) == key_standing::allowed;
  if (found == key_standing::allowed
      || (found == key_standing::unsure && was_good))
    return true;
  return was_good ? std::nullopt : std::optional{false};
}

std::map<public_key, guard::guest> guard::guests() const {
  const std::lock_guard lock{mutex_};
  return let_in_;
}

bool guard::saw_all() const {
  const std::lock_guard lock{mutex_};
  return saw_all_;
}

result<void> guard::enrol(const public_key& line, const public_key& own) const {
  const auto known = keys();
  return known ? known->enrol(line, own, unix_milliseconds())
               : fail(errc::invalid_argument, "nobody is invited yet");
}

// Files have the time of a coarse clock: what is changed within one tick of it
// shows in a further look.
bool guard::may_have_changed(instant now) {
  constexpr std::chrono::milliseconds glance{200};
  constexpr std::chrono::seconds expiry{9}; // A key may just have run out.
  std::unique_lock lock{mutex_};
  const auto known = keys_;
  if (!known || now < looked_at_ + glance)
    return false;
  lock.unlock(); // Nobody waits for a disk to be told who is here.
  const auto changed = known->changed();
  lock.lock();
  const bool is_new = changed != seen_;
  if (!is_new && !looks_again_ && !denials_.is_in_doubt()
      && now < looked_at_ + expiry)
    return false;
  looked_at_ = now;
  seen_ = changed;
  looks_again_ = is_new;
  return true;
}

std::set<key_hash> guard::newly_denied(std::set<key_hash> with_clients) {
  const auto now = steady_now();
  const auto known = keys();
  if (!known)
    return {};
  const auto came = guests();
  const auto listed = known->good(unix_milliseconds());
  std::set<key_hash> here;
  std::set<key_hash> stay; // Of these, by their files' names.
  for (const auto& [who, x] : came) {
    here.insert(x.hash);
    if (listed)
      continue;
    const auto found = known->standing(who, unix_milliseconds());
    if (found != key_standing::unknown && found != key_standing::expired)
      stay.insert(x.hash);
  }
  with_clients.insert(here.begin(), here.end());
  const std::lock_guard lock{mutex_};
  saw_all_ = listed.has_value();
  looks_again_ |= !saw_all_;
  auto out = listed ? denials_.look(with_clients, *listed, now)
                    : denials_.look_at(here, stay, now);
  std::erase_if(let_in_,
                [&](const auto& x) { return out.contains(x.second.hash); });
  return out;
}

// The book of who has which clients names no key: it is read by more.
result<actors::claim> guard::claim_of(const public_key& who) const {
  const auto known = keys();
  if (!known)
    return fail(errc::invalid_argument, "nobody is allowed yet");
  return known->find(who, unix_milliseconds()).map([&](const permit& x) {
    return actors::claim{
      .who = hash_of(who), .numbers_max = x.numbers, .names = x.clients};
  });
}

} // namespace troupe::node
