// A file of tokens. The first byte says what the others are: all of it, or ids,
// in a file that is whole, and then in one of which a byte is another.

#include "models/language/token_ids.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/assert.hpp"
#include "tests/damage/reader.hpp"

namespace {

using namespace troupe::models;

void check_file_of(const std::vector<token_id>& ids,
                   const std::filesystem::path& path) {
  const token_ids x{ids};
  TROUPE_ASSERT(x.write(path));
  const auto read = token_ids::open(path);
  TROUPE_ASSERT(read && read->size() == ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    TROUPE_ASSERT((*read)[i] == ids[i]);
  auto bytes = troupe::damage::contents(path);
  const auto at = (ids.empty() ? 0 : ids.front()) % bytes.size();
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  troupe::damage::write(path, bytes);
  TROUPE_ASSERT(!token_ids::open(path));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const auto path = troupe::damage::own_folder() / "x.tokens";
  if (size == 0)
    return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1,
                               size - 1};
  if (data[0] % 2 == 1) {
    std::vector<token_id> ids(bytes.size() / sizeof(token_id));
    if (!ids.empty())
      std::memcpy(ids.data(), bytes.data(), ids.size() * sizeof(token_id));
    check_file_of(ids, path);
    return 0;
  }
  troupe::damage::write(path, bytes);
  if (const auto x = token_ids::open(path))
    for (std::size_t i = 0; i < x->size(); ++i)
      static_cast<void>((*x)[i]);
  return 0;
}
