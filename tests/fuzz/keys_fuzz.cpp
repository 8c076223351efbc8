// Files of keys, which people edit, and lines of invitations, which they copy.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "actors/transport/key_choice.hpp"
#include "core/assert.hpp"
#include "core/hex.hpp"
#include "node/join/known_servers.hpp"
#include "node/keys/invitation_line.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/permit.hpp"
#include "node/run/seal_file.hpp"
#include "tests/damage/reader.hpp"

namespace {

namespace fs = std::filesystem;

using namespace troupe;
using namespace troupe::node;

/// A file of that name, which is its owner's alone.
fs::path file_of(const fs::path& name, std::string_view text) {
  const auto path = damage::own_folder() / name;
  damage::write(path, text);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  return path;
}

/// What is wrong with a file may be shown to anybody, and says no key of it.
void check_error(const troupe::error& x, std::string_view text) {
  constexpr std::size_t digits = 64;
  TROUPE_ASSERT(!x.context.empty());
  for (std::size_t at = 0; at + digits <= text.size(); ++at) {
    const auto some = text.substr(at, digits);
    const bool is_key = std::ranges::all_of(
      some, [](unsigned char c) { return std::isxdigit(c) != 0; });
    TROUPE_ASSERT(!is_key || x.context.find(some) == x.context.npos);
  }
}

bool are_equal(const key_pair& x, const key_pair& y) {
  return x.open == y.open && x.secret == y.secret;
}

void read_own_pair(std::string_view text) {
  const auto path = file_of("pair", text);
  const auto x = read_pair(path);
  if (!x)
    return check_error(x.error(), text);
  TROUPE_ASSERT(are_equal(*x, pair_of(x->secret)));
  TROUPE_ASSERT(replace_pair(path, *x).has_value());
  TROUPE_ASSERT(are_equal(read_pair(path).value(), *x));
}

void read_next_pair(std::string_view text) {
  const auto path = file_of("next", text);
  const auto x = read_coming(path);
  if (!x)
    return check_error(x.error(), text);
  TROUPE_ASSERT(x->has_value());
  const coming_pair& next = **x;
  TROUPE_ASSERT(are_equal(next.pair, pair_of(next.pair.secret)));
  TROUPE_ASSERT(write_coming(path, next).has_value());
  const auto again = read_coming(path);
  TROUPE_ASSERT(again && again->has_value());
  TROUPE_ASSERT(are_equal((*again)->pair, next.pair)
                && (*again)->at_ms == next.at_ms);
}

void read_seal(std::string_view text) {
  const auto path = file_of("seal", text);
  const auto x = read_seals(path);
  if (!x)
    return check_error(x.error(), text);
  TROUPE_ASSERT(x->has_value());
  const auto& keys = **x;
  TROUPE_ASSERT(write_seals(path, keys).has_value());
  const auto again = read_seals(path);
  TROUPE_ASSERT(again && again->has_value());
  TROUPE_ASSERT((*again)->now == keys.now && (*again)->before == keys.before);
}

/// What a joining process knows of the server that had the key zero.
void read_server(std::string_view text) {
  constexpr std::int64_t now_ms = 1'800'000'000'000;
  const auto store = damage::own_folder() / "joined";
  fs::create_directories(store / "servers");
  fs::permissions(store / "servers", fs::perms::owner_all);
  const public_key zero{};
  file_of(fs::path{"joined"} / "servers" / to_hex(zero), text);
  const known_servers testee{store};
  const auto x = testee.keys(zero, now_ms);
  if (!x) {
    TROUPE_ASSERT(!x.error().context.empty());
    return;
  }
  TROUPE_ASSERT(!x->empty() && x->size() <= transport::key_choice::most);
  if (x->size() != 2)
    return;
  TROUPE_ASSERT(x->front() == zero && x->back() != zero);
  TROUPE_ASSERT(testee.told(zero, x->back(), now_ms + 1000).has_value());
  TROUPE_ASSERT(testee.keys(zero, now_ms).value() == *x);
}

void read_texts(std::string_view text) {
  if (const auto x = read_permit(text)) {
    TROUPE_ASSERT(problem_of(*x).empty());
    TROUPE_ASSERT(read_permit(write_permit(*x)).value() == *x);
  } else {
    check_error(x.error(), text);
  }
  if (const auto x = read_invitation(text)) {
    const auto again = read_invitation(write_invitation(*x));
    TROUPE_ASSERT(again && again->what == x->what && again->used == x->used);
  }
  if (const auto x = read_line(text)) {
    TROUPE_ASSERT(looks_like_line(text));
    const auto again = read_line(write_line(*x));
    TROUPE_ASSERT(again && again->address == x->address
                  && again->own.secret == x->own.secret);
  }
  if (const auto x = duration_in(text))
    TROUPE_ASSERT(*x > 0);
}

} // namespace

// What is taken is written so that it reads back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  read_texts(text);
  read_own_pair(text);
  read_next_pair(text);
  read_seal(text);
  read_server(text);
  return 0;
}
