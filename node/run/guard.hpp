#pragma once

// The keys of a served run: whom its sockets let in, and what they may have.

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "actors/reception/reception.hpp"
#include "actors/transport/refusals.hpp"
#include "core/clock.hpp"
#include "core/keys.hpp"
#include "core/result.hpp"
#include "node/keys/denials.hpp"
#include "node/keys/keyring.hpp"

namespace troupe::node {

class guard {
public:
  /// Of a folder with keys, whose pair is made where it is not; of one whose
  /// next pair is due, that. Without one: lets nobody in until it has one.
  [[nodiscard]] static result<std::shared_ptr<guard>>
  make(const std::filesystem::path& folder);

  explicit guard(const key_pair& own) : own_(own) {
    // nop
  }

  /// Where there is no folder yet, this one from now on. An error: there is
  /// none still.
  [[nodiscard]] result<void> settle(const std::filesystem::path& folder);

  /// Whoever is invited finds the server there.
  [[nodiscard]] result<void> say_address(const std::string& x) const;

  key_pair own() const {
    const std::lock_guard lock{mutex_};
    return own_;
  }

  /// For people: that its pair was made, and where; empty: it was there.
  std::string news() const;

  /// The pair that is to take its place.
  [[nodiscard]] result<std::optional<coming_pair>> coming() const;

  /// The pair as it is kept. What is gone or wrong is not made anew: it is by
  /// this that clients know who serves.
  [[nodiscard]] result<key_pair> kept() const;

  /// That one serves.
  [[nodiscard]] result<void> serves(const key_pair& next);

  /// Of who comes. Whoever may is remembered; where its file cannot be read for
  /// the moment, what is remembered holds.
  key_standing standing(const public_key& who);

  /// Of who is here, as it came: nothing is read. `unknown` where it was denied
  /// since.
  key_standing still(const public_key& who) const;

  /// Now, whatever it was a moment ago: whoever is denied says hello again at
  /// once. Nothing: its file is not as it was, and a second look is to come.
  std::optional<bool> lets_in(const public_key& who) const;

  /// Whether to ask who is denied: keys may have changed since that was asked
  /// last, or somebody is looked at again. One thread at a time calls it.
  bool may_have_changed(instant now);

  /// By what their clients are known whose keys are allowed no longer, each
  /// once for each time: of those that came, and of these.
  std::set<key_hash> newly_denied(std::set<key_hash> with_clients);

  /// Then: of everybody. False: the folder could not be read, and of who is
  /// here it was looked alone whether a file is gone.
  bool saw_all() const;

  /// By what a key's clients are known, and how many it may have. An error: it
  /// may have none; `unavailable`: nobody can say for the moment.
  [[nodiscard]] result<actors::claim> claim_of(const public_key& who) const;

  /// Allows a key by the line that somebody came with. `unavailable` likewise;
  /// `storage_failure`: it cannot be stored just now.
  [[nodiscard]] result<void> enrol(const public_key& line,
                                   const public_key& own) const;

private:
  struct guest {
    key_standing standing;
    key_hash hash;
  };

  std::optional<keyring> keys() const;
  std::map<public_key, guest> guests() const;
  key_standing in_its_file(const public_key& who) const;

  mutable std::mutex mutex_;
  key_pair own_;
  std::optional<keyring> keys_;
  std::filesystem::path made_in_; ///< Its pair; empty: it was there.
  std::int64_t seen_ = 0; ///< When the folder of keys was changed, as it was.
  instant looked_at_{};
  bool looks_again_ = false;
  bool saw_all_ = true;
  std::map<public_key, guest> let_in_;
  denials denials_;
};

} // namespace troupe::node
