// A model as others read it: a folder with config.json and model.safetensors.

#include <array>
#include <system_error>

#include "core/assert.hpp"
#include "models/files.hpp"
#include "models/language/weight_files.hpp"
#include "models/safetensors.hpp"

namespace troupe::models {

result<void> write_model_folder(const std::filesystem::path& folder,
                                const json& config, const tensor_list& tensors,
                                std::span<const float> values) {
  TROUPE_ASSERT(values.size() == size_of(tensors));
  std::error_code wrong;
  std::filesystem::create_directories(folder, wrong);
  if (wrong)
    return fail(errc::storage_failure,
                folder.string()
                  + ": cannot make the folder: " + wrong.message());
  // Some who read it ask for whom it was written; "pt" is what all take.
  const tensor_file file{.tensors = tensors,
                         .values = {values.begin(), values.end()},
                         .metadata = {{"format", "pt"}}};
  // What says what the model is comes last: who finds it finds all.
  return write_safetensors(folder / "model.safetensors", file).and_then([&] {
    const auto text = config.dump(2) + '\n';
    const std::array parts{std::as_bytes(std::span{text})};
    return replace_file(folder / "config.json", parts, {});
  });
}

} // namespace troupe::models
