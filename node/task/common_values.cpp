#include "node/task/common_values.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "core/random.hpp"
#include "core/text.hpp"
#include "models/families.hpp"
#include "node/task/result_file.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

using all_values = std::map<std::string, shared_values>;
using models::tensor_file;
using models::tensor_list;

constexpr std::size_t digits_shown = 8;

std::string shown(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const auto extent : shape)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text.empty() ? "one value" : text;
}

/// As a run names them that keeps them.
std::string name_within(const std::string& tensor) {
  return std::string{models::common_family} + '/' + tensor;
}

const models::tensor_spec* find(const tensor_file& file,
                                const std::string& name) {
  const auto found =
    std::ranges::find(file.tensors, name, &models::tensor_spec::name);
  return found == file.tensors.end() ? nullptr : &*found;
}

/// A file that a run kept says what it was.
result<void> check_kept(const tensor_file& file, const std::string& path) {
  const auto said = file.metadata.find("digest");
  const auto prefix = name_within({});
  const bool is_kept = said != file.metadata.end()
                       && std::ranges::all_of(file.tensors, [&](const auto& x) {
                            return x.name.starts_with(prefix);
                          });
  if (!is_kept)
    return {};
  const auto found = models::to_hex(digest_of(file));
  if (found == said->second)
    return {};
  return fail(errc::invalid_data,
              path + " is damaged: its values have the digest "
                + found.substr(0, digits_shown) + ", and it says "
                + printable(said->second.substr(0, digits_shown))
                + "; a copy of the file as it was would do");
}

/// Those of a list, by its own names or by those of a file that a run kept.
result<std::vector<float>> take(const tensor_file& file,
                                const tensor_list& wanted,
                                const std::string& path) {
  auto named = wanted;
  for (auto& x : named) {
    const auto* found = find(file, name_within(x.name));
    const auto plain = x.name;
    if (found)
      x.name = found->name;
    else
      found = find(file, plain);
    const auto where = "common " + in_quotes(path) + ": ";
    if (!found)
      return fail(errc::invalid_config,
                  where + "there is no tensor " + in_quotes(plain)
                    + ", which the common model has, of " + shown(x.shape)
                    + "; 'common_model' says its shape");
    if (found->shape != x.shape)
      return fail(errc::invalid_config,
                  where + "tensor " + in_quotes(plain) + " has shape "
                    + shown(found->shape) + ", and the common model "
                    + shown(x.shape) + "; 'common_model' says its shape");
  }
  return models::values_of(file, named, path);
}

result<all_values> from_own_file(const fs::path& path,
                                 const models::objective& common) {
  const auto file = read_common(path);
  if (!file)
    return tl::make_unexpected(file.error());
  all_values result;
  for (const auto& [family, list] :
       {std::pair{models::common_family, &common.parameter_list()},
        std::pair{models::common_buffers_family, &common.buffer_list()}}) {
    if (list->empty())
      continue;
    auto values = take(*file, *list, path.string());
    if (!values)
      return tl::make_unexpected(values.error());
    result[std::string{family}] = share(std::move(*values));
  }
  return result;
}

} // namespace

models::digest digest_of(const tensor_file& x) {
  return models::digest_of(std::as_bytes(std::span{x.values}));
}

result<tensor_file> read_common(const fs::path& path) {
  return read_result(path).and_then([&](tensor_file x) -> result<tensor_file> {
    if (auto ok = check_kept(x, path.string()); !ok)
      return tl::make_unexpected(ok.error());
    return x;
  });
}

// Of a run that had a common model itself it is that one: what it trained are
// several.
fs::path file_of_common(const std::string& common) {
  const fs::path said{common};
  std::error_code ignored;
  if (!fs::is_directory(said, ignored))
    return said;
  const auto kept = said / common_file;
  return fs::exists(kept, ignored) ? kept : said / "model.safetensors";
}

// A gate and experts that another run left have learned behind its common
// model, and are nothing behind another one.
std::optional<fs::path> common_beside(const std::string& init) {
  if (init.empty())
    return std::nullopt;
  const auto folder = fs::path{init}.parent_path();
  std::error_code ignored;
  const bool is_there = fs::exists(folder / "config.toml", ignored)
                        && fs::exists(folder / common_file, ignored);
  return is_there ? std::optional{folder / common_file} : std::nullopt;
}

result<all_values> common_values(const experiment& x,
                                 models::objective& common) {
  if (!x.common.empty())
    return from_own_file(file_of_common(x.common), common);
  if (const auto kept = common_beside(x.init))
    return from_own_file(*kept, common);
  all_values result;
  result[std::string{models::common_family}] = share(common.initial_parameters(
    derive_seed(derive_seed(x.seed, "initial"), "common")));
  if (!common.buffer_list().empty())
    result[std::string{models::common_buffers_family}] =
      share(common.initial_buffers());
  return result;
}

} // namespace troupe::node
