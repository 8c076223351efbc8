#pragma once

// Files of weights that people have: folders as `transformers` writes them,
// single safetensors files, and GGUF. Here they are bytes by name; what the
// names mean is in models/language/names.hpp.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"
#include "models/language/gguf.hpp"
#include "models/language/stored_type.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// A tensor as a file has it. Its bytes live as long as the files.
struct stored_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  stored_type type = stored_type::f32;
  std::span<const std::byte> bytes;

  std::size_t size() const noexcept;
};

enum class weights_format : std::uint8_t { safetensors, gguf };

/// What is in files of weights, by name; tensors of whole numbers and bools are
/// left out. They stay mapped while this lives.
class weight_files {
public:
  /// A folder (config.json, and model.safetensors or the shards that
  /// model.safetensors.index.json names), one .safetensors file, which may have
  /// a config.json beside it, or one .gguf. Returns `invalid_data` naming file
  /// and tensor.
  [[nodiscard]] static result<std::shared_ptr<const weight_files>>
  open(const std::filesystem::path& path);

  virtual ~weight_files() = default;

  virtual const std::filesystem::path& path() const noexcept = 0;
  virtual weights_format format() const noexcept = 0;

  /// Sorted by name.
  virtual const std::vector<stored_tensor>& tensors() const noexcept = 0;

  /// The names of those of whole numbers and bools, sorted.
  virtual const std::vector<std::string>& left_out() const noexcept = 0;

  /// config.json; null where there is none.
  virtual const json& config() const noexcept = 0;

  /// Null: no GGUF.
  virtual const gguf_header* header() const noexcept = 0;

  const stored_tensor* find(std::string_view name) const noexcept;

  std::string origin() const; ///< For texts: the path.
};

/// Writes FOLDER/config.json and FOLDER/model.safetensors (F32). Returns
/// `storage_failure` if it can't. @pre values are those of `tensors`, in order
[[nodiscard]] result<void>
write_model_folder(const std::filesystem::path& folder, const json& config,
                   const tensor_list& tensors, std::span<const float> values);

/// Whether this is a model's and no configuration: a folder with config.json,
/// or a file that ends in .gguf or .safetensors.
bool names_a_model(const std::filesystem::path& path);

} // namespace troupe::models
