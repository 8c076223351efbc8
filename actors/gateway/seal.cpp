#include "actors/gateway/seal.hpp"

#include <cstring>

#include <sodium.h>

#include "actors/transport/codec.hpp"
#include "core/assert.hpp"

namespace troupe::actors {

void seal::sign(messages::ticket& x) const {
  x.mac = mac_of(x);
}

bool seal::is_ours(const messages::ticket& x) const {
  const auto expected = mac_of(x);
  return sodium_memcmp(expected.data(), x.mac.data(), expected.size()) == 0;
}

std::array<std::uint8_t, 16> seal::mac_of(const messages::ticket& x) const {
  std::array<std::byte, 128> bytes;
  std::size_t size = 0;
  auto sink = [&](const void* from, std::size_t n) {
    std::memcpy(bytes.data() + size, from, n);
    size += n;
  };
  transport::writer write{sink};
  auto unsigned_ticket = x;
  unsigned_ticket.mac = {};
  write(unsigned_ticket);
  if (run_ != messages::run_id{})
    sink(run_.data(), run_.size());
  std::array<std::uint8_t, 16> result;
  crypto_generichash(result.data(), result.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), size,
                     key_.data(), key_.size());
  return result;
}

void seals::use(const keys& x) {
  const std::lock_guard guard{mutex_};
  keys_ = x;
}

void seals::begin(const seal::key& x) {
  const std::lock_guard guard{mutex_};
  if (!keys_)
    keys_ = keys{.now = x};
}

std::optional<seals::keys> seals::keys_now() const {
  const std::lock_guard guard{mutex_};
  return keys_;
}

void seals::sign(messages::ticket& x) const {
  const std::lock_guard guard{mutex_};
  TROUPE_ASSERT(keys_);
  seal{keys_->now, run_}.sign(x);
}

worth seals::judge(const messages::ticket& x, std::int64_t now_ms) const {
  const std::lock_guard guard{mutex_};
  if (!keys_)
    return worth::none;
  if (seal{keys_->now, run_}.is_ours(x))
    return worth::good;
  for (const auto& [key, until_ms] : keys_->before)
    if (seal{key, run_}.is_ours(x))
      return now_ms < until_ms ? worth::good : worth::over;
  return worth::none;
}

} // namespace troupe::actors
