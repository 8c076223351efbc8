#include "node/run/seal_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/hex.hpp"
#include "core/random.hpp"
#include "node/keys/lines.hpp"
#include "node/keys/permit.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

namespace {

constexpr const char* seal_title = "troupe seal 1";
constexpr std::array seal_words{"now", "before", "until"};

std::optional<std::int64_t> count_in(std::string_view x) {
  std::int64_t out = 0;
  for (const char digit : x) {
    if (digit < '0' || digit > '9' || x.size() > 15)
      return std::nullopt;
    out = 10 * out + (digit - '0');
  }
  return x.empty() ? std::nullopt : std::optional{out};
}

std::vector<std::string_view> parts_of(std::string_view x) {
  std::vector<std::string_view> out;
  while (!x.empty() || !out.empty()) {
    const auto end = x.find(',');
    out.push_back(x.substr(0, end));
    if (end == std::string_view::npos)
      break;
    x.remove_prefix(end + 1);
  }
  return out;
}

/// Nothing where it is not what was written.
std::optional<actors::seals::keys>
keys_in(const std::vector<std::string>& values) {
  const auto now = from_hex<32>(values[0]);
  const auto before = parts_of(values[1]);
  const auto until = parts_of(values[2]);
  if (!now || before.size() != until.size()
      || before.size() > actors::seals::former_max)
    return std::nullopt;
  actors::seals::keys out{*now};
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto key = from_hex<32>(before[i]);
    const auto until_ms = count_in(until[i]);
    if (!key || !until_ms)
      return std::nullopt;
    out.before.push_back({*key, *until_ms});
  }
  return out;
}

} // namespace

result<std::optional<actors::seals::keys>>
read_seals(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path))
    return std::optional<actors::seals::keys>{};
  const auto text = read_private(path);
  if (!text)
    return tl::make_unexpected(text.error());
  const auto values = read_lines(*text, seal_title, seal_words);
  auto found = values ? keys_in(*values) : std::nullopt;
  if (!found)
    return fail(errc::storage_failure,
                path.string()
                  + " is not what was written there; without it the run does "
                    "not know its own invitations");
  return found;
}

result<void> write_seals(const std::filesystem::path& path,
                         const actors::seals::keys& x) {
  std::array values{to_hex(x.now), std::string{}, std::string{}};
  for (const auto& [key, until_ms] : x.before) {
    const std::string comma = &key == &x.before.front().key ? "" : ",";
    values[1] += comma + to_hex(key);
    values[2] += comma + std::to_string(until_ms);
  }
  return write_private(path, write_lines(seal_title, seal_words, values));
}

result<actors::seals::keys> after(const actors::seals::keys& x,
                                  std::int64_t now_ms, std::int64_t for_ms) {
  constexpr auto most = actors::seals::former_max;
  actors::seals::keys out{.now = {}, .before = x.before};
  out.before.insert(out.before.begin(), {x.now, now_ms + for_ms});
  if (out.before.size() > most) {
    const auto oldest =
      std::ranges::find_if(out.before.rbegin(), out.before.rend(),
                           [&](const auto& y) { return y.until_ms <= now_ms; });
    if (oldest == out.before.rend())
      return fail(errc::invalid_argument,
                  "the last " + std::to_string(most)
                    + " keys are good still; wait until one of them is over");
    out.before.erase(std::next(oldest).base());
  }
  draw_secret(out.now);
  return out;
}

} // namespace troupe::node
