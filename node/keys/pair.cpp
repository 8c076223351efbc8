#include "node/keys/pair.hpp"

#include <array>

#include <sodium.h>

#include "core/hex.hpp"
#include "core/random.hpp"
#include "node/keys/lines.hpp"
#include "node/keys/private_file.hpp"

namespace troupe::node {

namespace {

constexpr std::array words{"public", "secret"};
constexpr const char* title = "troupe pair 1";

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

std::array<std::uint8_t, 16> hash_of(const public_key& x) {
  std::array<std::uint8_t, 16> out{};
  crypto_generichash(out.data(), out.size(), x.data(), x.size(), nullptr, 0);
  return out;
}

result<key_pair> read_pair(const std::filesystem::path& path) {
  const auto text = read_private(path);
  if (!text)
    return tl::make_unexpected(text.error());
  const auto found = read_lines(*text, title, words);
  if (!found)
    return fail(errc::storage_failure,
                path.string() + ": " + found.error().context);
  const auto open = from_hex<32>((*found)[0]);
  const auto secret = from_hex<32>((*found)[1]);
  // What is no pair would be refused by everybody, and nobody would know why.
  if (!open || !secret || pair_of(*secret).open != *open)
    return fail(errc::storage_failure,
                path.string() + ": this is no pair of keys");
  return pair_of(*secret);
}

result<void> write_pair(const std::filesystem::path& path, const key_pair& x) {
  if (std::filesystem::exists(path))
    return fail(errc::storage_failure,
                path.string()
                  + " is there already; who is known by it would "
                    "be known no more");
  const std::array values{to_hex(x.open), to_hex(x.secret)};
  return write_private(path, write_lines(title, words, values));
}

result<key_pair> pair_at(const std::filesystem::path& path) {
  if (std::filesystem::exists(path))
    return read_pair(path);
  const auto made = draw_pair();
  return make_private(path.parent_path())
    .and_then([&] { return write_pair(path, made); })
    .map([&] { return made; });
}

} // namespace troupe::node
