#include "node/keys/keyring.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hex.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

namespace {

/// Held by who changes a folder of keys: a command, or a server.
class folder_lock {
public:
  static result<folder_lock> take(const std::filesystem::path& folder) {
    for (const auto& path : {folder, folder / "allowed", folder / "invited"})
      if (auto ok = make_private(path); !ok)
        return tl::make_unexpected(ok.error());
    const auto path = folder / "lock";
    const int fd =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0 || ::flock(fd, LOCK_EX) != 0) {
      const int why = errno;
      if (fd >= 0)
        ::close(fd);
      return fail(code_of(why),
                  "cannot lock " + path.string() + ": " + std::strerror(why));
    }
    return folder_lock{fd};
  }

  folder_lock(folder_lock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {
    // nop
  }

  folder_lock& operator=(folder_lock&&) = delete;

  ~folder_lock() {
    if (fd_ >= 0)
      ::close(fd_);
  }

private:
  explicit folder_lock(int fd) noexcept : fd_(fd) {
    // nop
  }

  int fd_;
};

result<permit> permit_at(const std::filesystem::path& path) {
  return read_private(path).and_then(
    [](const std::string& text) { return read_permit(text); });
}

result<invitation> invitation_at(const std::filesystem::path& path) {
  return read_private(path).and_then(
    [](const std::string& text) { return read_invitation(text); });
}

result<permit> permit_of_line(const std::filesystem::path& path) {
  return invitation_at(path).map([](const invitation& x) { return x.what; });
}

/// What such a file makes of its key. @param good while it has not run out
key_standing standing_by(const result<permit>& file, key_standing good,
                         std::int64_t now_ms) {
  if (file)
    return file->expires_ms > now_ms ? good : key_standing::expired;
  return file.error().code == errc::unavailable ? key_standing::unsure
                                                : key_standing::unknown;
}

bool may_be_good(key_standing x) {
  return x != key_standing::unknown && x != key_standing::expired;
}

/// None where there is no such folder.
result<std::vector<std::string>> list_of(const std::filesystem::path& folder) {
  std::vector<std::string> out;
  std::error_code failed;
  for (std::filesystem::directory_iterator at{folder, failed}, end;
       !failed && at != end; at.increment(failed))
    if (!models::is_unfinished(at->path()))
      out.push_back(at->path().filename().string());
  if (failed && failed != std::errc::no_such_file_or_directory)
    return fail(errc::storage_failure,
                folder.string() + " cannot be read: " + failed.message());
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  return list_of(folder).value_or(std::vector<std::string>{});
}

result<void> remove_file(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::remove(path, failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot remove " + path.string() + ": " + failed.message());
  return {};
}

} // namespace

result<key_pair> keyring::own() const {
  return make_private(folder_).and_then(
    [this] { return pair_at(folder_ / "pair"); });
}

result<key_pair> keyring::kept() const {
  return read_pair(folder_ / "pair");
}

result<std::optional<coming_pair>> keyring::coming() const {
  return read_coming(folder_ / "next");
}

result<keyring::serving_key> keyring::serves_by(std::int64_t now_ms) const {
  const auto own = kept();
  if (!own)
    return tl::make_unexpected(own.error());
  return coming().map([&](const std::optional<coming_pair>& next) {
    // Of a server that died when it had changed already both are the same.
    if (!next || next->pair.open == own->open)
      return serving_key{own->open};
    return next->at_ms <= now_ms ? serving_key{next->pair.open}
                                 : serving_key{own->open, next->at_ms};
  });
}

// A moment is of whole seconds, and not before it was meant to be.
result<coming_pair> keyring::renew(std::int64_t at_ms) const {
  constexpr std::int64_t second = 1000;
  const auto lock = folder_lock::take(folder_);
  if (!lock)
    return tl::make_unexpected(lock.error());
  const auto now = kept();
  if (!now)
    return tl::make_unexpected(now.error());
  const auto known = coming();
  if (!known)
    return tl::make_unexpected(known.error());
  const bool is_on_its_way = *known && (*known)->pair.open != now->open;
  const coming_pair next{is_on_its_way ? (*known)->pair : draw_pair(),
                         (at_ms + second - 1) / second * second};
  return write_coming(folder_ / "next", next).map([&] { return next; });
}

// Whatever dies in between: `next` is there until `pair` is the same.
result<void> keyring::serves(const public_key& next) const {
  const auto lock = folder_lock::take(folder_);
  if (!lock)
    return tl::make_unexpected(lock.error());
  const auto known = coming();
  if (!known)
    return tl::make_unexpected(known.error());
  if (!*known || (*known)->pair.open != next)
    return {};
  return replace_pair(folder_ / "pair", (*known)->pair).and_then([&] {
    return remove_file(folder_ / "next");
  });
}

std::filesystem::path keyring::path_of(const public_key& who) const {
  return folder_ / "allowed" / to_hex(who);
}

std::filesystem::path keyring::line_path(const public_key& line) const {
  return folder_ / "invited" / to_hex(hash_of(line));
}

result<permit> keyring::find(const public_key& who, std::int64_t now_ms) const {
  auto found = permit_at(path_of(who));
  if (found && found->expires_ms <= now_ms)
    return fail(errc::invalid_argument, "this key has expired");
  return found;
}

key_standing keyring::standing(const public_key& who,
                               std::int64_t now_ms) const {
  const auto by_key =
    standing_by(permit_at(path_of(who)), key_standing::allowed, now_ms);
  if (by_key != key_standing::unknown)
    return by_key;
  return standing_by(permit_of_line(line_path(who)), key_standing::invited,
                     now_ms);
}

bool keyring::is_taken(const std::string& name, const std::string& but) const {
  return std::ranges::any_of(names_in(folder_ / "allowed"), [&](const auto& x) {
    const auto other = permit_at(folder_ / "allowed" / x);
    return x != but && other && other->name == name;
  });
}

result<void> keyring::put(const public_key& who, const permit& what) const {
  if (auto wrong = problem_of(what); !wrong.empty())
    return fail(errc::invalid_argument, std::move(wrong));
  if (is_taken(what.name, to_hex(who)))
    return fail(errc::invalid_argument,
                "another key has the name '" + what.name
                  + "'; troupe keys deny takes it from there");
  return write_private(path_of(who), write_permit(what));
}

result<void> keyring::allow(const public_key& who, const permit& what) const {
  const auto lock = folder_lock::take(folder_);
  if (!lock)
    return tl::make_unexpected(lock.error());
  return put(who, what);
}

result<std::size_t> keyring::deny(const std::string& who) const {
  const auto lock = folder_lock::take(folder_);
  if (!lock)
    return tl::make_unexpected(lock.error());
  auto meant = all();
  // Lines first, and those of a key's name with it: by one that is left it
  // would come in again.
  std::set<std::string> names{who};
  for (const auto& x : meant)
    if (!x.is_line && x.file == who && x.what)
      names.insert(x.what->name);
  std::erase_if(meant, [&](const auto& x) {
    return x.file != who && !(x.what && names.contains(x.what->name))
           && !(x.used && to_hex(*x.used) == who);
  });
  std::stable_partition(meant.begin(), meant.end(),
                        [](const auto& x) { return x.is_line; });
  std::size_t gone = 0;
  for (const auto& x : meant) {
    const auto* folder = x.is_line ? "invited" : "allowed";
    if (auto ok = remove_file(folder_ / folder / x.file); !ok)
      return tl::make_unexpected(ok.error());
    ++gone;
  }
  if (gone == 0)
    return fail(errc::invalid_argument,
                "there is no key " + in_quotes(who) + " in " + folder_.string()
                  + "; troupe keys list shows which there are");
  return gone;
}

result<key_pair> keyring::invite(const permit& what,
                                 std::int64_t now_ms) const {
  if (auto wrong = problem_of(what); !wrong.empty())
    return fail(errc::invalid_argument, std::move(wrong));
  const auto lock = folder_lock::take(folder_);
  if (!lock)
    return tl::make_unexpected(lock.error());
  for (const auto& x : all())
    if (x.is_line && x.what && x.what->expires_ms <= now_ms)
      if (auto ok = remove_file(folder_ / "invited" / x.file); !ok)
        return tl::make_unexpected(ok.error());
  const auto made = draw_pair();
  return write_private(line_path(made.open), write_invitation({what})).map([&] {
    return made;
  });
}

// The line is used up before the key is allowed: whatever dies in between, no
// other key comes in by it. Nobody shows that the key is theirs: what one is
// allowed already as somebody else stays as it is.
result<void> keyring::enrol(const public_key& line, const public_key& own,
                            std::int64_t now_ms) const {
  const auto lock = folder_lock::take(folder_);
  if (!lock)
    return tl::make_unexpected(lock.error());
  auto found = invitation_at(line_path(line));
  if (!found && found.error().code == errc::unavailable)
    return tl::make_unexpected(found.error());
  if (!found || found->what.expires_ms <= now_ms)
    return fail(errc::invalid_argument, "this invitation has expired");
  if (found->used && *found->used != own)
    return fail(errc::invalid_argument, "this invitation is used up");
  if (is_taken(found->what.name, to_hex(own)))
    return fail(errc::invalid_argument,
                "another key has the name that this invitation is for");
  std::error_code ignored;
  if (found->used && std::filesystem::exists(path_of(own), ignored))
    return {}; // Somebody may have changed since what this key may.
  const auto known = permit_at(path_of(own));
  if (!known && known.error().code == errc::unavailable)
    return tl::make_unexpected(known.error());
  if (known && known->name != found->what.name)
    return fail(errc::invalid_argument,
                "this key is allowed already, by another name");
  if (!std::exchange(found->used, own))
    if (auto ok = write_private(line_path(line), write_invitation(*found)); !ok)
      return ok;
  if (known && known->expires_ms > now_ms)
    return {}; // It comes for the server's key: what it may was said before.
  auto what = found->what;
  what.expires_ms = permit::never;
  return put(own, what);
}

result<std::set<key_hash>> keyring::good(std::int64_t now_ms) const {
  const auto keys = list_of(folder_ / "allowed");
  if (!keys)
    return tl::make_unexpected(keys.error());
  const auto lines = list_of(folder_ / "invited");
  if (!lines)
    return tl::make_unexpected(lines.error());
  std::set<key_hash> out;
  for (const auto& x : *keys)
    if (const auto who = from_hex<32>(x);
        who
        && may_be_good(standing_by(permit_at(folder_ / "allowed" / x),
                                   key_standing::allowed, now_ms)))
      out.insert(hash_of(*who));
  for (const auto& x : *lines)
    if (const auto hash = from_hex<16>(x);
        hash
        && may_be_good(standing_by(permit_of_line(folder_ / "invited" / x),
                                   key_standing::invited, now_ms)))
      out.insert(*hash);
  return out;
}

// Files are put in place and removed, both of which their folder remembers.
// What is edited in place shows a little later.
std::int64_t keyring::changed() const {
  struct stat x {};
  return ::stat((folder_ / "allowed").c_str(), &x) == 0
           ? x.st_mtim.tv_sec * 1'000'000'000 + x.st_mtim.tv_nsec
           : 0;
}

std::vector<keyring::entry> keyring::all() const {
  std::vector<entry> out;
  for (const auto& x : names_in(folder_ / "allowed"))
    out.push_back({x, false, permit_at(folder_ / "allowed" / x)});
  for (const auto& x : names_in(folder_ / "invited")) {
    auto line = invitation_at(folder_ / "invited" / x);
    const auto used = line ? line->used : std::nullopt;
    out.push_back(
      {x, true, line.map([](const invitation& y) { return y.what; }), used});
  }
  return out;
}

result<void> keyring::write_address(const std::string& x) const {
  return write_private(folder_ / "address", x + '\n');
}

result<std::string> keyring::address() const {
  return read_private(folder_ / "address").map([](const std::string& text) {
    return text.substr(0, text.find('\n'));
  });
}

} // namespace troupe::node
