#include "node/commands/export_language.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "kernels/backend.hpp"
#include "models/inner_setup.hpp"
#include "models/language/base.hpp"
#include "node/commands/put_files.hpp"
#include "node/config/config.hpp"
#include "node/task/language.hpp"
#include "node/task/language_model.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 6> tokenizer_files{
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "vocab.json",
  "merges.txt",
  "vocab.txt"};

/// Those of a folder, or of the folder that has the file. A .gguf has its
/// tokenizer among its values, and no file of it.
std::vector<fs::path> files_of_tokenizer(const fs::path& from) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(from, ignored);
  if (!is_folder
      && std::ranges::find(tokenizer_files, from.filename().string())
           == tokenizer_files.end())
    return {};
  const auto folder = is_folder ? from : from.parent_path();
  std::vector<fs::path> all;
  for (const auto name : tokenizer_files)
    if (fs::exists(folder / name, ignored))
      all.push_back(folder / name);
  return all;
}

result<void> copy(const std::vector<fs::path>& files, const fs::path& to) {
  for (const auto& file : files) {
    std::error_code why;
    fs::copy_file(file, to / file.filename(), why);
    if (why)
      return fail(errc::storage_failure,
                  (to / file.filename()).string()
                    + ": cannot be written: " + why.message());
  }
  return {};
}

} // namespace

result<void> put_language(const experiment& x, const models::tensor_file& what,
                          const fs::path& to) {
  const auto by = tokenizer_for(x);
  if (!by)
    return tl::make_unexpected(by.error());
  const auto base = base_of(x, static_cast<std::uint32_t>((*by)->size()));
  if (!base)
    return tl::make_unexpected(base.error());
  const auto values =
    models::values_of(what, (*base)->tensors(), "what the run learned");
  if (!values)
    return tl::make_unexpected(values.error());
  const auto words = files_of_tokenizer(
    x.data.tokenizer.empty() ? x.model.path : x.data.tokenizer);
  std::set<std::string> names{"config.json", "model.safetensors"};
  for (const auto& file : words)
    names.insert(file.filename().string());
  return put_folder(to, names, [&](const fs::path& made) {
    return models::write_base(made, (*base)->spec(), *values).and_then([&] {
      return copy(words, made);
    });
  });
}

result<models::tensor_file> merged_language(const experiment& x,
                                            const common_factors& common) {
  const auto* method = all_methods().find(x.method);
  TROUPE_ASSERT(method != nullptr);
  if (!x.data.foretells_tokens())
    return fail(errc::invalid_argument,
                "--merged: the run's model says what a row is as a whole, by a "
                "layer that no file of a language model has; a run that "
                "foretells tokens would do");
  const auto by = tokenizer_for(x);
  if (!by)
    return tl::make_unexpected(by.error());
  const auto base = base_of(x, static_cast<std::uint32_t>((*by)->size()));
  if (!base)
    return tl::make_unexpected(base.error());
  const auto plans = models::inner_plans_over((*base)->tensors(), *method,
                                              x.training.method, x.model.adapt);
  if (!plans)
    return tl::make_unexpected(plans.error());
  const auto size_of = [](const auto& plan) { return plan ? plan->size() : 0; };
  const auto found = common.adapter.size() + common.attention.size();
  const auto expected = size_of(plans->adapter) + size_of(plans->attention);
  if (common.adapter.empty() || found != expected
      || common.attention.size() != size_of(plans->attention))
    return fail(errc::invalid_data,
                "model.safetensors and config.toml do not belong together: "
                "the adapter has "
                  + std::to_string(found) + " values, and "
                  + std::to_string(expected) + " are expected");
  const auto arithmetic = kernels::make_backend({});
  if (!arithmetic)
    return tl::make_unexpected(arithmetic.error());
  const auto from = (*base)->values();
  models::tensor_file out{
    (*base)->tensors(), std::vector<float>(from.size()), {}};
  const auto put = [&](const models::adapter_plan& plan, const auto& values,
                       std::span<const float> onto) {
    const std::array adapters{values};
    const std::array shares{1.0};
    return models::adapter_mixture{plan, **arithmetic}.compose(
      onto, adapters, shares, out.values);
  };
  return put(*plans->adapter, common.adapter, from)
    .and_then([&] {
      return common.attention.empty()
               ? result<void>{}
               : put(*plans->attention, common.attention, out.values);
    })
    .map([&] { return std::move(out); });
}

} // namespace troupe::node
