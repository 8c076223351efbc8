// Texts of two users. The first byte says of what kind: a .txt, a .jsonl or a
// folder; what stands behind the first zero is the second's.

#include "models/language/documents.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/language/document_parts.hpp"
#include "tests/damage/reader.hpp"

namespace {

using namespace troupe::models;

std::size_t bytes_of(const std::vector<user_text>& users) {
  std::size_t sum = 0;
  for (const auto& user : users)
    for (const auto& x : user.documents)
      sum += x.text.size();
  return sum;
}

/// No source is in two parts, nothing is lost, and something is trained on
/// where sources are not said.
void check_parts(const user_text& user) {
  const auto parts = split_documents(
    user.documents, {.validation = 0.2, .test = 0.2}, 1, user.name);
  TROUPE_ASSERT(parts.train.size() + parts.validation.size() + parts.test.size()
                == user.documents.size());
  const bool is_dealt =
    std::ranges::any_of(user.documents, [](const document& x) {
      return !x.source.starts_with('=');
    });
  TROUPE_ASSERT(!is_dealt || !parts.train.empty());
  std::set<std::string> all;
  for (const auto* part : {&parts.train, &parts.validation, &parts.test}) {
    std::set<std::string> own;
    for (const auto& x : *part)
      own.insert(x.source);
    for (const auto& source : own)
      TROUPE_ASSERT(all.insert(source).second);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const auto folder = troupe::damage::own_folder() / "users";
  constexpr std::array<std::string_view, 3> endings{".txt", ".jsonl", "/page"};
  if (size == 0)
    return 0;
  std::string_view text{reinterpret_cast<const char*>(data), size};
  text.remove_prefix(1);
  const std::string ending{endings[data[0] % endings.size()]};
  const auto end = std::min(text.find('\0'), text.size());
  std::filesystem::remove_all(folder);
  for (const auto* user : {"a", "b"})
    std::filesystem::create_directories(
      (folder / (user + ending)).parent_path());
  troupe::damage::write(folder / ("a" + ending), text.substr(0, end));
  troupe::damage::write(folder / ("b" + ending),
                        text.substr(std::min(end + 1, text.size())));
  auto users = read_users(folder, {});
  if (!users)
    return 0;
  TROUPE_ASSERT(users->size() == 2);
  for (const auto& user : *users) {
    TROUPE_ASSERT(!user.documents.empty());
    for (const auto& x : user.documents)
      TROUPE_ASSERT(!troupe::trimmed(x.text).empty());
  }
  const auto before = bytes_of(*users);
  const auto dropped = drop_repeated(*users);
  TROUPE_ASSERT(dropped > 0 ? bytes_of(*users) < before
                            : bytes_of(*users) == before);
  for (const auto& user : *users)
    check_parts(user);
  return 0;
}
