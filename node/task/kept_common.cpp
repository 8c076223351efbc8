#include "node/task/kept_common.hpp"

#include <array>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "models/families.hpp"
#include "models/files.hpp"
#include "models/safetensors.hpp"
#include "node/task/common_values.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

bool keeps_common(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / common_file, ignored);
}

/// Of no tensors where the method has none.
models::tensor_file common_of(const workload& work) {
  models::tensor_file file;
  for (const auto& block : work.blocks->frozen) {
    if (block.name != models::common_family
        && block.name != models::common_buffers_family)
      continue;
    const auto& own = *work.task->frozen.at(block.name);
    for (auto tensor : block.tensors) {
      tensor.name = std::string{models::common_family} + '/' + tensor.name;
      file.tensors.push_back(std::move(tensor));
    }
    file.values.insert(file.values.end(), own.begin(), own.end());
  }
  return file;
}

} // namespace

result<void> keep_common(const fs::path& folder, const workload& work) {
  const bool is_kept = keeps_common(folder);
  if (is_kept && !common_digest_in(folder).empty())
    return {};
  auto file = common_of(work);
  if (file.tensors.empty())
    return {};
  const auto digest = models::to_hex(digest_of(file));
  file.metadata["digest"] = digest;
  if (!is_kept)
    if (auto ok = models::write_safetensors(folder / common_file, file); !ok)
      return ok;
  const auto text = digest + '\n';
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(folder / common_digest_file, parts, {});
}

experiment with_kept_common(experiment x, const fs::path& folder) {
  if (folder.empty())
    return x;
  x.common_digest = common_digest_in(folder);
  if (keeps_common(folder))
    x.common = (folder / common_file).string();
  return x;
}

} // namespace troupe::node
