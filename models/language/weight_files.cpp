#include "models/language/weight_files.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/language/mapped_file.hpp"
#include "models/language/shard.hpp"

namespace troupe::models {

namespace {

namespace fs = std::filesystem;

constexpr const char* config_name = "config.json";
constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

class read_files final : public weight_files {
public:
  read_files(const fs::path& path, weights_format format)
    : path_(path),
      format_(format) {
    // nop
  }

  const fs::path& path() const noexcept override {
    return path_;
  }

  weights_format format() const noexcept override {
    return format_;
  }

  const std::vector<stored_tensor>& tensors() const noexcept override {
    return tensors_;
  }

  const std::vector<std::string>& left_out() const noexcept override {
    return left_out_;
  }

  const json& config() const noexcept override {
    return config_;
  }

  const gguf_header* header() const noexcept override {
    return header_ ? &*header_ : nullptr;
  }

  void has_config(json x) {
    config_ = std::move(x);
  }

  /// What was read of a file, which stays mapped.
  void add(mapped_file file, std::vector<stored_tensor> tensors) {
    files_.push_back(std::move(file));
    std::ranges::move(tensors, std::back_inserter(tensors_));
  }

  void add(mapped_file file, weights_shard content) {
    std::ranges::move(content.left_out, std::back_inserter(left_out_));
    add(std::move(file), std::move(content.tensors));
  }

  void add(mapped_file file, gguf_header header) {
    std::vector<stored_tensor> tensors;
    for (const auto& x : header.tensors)
      tensors.push_back(
        {.name = x.name,
         .shape = x.shape,
         .type = x.type,
         .bytes = file.bytes().subspan(static_cast<std::size_t>(x.begin),
                                       static_cast<std::size_t>(x.bytes))});
    header_ = std::move(header);
    add(std::move(file), std::move(tensors));
  }

