#include "node/keys/pair.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

#include <sodium.h>

#include "core/hex.hpp"
#include "core/random.hpp"
#include "node/keys/lines.hpp"
#include "node/keys/permit.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

namespace {

constexpr std::array words{"public", "secret"};
constexpr const char* title = "troupe pair 1";
constexpr std::array coming_words{"public", "secret", "from"};
constexpr const char* coming_title = "troupe next pair 1";

/// What is no pair would be refused by everybody, and nobody would know why.
result<key_pair> pair_in(const std::vector<std::string>& values,
                         const std::filesystem::path& path) {
  const auto open = from_hex<32>(values[0]);
  const auto secret = from_hex<32>(values[1]);
  if (!open || !secret || pair_of(*secret).open != *open)
    return fail(errc::storage_failure,
                path.string() + ": this is no pair of keys");
  return pair_of(*secret);
}

/// The values in a file; an error names it.
result<std::vector<std::string>> values_at(const std::filesystem::path& path,
                                           const char* wanted,
                                           std::span<const char* const> names) {
  const auto text = read_private(path);
  if (!text)
    return tl::make_unexpected(text.error());
  auto found = read_lines(*text, wanted, names);
  if (!found)
    return fail(errc::storage_failure,
                path.string() + ": " + found.error().context);
  return found;
}

} // namespace

key_pair draw_pair() {
  std::array<std::uint8_t, 32> secret{};
  draw_secret(secret);
  return pair_of(secret);
}

key_pair pair_of(const std::array<std::uint8_t, 32>& secret) {
  key_pair out;
  out.secret = secret;
  crypto_scalarmult_base(out.open.data(), out.secret.data());
  return out;
}

key_hash hash_of(const public_key& x) {
  std::array<std::uint8_t, 16> out{};
  crypto_generichash(out.data(), out.size(), x.data(), x.size(), nullptr, 0);
  return out;
}

result<key_pair> read_pair(const std::filesystem::path& path) {
  return values_at(path, title, words).and_then([&](const auto& values) {
    return pair_in(values, path);
  });
}

result<void> write_pair(const std::filesystem::path& path, const key_pair& x) {
  const auto there = is_there(path);
  if (!there)
    return tl::make_unexpected(there.error());
  if (*there)
    return fail(errc::storage_failure,
                path.string()
                  + " is there already; who is known by it would "
                    "be known no more");
  return replace_pair(path, x);
}

result<void> replace_pair(const std::filesystem::path& path,
                          const key_pair& x) {
  const std::array values{to_hex(x.open), to_hex(x.secret)};
  return write_private(path, write_lines(title, words, values));
}

result<std::optional<coming_pair>>
read_coming(const std::filesystem::path& path) {
  const auto there = is_there(path);
  if (!there)
    return tl::make_unexpected(there.error());
  if (!*there)
    return std::optional<coming_pair>{};
  const auto values = values_at(path, coming_title, coming_words);
  if (!values)
    return tl::make_unexpected(values.error());
  const auto pair = pair_in(*values, path);
  if (!pair)
    return tl::make_unexpected(pair.error());
  const auto at = moment_in((*values)[2]);
  if (!at)
    return fail(errc::storage_failure,
                path.string() + ": 'from' is not as 2026-12-01T08:30:00Z");
  return std::optional{coming_pair{*pair, *at}};
}

result<void> write_coming(const std::filesystem::path& path,
                          const coming_pair& x) {
  const std::array values{to_hex(x.pair.open), to_hex(x.pair.secret),
                          moment_of(x.at_ms)};
  return write_private(path, write_lines(coming_title, coming_words, values));
}

result<key_pair> pair_at(const std::filesystem::path& path) {
  const auto there = is_there(path);
  if (!there)
    return tl::make_unexpected(there.error());
  if (*there)
    return read_pair(path);
  const auto made = draw_pair();
  return make_private(path.parent_path())
    .and_then([&] { return write_pair(path, made); })
    .map([&] { return made; });
}

} // namespace troupe::node
