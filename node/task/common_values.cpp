#include "node/task/common_values.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "core/random.hpp"
#include "core/text.hpp"
#include "models/families.hpp"
#include "models/files.hpp"
#include "node/task/digests_said.hpp"
#include "node/task/result_file.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

using all_values = std::map<std::string, shared_values>;
using models::tensor_file;
using models::tensor_list;

constexpr const char* of_values = "the digest of its values";

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
  return check_digest({.what = path + " is damaged",
                       .found = models::to_hex(digest_of(file)),
                       .said = said->second,
                       .by = "it",
                       .whose = of_values});
}

result<void> check_begun(const std::string& what, const models::digest& found,
                         const std::string& wanted) {
  return check_digest({.what = what
                               + " is not the common model that the run began "
                                 "with",
                       .found = models::to_hex(found),
                       .said = wanted,
                       .by = common_digest_file,
                       .whose = of_values,
                       .copy_of = common_file});
}

/// The folder of a run says which it began with.
result<void> check_begun(const tensor_file& file, const fs::path& path) {
  if (path.filename() != common_file)
    return {};
  const auto wanted = common_digest_of_run(path.parent_path());
  if (!wanted)
    return tl::make_unexpected(wanted.error());
  return wanted->empty() ? result<void>{}
                         : check_begun(path.string(), digest_of(file), *wanted);
}

/// All rows would look alike through them, and say nothing.
result<void> check_finite(std::span<const float> values,
                          const tensor_list& tensors, const std::string& path) {
  for (const auto& tensor : tensors) {
    const auto own = values.first(tensor.size());
    const auto bad =
      std::ranges::find_if(own, [](float x) { return !std::isfinite(x); });
    if (bad != own.end())
      return fail(errc::invalid_data,
                  "common " + in_quotes(path) + ": tensor "
                    + in_quotes(tensor.name) + " is not finite: value "
                    + std::to_string(bad - own.begin() + 1) + " is "
                    + (std::isnan(*bad) ? "no number" : "infinite")
                    + "; a model that was trained to its end would do");
    values = values.subspan(tensor.size());
  }
  return {};
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
  return models::values_of(file, named, path)
    .and_then([&](std::vector<float> x) -> result<std::vector<float>> {
      if (auto ok = check_finite(x, named, path); !ok)
        return tl::make_unexpected(ok.error());
      return x;
    });
}

/// What a run had and lost it still had.
bool has_own(const fs::path& folder) {
  return models::is_there(folder / common_file)
         || models::is_there(folder / common_digest_file);
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

result<std::string> common_digest_in(const fs::path& folder) {
  return read_digests(folder / common_digest_file,
                      std::string{models::common_family})
    .map([](const digests_said& x) {
      return x.empty() ? std::string{} : x.begin()->second;
    });
}

result<std::string> common_digest_of_run(const fs::path& folder) {
  auto said = common_digest_in(folder);
  if (!said || !said->empty() || !says_digests(folder))
    return said;
  return fail(errc::invalid_data,
              (folder / common_digest_file).string()
                + " is gone, so nothing says with which common model the run "
                  "began; a copy of it as it was would do");
}

result<tensor_file> read_common(const fs::path& path) {
  return read_result(path).and_then([&](tensor_file x) -> result<tensor_file> {
    return check_kept(x, path.string())
      .and_then([&] { return check_begun(x, path); })
      .map([&] { return std::move(x); });
  });
}

// Of a run that had a common model itself it is that one: what it trained are
// several.
fs::path file_of_common(const std::string& common) {
  const fs::path said{common};
  std::error_code ignored;
  if (!fs::is_directory(said, ignored))
    return said;
  return has_own(said) ? said / common_file : said / "model.safetensors";
}

// A gate and experts that another run left have learned behind its common
// model, and are nothing behind another one.
std::optional<fs::path> common_beside(const std::string& init) {
  if (init.empty())
    return std::nullopt;
  const auto folder = fs::path{init}.parent_path();
  std::error_code ignored;
  const bool is_there =
    fs::exists(folder / "config.toml", ignored) && has_own(folder);
  return is_there ? std::optional{folder / common_file} : std::nullopt;
}

namespace {

result<all_values> values_said(const experiment& x, models::objective& common) {
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

/// As of a file that has them one after the other.
models::digest digest_together(const all_values& x) {
  tensor_file file;
  for (const auto& [family, values] : x)
    file.values.insert(file.values.end(), values->begin(), values->end());
  return digest_of(file);
}

} // namespace

result<all_values> common_values(const experiment& x,
                                 models::objective& common) {
  auto found = values_said(x, common);
  if (!found || x.common_digest.empty())
    return found;
  const auto what = x.common.empty() ? "what 'init' or the seed says"
                                     : file_of_common(x.common).string();
  return check_begun(what, digest_together(*found), x.common_digest).map([&] {
    return std::move(*found);
  });
}

} // namespace troupe::node
