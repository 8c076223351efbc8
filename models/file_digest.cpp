#include "models/file_digest.hpp"

#include <fstream>
#include <system_error>
#include <tuple>
#include <vector>

#include <sodium.h>

#include "core/assert.hpp"
#include "models/files.hpp"

namespace troupe::models {

result<digest> digest_of_file(const std::filesystem::path& path, errc code) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  static const bool ready = sodium_init() >= 0;
  TROUPE_ASSERT(ready);
  std::error_code wrong;
  // A pipe would be waited for.
  if (!std::filesystem::is_regular_file(path, wrong))
    return fail(code, path.string() + ": is not a regular file");
  std::ifstream in{path, std::ios::binary};
  if (!in)
    return fail_errno(code, path, "open the file");
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, std::tuple_size_v<digest>);
  std::vector<char> bytes(piece);
  while (in) {
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    crypto_generichash_update(
      &state, reinterpret_cast<const unsigned char*>(bytes.data()),
      static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad())
    return fail_errno(code, path, "read the file");
  digest found;
  crypto_generichash_final(&state, found.data(), found.size());
  return found;
}

} // namespace troupe::models
