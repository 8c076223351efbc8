#pragma once

// Files of named f32 tensors in the safetensors format: eight bytes of header
// length, a JSON header (name -> dtype, shape, offsets), then the values of all
// tensors without gaps. What others train can begin a run, what a run learns
// others can load.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// Tensors in the order in which their values lie in one flat buffer.
struct tensor_file {
  tensor_list tensors;
  std::vector<float> values;
  std::map<std::string, std::string> metadata = {};
};

/// Returns `invalid_data`, with `origin` in the text, unless `bytes` are one
/// whole file of f32 tensors that neither overlap nor leave gaps. Allocates no
/// more than the bytes ask for.
[[nodiscard]] result<tensor_file>
parse_safetensors(std::span<const std::byte> bytes, std::string_view origin);

[[nodiscard]] result<tensor_file>
read_safetensors(const std::filesystem::path& path);

/// Returns `storage_failure` if the file cannot be written, and
/// `invalid_argument` if two tensors have one name. @pre x.values.size() ==
/// size_of(x.tensors)
[[nodiscard]] result<void> write_safetensors(const std::filesystem::path& path,
                                             const tensor_file& x);

/// The values of `wanted`, in its order. Returns `invalid_data` if a tensor is
/// not there or has another shape; tensors that nobody wants are left out.
[[nodiscard]] result<std::vector<float>> values_of(const tensor_file& x,
                                                   const tensor_list& wanted,
                                                   std::string_view origin);

/// A file of which some tensors are read, and the others not.
class safetensors_file {
public:
  /// Reads its header alone. Returns `invalid_data` as `parse_safetensors`
  /// does.
  [[nodiscard]] static result<safetensors_file>
  open(const std::filesystem::path& path);

  /// As the function of this name: of the tensors that are called `prefix` and
  /// the name that is wanted, and of no others.
  [[nodiscard]] result<std::vector<float>> values_of(const tensor_list& wanted,
                                                     std::string_view prefix);

  std::vector<std::string> names() const; ///< Of its tensors, in order.

  std::uint64_t bytes_read() const noexcept { ///< Of values.
    return bytes_read_;
  }

private:
  struct place {
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0; ///< In the file.
  };

  safetensors_file() = default;

  result<void> read_header(std::uint64_t bytes);
  result<void> read(std::uint64_t at, std::span<std::byte> to);

  std::string origin_;
  std::ifstream in_;
  std::map<std::string, place, std::less<>> places_;
  std::uint64_t bytes_read_ = 0;
};

} // namespace troupe::models
