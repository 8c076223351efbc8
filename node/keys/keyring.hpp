#pragma once

// A folder of keys, and the only one who knows its files:
//
//   pair              of the server
//   next              the pair that it will have, and from when on
//   allowed/KEY       what this key may do
//   invited/HASH      a line that enrols one key; its own is not kept
//   address           where the server answers, for such lines
//
// Each question reads the file that it is about, so that what was changed holds
// at once; a file that is damaged, or that others may write, is as if there
// were none. One that cannot be read for the moment says nothing. Who changes
// something has the folder's lock meanwhile.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/keys.hpp"
#include "core/result.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/permit.hpp"

namespace troupe::node {

class keyring {
public:
  explicit keyring(std::filesystem::path folder) : folder_(std::move(folder)) {
    // nop
  }

  const std::filesystem::path& folder() const noexcept {
    return folder_;
  }

  /// The server's own, made where there is none.
  [[nodiscard]] result<key_pair> own() const;

  /// The same as it is kept. An error if there is none, or it cannot be read.
  [[nodiscard]] result<key_pair> kept() const;

  /// The pair that takes its place, if there is one.
  [[nodiscard]] result<std::optional<coming_pair>> coming() const;

  struct serving_key {
    public_key key{};
    std::optional<std::int64_t> until_ms = {}; ///< Nothing: no other comes.
  };

  /// By which key whoever comes from now on meets the server. Where the next
  /// one is due that is it, though the server may be down and not have it yet.
  [[nodiscard]] result<serving_key> serves_by(std::int64_t now_ms) const;

  /// Another pair for the server from then on. Where one is on its way, which
  /// some may know already, that one, and another moment.
  [[nodiscard]] result<coming_pair> renew(std::int64_t at_ms) const;

  /// The next pair serves: the one before is no more. Of what is not the next,
  /// nothing happens.
  [[nodiscard]] result<void> serves(const public_key& next) const;

  /// What is allowed to a key. An error if nothing is, or no longer;
  /// `unavailable`: nobody can say for the moment.
  [[nodiscard]] result<permit> find(const public_key& who,
                                    std::int64_t now_ms) const;

  key_standing standing(const public_key& who, std::int64_t now_ms) const;

  /// Lets a key in, or changes what it may.
  [[nodiscard]] result<void> allow(const public_key& who,
                                   const permit& what) const;

  /// Of a name, or of a key in digits: no longer. Says how many files went.
  [[nodiscard]] result<std::size_t> deny(const std::string& who) const;

  /// A new pair that enrols one key. Lines that have expired go. Where a key
  /// has that name, it alone: it may have to hear of another pair of the
  /// server.
  [[nodiscard]] result<key_pair> invite(const permit& what,
                                        std::int64_t now_ms) const;

  /// Allows `own` what the line was given for. A line serves one key, which may
  /// ask again: it may not have heard the answer. `unavailable`: nobody can say
  /// for the moment whether it may; `storage_failure`: it cannot be stored just
  /// now. Neither refuses it.
  [[nodiscard]] result<void> enrol(const public_key& line,
                                   const public_key& own,
                                   std::int64_t now_ms) const;

  /// Keys and lines that may come in, and those of which nobody can say for the
  /// moment. An error: nobody can say of any.
  [[nodiscard]] result<std::set<key_hash>> good(std::int64_t now_ms) const;

  /// When a key was last allowed or denied; changes with each.
  std::int64_t changed() const;

  struct entry {
    std::string file; ///< A key, or what stands for a line.
    bool is_line = false;
    result<permit> what;
    std::optional<public_key> used = {}; ///< Of a line: by whom.
  };

  /// All that there are, by name of file.
  std::vector<entry> all() const;

  [[nodiscard]] result<void> write_address(const std::string& x) const;

  /// Where the server answers; an error if it never did.
  [[nodiscard]] result<std::string> address() const;

private:
  std::filesystem::path path_of(const public_key& who) const;
  std::filesystem::path line_path(const public_key& line) const;
  bool is_taken(const std::string& name, const std::string& but) const;
  result<void> put(const public_key& who, const permit& what) const;

  std::filesystem::path folder_;
};

} // namespace troupe::node
