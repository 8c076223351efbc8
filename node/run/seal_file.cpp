#include "node/run/seal_file.hpp"

#include <array>

#include "core/hex.hpp"
#include "core/random.hpp"
#include "node/keys/lines.hpp"
#include "node/keys/permit.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

namespace {

constexpr const char* seal_title = "troupe seal 1";
constexpr std::array seal_words{"now", "before", "until"};

std::optional<std::int64_t> count_in(const std::string& x) {
  std::int64_t out = 0;
  for (const char digit : x) {
    if (digit < '0' || digit > '9' || x.size() > 15)
      return std::nullopt;
    out = 10 * out + (digit - '0');
  }
  return x.empty() ? std::nullopt : std::optional{out};
}

} // namespace

result<std::optional<actors::seals::keys>>
read_seals(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path))
    return std::optional<actors::seals::keys>{};
  const auto values = read_private(path).and_then([](const std::string& text) {
    return read_lines(text, seal_title, seal_words);
  });
  if (!values)
    return tl::make_unexpected(values.error());
  const auto now = from_hex<32>((*values)[0]);
  const auto before = from_hex<32>((*values)[1]);
  const auto until = count_in((*values)[2]);
  if (!now || !before || !until)
    return fail(errc::storage_failure,
                path.string()
                  + " is not what was written there; without it the run does "
                    "not know its own invitations");
  return std::optional{actors::seals::keys{*now, *before, *until}};
}

result<void> write_seals(const std::filesystem::path& path,
                         const actors::seals::keys& x) {
  const std::array values{to_hex(x.now), to_hex(x.before.value_or(x.now)),
                          std::to_string(x.until_ms)};
  return write_private(path, write_lines(seal_title, seal_words, values));
}

actors::seals::keys after(const actors::seals::keys& x, std::int64_t now_ms,
                          std::int64_t for_ms) {
  actors::seals::keys out{
    .now = {}, .before = x.now, .until_ms = now_ms + for_ms};
  draw_secret(out.now);
  return out;
}

} // namespace troupe::node
