#include "node/task/finished_run.hpp"

#include <string>
#include <utility>

#include "core/assert.hpp"
#include "models/families.hpp"
#include "models/files.hpp"
#include "node/config/config.hpp"
#include "node/config/no_run.hpp"
#include "node/task/inputs.hpp"
#include "node/task/kept_common.hpp"
#include "node/task/result_file.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

result<experiment> configuration_in(const fs::path& folder) {
  if (!models::is_there(folder / "config.toml"))
    return fail(errc::invalid_data, no_run_in(folder));
  auto loaded = load_config((folder / "config.toml").string());
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  return with_kept_common(std::move(loaded->x), folder);
}

} // namespace

result<finished_run> read_finished_run(const fs::path& folder,
                                       const model_maker& make_model) {
  auto x = configuration_in(folder);
  if (!x)
    return tl::make_unexpected(x.error());
  auto values = open_result(folder);
  if (!values)
    return tl::make_unexpected(values.error());
  auto work = prepare(*x, make_model);
  if (!work)
    return tl::make_unexpected(work.error());
  if (auto ok = check_inputs(folder, *x, *work); !ok)
    return tl::make_unexpected(ok.error());
  return finished_run{.folder = folder,
                      .x = std::move(*x),
                      .work = std::move(*work),
                      .values = std::move(*values)};
}

result<models::fetched_block> read_block(finished_run& from, block_id id) {
  const auto* block = from.work.blocks->find(id);
  TROUPE_ASSERT(block);
  // As the folder has them: of one model under the names of its tensors.
  const bool plain_names = block->name == models::model_family
                           || block->name == models::buffers_family;
  return from.values
    .values_of(block->tensors, plain_names ? "" : block->name + "/")
    .map([&](std::vector<float> values) {
      return models::fetched_block{
        .block = id,
        .base = {},
        .values = models::sent_of(*block, share(std::move(values)))};
    });
}

} // namespace troupe::node
