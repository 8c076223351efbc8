#include "node/watch/http/request.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/assert.hpp"
#include "core/limits.hpp"

namespace {

using namespace troupe::http;

/// What came of a part comes of the whole, however the rest is cut.
void agree(const parsed& part, const parsed& whole) {
  if (std::holds_alternative<incomplete>(part))
    return;
  TROUPE_ASSERT(part.index() == whole.index());
  if (const auto* x = std::get_if<request>(&part))
    TROUPE_ASSERT(*x == std::get<request>(whole));
}

void judge(const parsed& x, std::size_t size) {
  if (std::holds_alternative<incomplete>(x))
    TROUPE_ASSERT(size < troupe::limits::http_head_bytes_max);
  if (const auto* wrong = std::get_if<refusal>(&x))
    TROUPE_ASSERT(wrong->status >= 400 && wrong->status <= 505
                  && !wrong->why.empty());
  const auto* made = std::get_if<request>(&x);
  if (made == nullptr)
    return;
  // Both are said again in answers and texts.
  TROUPE_ASSERT(made->path.starts_with('/'));
  TROUPE_ASSERT(made->path.size() <= troupe::limits::http_target_bytes_max);
  for (const auto c : made->path)
    TROUPE_ASSERT(c > ' ' && c < '\x7f' && c != '?');
  TROUPE_ASSERT(!made->host.empty());
  for (const auto c : made->host)
    TROUPE_ASSERT((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.'
                  || c == '-' || c == '_' || c == ':');
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view all{reinterpret_cast<const char*>(data), size};
  const auto whole = parse_request(all);
  judge(whole, size);
  // Every place where a connection may have paused, or some of many.
  const auto step = std::max<std::size_t>(1, size / 64);
  for (std::size_t n = 0; n < size; n += step) {
    const auto part = parse_request(all.substr(0, n));
    judge(part, n);
    agree(part, whole);
  }
  return 0;
}