  /// When all of them are there.
  void sort() {
    std::ranges::sort(tensors_, {}, &stored_tensor::name);
    std::ranges::sort(left_out_);
  }

private:
  fs::path path_;
  weights_format format_;
  std::vector<stored_tensor> tensors_;
  std::vector<std::string> left_out_;
  std::vector<mapped_file> files_;
  json config_;
  std::optional<gguf_header> header_;
};

using opened = result<std::shared_ptr<const weight_files>>;

tl::unexpected<error> refuse_file(const fs::path& path,
                                  const std::string& what) {
  return fail(errc::invalid_data, path.string() + what);
}

/// Null where there is none.
result<json> config_in(const fs::path& folder) {
  const auto path = folder / config_name;
  if (auto ok = check_link(path); !ok)
    return tl::unexpected{std::move(ok.error())};
  if (!is_there(path))
    return json{};
  const auto text = read_text(path, errc::invalid_data);
  if (!text)
    return tl::unexpected{text.error()};
  auto x = json::parse(*text);
  if (!x || !x->fields())
    return refuse_file(path, ": is no JSON object"
                               + (x ? "" : ": " + x.error().context)
                               + "; the one that came with the model would do");
  return x;
}

struct mapped_shard {
  mapped_file file;
  weights_shard content;
};

result<mapped_shard> map_shard(const fs::path& path) {
  auto file = mapped_file::open(path, errc::invalid_data);
  if (!file)
    return tl::unexpected{std::move(file.error())};
  auto content = parse_shard(file->bytes(), path.string());
  if (!content)
    return tl::unexpected{std::move(content.error())};
  return mapped_shard{std::move(*file), std::move(*content)};
}

/// In which file each tensor is, whether it is read or not.
using shards_by_tensor = std::map<std::string, std::string>;

result<void> note_shard(const fs::path& index, const std::string& shard,
                        const weights_shard& content, shards_by_tensor& to) {
  auto names = content.left_out;
  for (const auto& x : content.tensors)
    names.push_back(x.name);
  for (const auto& name : names) {
    const auto noted = to.emplace(name, shard);
    if (!noted.second)
      return refuse_file(index, " has " + in_quotes(shortened(name)) + " in "
                                  + in_quotes(noted.first->second) + " and in "
                                  + in_quotes(shard)
                                  + "; shards of one model would do");
  }
  if (to.size() > limits::language_tensors_max)
    return refuse_file(index, " has shards of more than "
                                + std::to_string(limits::language_tensors_max)
                                + " tensors, and no more are read");
  return {};
}

result<void> open_shards(const fs::path& folder, read_files& to) {
  const auto index = folder / index_name;
  const auto text = read_text(index, errc::invalid_data);
  if (!text)
    return tl::unexpected{text.error()};
  const auto said = parse_shard_index(*text, index.string());
  if (!said)
    return tl::unexpected{said.error()};
  std::set<std::string> shards;
  for (const auto& [name, shard] : *said)
    shards.insert(shard);
  for (const auto& shard : shards) {
    if (auto ok = check_link(folder / shard); !ok)
      return ok;
    if (!is_there(folder / shard))
      return refuse_file(index, " names " + in_quotes(shortened(shard))
                                  + ", which is not there; all "
                                  + std::to_string(shards.size())
                                  + " shards would do");
  }
  shards_by_tensor found;
  for (const auto& shard : shards) {
    auto mapped = map_shard(folder / shard);
    if (!mapped)
      return tl::unexpected{std::move(mapped.error())};
    if (auto ok = note_shard(index, shard, mapped->content, found); !ok)
      return ok;
    to.add(std::move(mapped->file), std::move(mapped->content));
  }
  for (const auto& [name, shard] : *said) {
    const auto at = found.find(name);
    if (at == found.end() || at->second != shard)
      return refuse_file(index,
                         " puts " + in_quotes(shortened(name)) + " into "
                           + in_quotes(shard)
                           + ", which lacks it; shards of one model would "
                             "do");
  }
  return {};
}

result<void> open_single(const fs::path& path, read_files& to) {
  return map_shard(path).map(
    [&](mapped_shard x) { to.add(std::move(x.file), std::move(x.content)); });
}

/// @param config where there may be one
opened open_safetensors(const fs::path& path, const fs::path& config) {
  auto files = std::make_shared<read_files>(path, weights_format::safetensors);
  auto said = config_in(config);
  if (!said)
    return tl::unexpected{std::move(said.error())};
  files->has_config(std::move(*said));
  const auto single = path == config ? path / single_name : path;
  if (path == config && !is_there(single) && !is_there(path / index_name)) {
    for (const auto& x : {single, path / index_name})
      if (auto ok = check_link(x); !ok)
        return tl::unexpected{std::move(ok.error())};
    return refuse_file(path, std::string{": has neither "} + single_name
                               + " nor " + index_name
                               + "; a folder with one of them, a .safetensors "
                                 "file or a .gguf would do");
  }
  const auto ok =
    is_there(single) ? open_single(single, *files) : open_shards(path, *files);
  if (!ok)
    return tl::unexpected{ok.error()};
  files->sort();
  return files;
}

opened open_gguf(const fs::path& path) {
  auto file = mapped_file::open(path, errc::invalid_data);
  if (!file)
    return tl::unexpected{std::move(file.error())};
  auto header = parse_gguf(file->bytes(), path.string());
  if (!header)
    return tl::unexpected{std::move(header.error())};
  auto files = std::make_shared<read_files>(path, weights_format::gguf);
  files->add(std::move(*file), std::move(*header));
  files->sort();
  return files;
}

} // namespace

std::size_t stored_tensor::size() const noexcept {
  std::size_t n = 1;
  for (const auto x : shape)
    n *= static_cast<std::size_t>(x);
  return n;
}

result<std::shared_ptr<const weight_files>>
weight_files::open(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return open_safetensors(path, path);
  if (auto ok = check_link(path); !ok)
    return tl::unexpected{std::move(ok.error())};
  if (!is_there(path))
    return refuse_file(path,
                       ": cannot be read: there is no such file or folder; is "
                       "the path right?");
  if (path.extension() == ".gguf")
    return open_gguf(path);
  if (path.extension() == ".safetensors")
    return open_safetensors(path, path.parent_path());
  return refuse_file(path, ": is no model; a folder with config.json, a "
                           ".safetensors file or a .gguf would do");
}

const stored_tensor* weight_files::find(std::string_view name) const noexcept {
  const auto& all = tensors();
  const auto found =
    std::ranges::lower_bound(all, name, {}, &stored_tensor::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

std::string weight_files::origin() const {
  return path().string();
}

bool names_a_model(const fs::path& path) {
  const auto ending = path.extension();
  const auto config = path / config_name;
  return ending == ".gguf" || ending == ".safetensors"
         || (!path.empty() && (is_there(config) || !check_link(config)));
}

} // namespace troupe::models
