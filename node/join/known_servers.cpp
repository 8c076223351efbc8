#include "node/join/known_servers.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "actors/transport/key_choice.hpp"
#include "core/hex.hpp"
#include "node/keys/lines.hpp"
#include "node/keys/permit.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

namespace {

constexpr std::array server_words{"next", "until"};
constexpr const char* server_title = "troupe server 1";
constexpr const char* no_longer = "now";

struct successor {
  public_key next{};
  std::int64_t until_ms = 0; ///< The one before is taken.
};

/// Nothing: it has none.
result<std::optional<successor>>
successor_at(const std::filesystem::path& path) {
  const auto there = is_there(path);
  if (!there)
    return tl::make_unexpected(there.error());
  if (!*there)
    return std::optional<successor>{};
  const auto text = read_private(path);
  if (!text)
    return tl::make_unexpected(text.error());
  const auto values = read_lines(*text, server_title, server_words);
  if (!values)
    return fail(errc::storage_failure,
                path.string() + ": " + values.error().context);
  const auto next = from_hex<32>((*values)[0]);
  const auto until =
    (*values)[1] == no_longer ? 0 : moment_in((*values)[1]).value_or(-1);
  if (!next || until < 0)
    return fail(errc::storage_failure,
                path.string()
                  + ": this is no key with a moment; without the file the "
                    "server is known by the key before alone");
  return std::optional{successor{*next, until}};
}

} // namespace

std::filesystem::path known_servers::path_of(const public_key& x) const {
  return folder_ / to_hex(x);
}

result<std::vector<public_key>> known_servers::keys(const public_key& first,
                                                    std::int64_t now_ms) const {
  std::vector out{first};
  // As long as none can be that was made here: it ends where a key comes back.
  for (std::size_t i = 0; i < 1000 && out.size() < transport::key_choice::most;
       ++i) {
    const auto found = successor_at(path_of(out.back()));
    if (!found)
      return tl::make_unexpected(found.error());
    if (!*found)
      break;
    if ((*found)->until_ms <= now_ms)
      out.clear(); // With this one and all before it somebody else is met.
    out.push_back((*found)->next);
  }
  return out;
}

result<void> known_servers::told(const public_key& now, const public_key& next,
                                 std::int64_t until_ms) const {
  const std::array values{to_hex(next),
                          until_ms == 0 ? no_longer : moment_of(until_ms)};
  return make_private(folder_).and_then([&] {
    return write_private(path_of(now),
                         write_lines(server_title, server_words, values));
  });
}

result<void> known_servers::met(const public_key& before,
                                const public_key& now) const {
  return told(before, now, 0);
}

} // namespace troupe::node
