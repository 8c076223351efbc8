#include "models/file_digest.hpp"

#include <fstream>
#include <system_error>
#include <vector>

#include "models/blake2b.hpp"
#include "models/files.hpp"

namespace troupe::models {

result<digest> digest_of_file(const std::filesystem::path& path, errc code) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::error_code wrong;
  // A pipe would be waited for.
  if (!std::filesystem::is_regular_file(path, wrong))
    return fail(code, path.string() + ": is not a regular file");
  std::ifstream in{path, std::ios::binary};
  if (!in)
    return fail_errno(code, path, "open the file");
  blake2b found;
  std::vector<char> bytes(piece);
  while (in) {
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    found.add(bytes.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad())
    return fail_errno(code, path, "read the file");
  return found.finish();
}

} // namespace troupe::models
