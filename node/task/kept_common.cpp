#include "node/task/kept_common.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "models/families.hpp"
#include "models/safetensors.hpp"
#include "node/task/common_values.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

bool is_there(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / common_file, ignored);
}

} // namespace

result<void> keep_common(const fs::path& folder, const workload& work) {
  if (is_there(folder))
    return {};
  models::tensor_file file;
  for (const auto& block : work.blocks->frozen) {
    if (block.name != models::common_family
        && block.name != models::common_buffers_family)
      continue;
    const auto& own = work.task->frozen.at(block.name);
    for (auto tensor : block.tensors) {
      tensor.name = std::string{models::common_family} + '/' + tensor.name;
      file.tensors.push_back(std::move(tensor));
    }
    file.values.insert(file.values.end(), own->begin(), own->end());
  }
  if (file.tensors.empty())
    return {};
  file.metadata["digest"] = models::to_hex(digest_of(file));
  return models::write_safetensors(folder / common_file, file);
}

experiment with_kept_common(experiment x, const fs::path& folder) {
  if (!folder.empty() && is_there(folder))
    x.common = (folder / common_file).string();
  return x;
}

} // namespace troupe::node
