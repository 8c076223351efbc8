#include "node/task/kept_common.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "models/families.hpp"
#include "models/safetensors.hpp"
#include "node/task/common_values.hpp"
#include "node/task/digests_said.hpp"
#include "node/task/materials.hpp"

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
  const auto said = common_digest_in(folder);
  if (!said)
    return tl::make_unexpected(said.error());
  if (is_kept && !said->empty())
    return {};
  auto file = common_of(work);
  if (file.tensors.empty())
    return {};
  const auto digest = digest_of(file);
  file.metadata["digest"] = models::to_hex(digest);
  if (!is_kept)
    if (auto ok = models::write_safetensors(folder / common_file, file); !ok)
      return ok;
  return write_digests(
    folder / common_digest_file,
    {{std::string{models::common_family}, common_file, digest}});
}

result<experiment> with_kept_common(experiment x, const fs::path& folder) {
  if (folder.empty() || !has_common(x))
    return x;
  auto said = common_digest_of_run(folder);
  if (!said)
    return tl::make_unexpected(said.error());
  x.common_digest = std::move(*said);
  if (keeps_common(folder))
    x.common = (folder / common_file).string();
  return x;
}

result<workload> prepare_with_kept(const experiment& x, const fs::path& folder,
                                   const model_maker& make_model) {
  return with_kept_common(x, folder).and_then(
    [&](const experiment& kept) { return prepare(kept, make_model); });
}

} // namespace troupe::node
