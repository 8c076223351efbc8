#include "node/join/store.hpp"

#include <system_error>

#include "core/hex.hpp"
#include "core/random.hpp"
#include "models/files.hpp"

namespace troupe::node {

result<messages::store_id> store_id_of(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot make " + folder.string() + ": " + failed.message());
  const auto path = folder / "id";
  messages::store_id id{};
  if (!std::filesystem::exists(path)) {
    draw_secret(id);
    const auto text = to_hex(id) + '\n';
    const std::array parts{std::as_bytes(std::span{text})};
    return models::replace_file(path, parts, {.sync = true}).map([id] {
      return id;
    });
  }
  const auto text = models::read_text(path, errc::storage_failure);
  if (!text)
    return tl::make_unexpected(text.error());
  if (text->size() != 2 * id.size() + 1
      || !from_hex(std::string_view{*text}.substr(0, 2 * id.size()), id))
    return fail(errc::storage_failure,
                path.string()
                  + " is not what was written there; the clients "
                    "of this folder are known by it");
  return id;
}

} // namespace troupe::node
