#include "node/run/result_files.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include "core/json.hpp"
#include "models/file_digest.hpp"
#include "models/safetensors.hpp"
#include "node/report/page.hpp"
#include "node/report/trace.hpp"
#include "node/run/heads.hpp"

namespace troupe::node {

namespace {

/// Writes travelling blocks as safetensors, each tensor under its own name
/// where there is one block, else under `<block>/<tensor>`. Says the digest of
/// the file.
result<models::digest>
save_values(const std::filesystem::path& path, const models::layout& blocks,
            const std::map<block_id, shared_values>& values) {
  models::tensor_file file;
  for (const auto& block : blocks.blocks) {
    const auto& own = *values.at(block.id);
    // What a model calls its tensors is how `init` finds them again; of several
    // models, each under its block's name.
    const bool plain_names =
      block.name == "model" || block.name == "model.buffers";
    for (auto tensor : block.tensors) {
      if (!plain_names)
        tensor.name = block.name + "/" + tensor.name;
      file.tensors.push_back(std::move(tensor));
    }
    file.values.insert(file.values.end(), own.begin(), own.end());
  }
  return models::write_safetensors(path, file).and_then([&] {
    return models::digest_of_file(path, errc::storage_failure);
  });
}

} // namespace

result<void> leave_result(const run_folder& to, const models::layout& blocks,
                          const std::map<block_id, shared_values>& last,
                          run_summary& x) {
  const auto save = [&](const char* name, const auto& values) {
    return save_values(to.path() / name, blocks, values)
      .map(
        [&](const models::digest& of) { x.files[name] = models::to_hex(of); });
  };
  auto ok = save("model.safetensors", last);
  if (ok && x.best)
    ok = save("best.safetensors", values_in(x.best->lines));
  if (ok)
    ok = to.save_text("summary.json", to_long_json(x).dump(2) + "\n");
  return ok;
}

void show_pages(run_folder& of, bool has_events) {
  if (const auto page = write_report(of.path()); !page)
    of.log("no report.html: " + page.error().context);
  if (!has_events)
    return;
  if (const auto trace = write_trace(of.path()); !trace)
    of.log("no trace.json: " + trace.error().context);
}

} // namespace troupe::node
