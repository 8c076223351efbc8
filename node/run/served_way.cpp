#include "node/run/served_way.hpp"

#include <system_error>
#include <utility>

#include "core/hex.hpp"
#include "core/json.hpp"
#include "models/files.hpp"
#include "node/keys/pair.hpp"
#include "node/run/process_book.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

constexpr const char* way_file = "served.json";

fs::path whole(const fs::path& x) {
  std::error_code failed;
  auto out = fs::weakly_canonical(x, failed);
  return failed ? fs::absolute(x, failed) : out;
}

auto refused(std::string why) {
  return fail(errc::invalid_config, std::move(why));
}

std::string text_of(const json& x, const char* key) {
  const auto* found = x.find(key);
  return found && found->text() ? *found->text() : std::string{};
}

result<std::optional<served_way>> remembered(const fs::path& folder) {
  const auto path = folder / way_file;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return std::nullopt;
  const auto text = models::read_text(path, errc::storage_failure);
  if (!text)
    return tl::make_unexpected(text.error());
  const auto found = json::parse(*text);
  const auto* frozen = found ? found->find("serves_frozen") : nullptr;
  if (!frozen || !frozen->flag() || !found->find("insecure")
      || !found->find("keys"))
    return fail(errc::storage_failure,
                path.string()
                  + " is not what was written there; a copy of it would do");
  return served_way{text_of(*found, "insecure"), text_of(*found, "keys"),
                    *frozen->flag()};
}

/// The public key by which clients know who serves this; empty: none.
std::optional<std::string> key_in_endpoint(const fs::path& folder) {
  const auto text =
    models::read_text(folder / "endpoint", errc::storage_failure);
  if (!text)
    return std::nullopt;
  const auto space = text->find(' ');
  return space == text->npos ? std::string{} : text->substr(space + 1, 64);
}

/// Where only this machine reaches it.
bool is_here(const std::string& address) {
  return address.starts_with("tcp://127.0.0.1:")
         || address.starts_with("tcp://[::1]:");
}

const char* insecure_at(const std::string& address) {
  return is_here(address) ? "here" : "anywhere";
}

/// Where another build left no word.
served_way guessed(const fs::path& folder, const std::string& key) {
  if (!key.empty())
    return {};
  const auto text =
    models::read_text(folder / "endpoint", errc::storage_failure);
  return {.insecure = insecure_at(text.value_or(std::string{}))};
}

result<void> check_pair(const fs::path& keys, const std::string& known_as,
                        bool may_have_changed) {
  std::error_code ignored;
  const auto path = keys / "pair";
  const auto known = known_as.empty()
                       ? std::string{}
                       : ", by which clients know it: " + known_as;
  if (!fs::exists(path, ignored))
    return refused("the run was served with a key" + known
                   + "; there is none in " + keys.string()
                   + ": --keys DIR says where it is now");
  if (may_have_changed || known_as.empty())
    return {};
  const auto found = read_pair(path);
  if (!found)
    return tl::make_unexpected(found.error());
  if (to_hex(found->open) != known_as)
    return refused("the run was served with another key than that in "
                   + keys.string() + known
                   + "; --keys DIR says where that one is");
  return {};
}

} // namespace

result<void> write_way(const fs::path& folder, const listening_options& how) {
  const auto own = whole(folder / "keys");
  const auto keys = how.keys.empty() ? own : whole(how.keys);
  const json out{
    {"insecure", how.insecure ? insecure_at(how.address) : ""},
    {"keys", how.insecure || keys == own ? std::string{} : keys.string()},
    {"serves_frozen", how.serves_frozen}};
  return replace_text(folder / way_file, out.dump(1) + '\n');
}

result<served_way> way_on(const fs::path& folder, served_way asked) {
  const auto before = remembered(folder);
  if (!before)
    return tl::make_unexpected(before.error());
  const auto key = key_in_endpoint(folder);
  const auto own = folder / "keys";
  const bool is_insecure = !asked.insecure.empty();
  if (!*before && !key) { // Killed before anybody could have joined.
    if (!is_insecure && asked.keys.empty())
      asked.keys = own;
    return asked;
  }
  const auto was = *before ? **before : guessed(folder, *key);
  if (is_insecure && was.insecure.empty())
    return refused("the run was served with a key, and its clients know it by "
                   "that: without --insecure it goes on");
  if (!asked.keys.empty() && !was.insecure.empty())
    return refused("the run was served without keys, and its clients would "
                   "not be known by theirs: without --keys it goes on");
  asked.serves_frozen |= was.serves_frozen;
  if (!was.insecure.empty()) {
    if (asked.insecure.empty())
      asked.insecure = was.insecure;
    return asked;
  }
  const auto kept = was.keys.empty() ? own : was.keys;
  if (asked.keys.empty())
    asked.keys = kept;
  // Whoever has the same folder may have given it another pair.
  const bool same = *before && whole(asked.keys) == whole(kept);
  return check_pair(asked.keys, key.value_or(""), same).map([&] {
    return asked;
  });
}

} // namespace troupe::node
