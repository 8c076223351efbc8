#include "node/commands/inspect_model.hpp"

#include <cstdint>
#include <iomanip>
#include <map>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/language/base.hpp"
#include "models/language/tokenizer.hpp"
#include "models/language/weight_files.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

namespace {

/// What a file's tensors of one type come to.
struct type_sum {
  std::string name;
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;
};

struct model_seen {
  std::shared_ptr<const models::weight_files> files;
  std::shared_ptr<const models::language_base> base;
  std::vector<type_sum> types;
  result<std::shared_ptr<const models::tokenizer>> tokens;
};

/// In the order of the types.
std::vector<type_sum> types_of(const models::weight_files& files) {
  std::map<models::stored_type, type_sum> found;
  for (const auto& x : files.tensors()) {
    auto& sum = found[x.type];
    sum.name = models::facts_of(x.type).name;
    ++sum.tensors;
    sum.bytes += x.bytes.size();
  }
  std::vector<type_sum> out;
  for (auto& [type, sum] : found)
    out.push_back(std::move(sum));
  return out;
}

result<model_seen> look_at_model(const std::string& path) {
  auto files = models::weight_files::open(path);
  if (!files)
    return tl::make_unexpected(files.error());
  auto base = models::open_base(path, models::base_storage::as_stored);
  if (!base)
    return tl::make_unexpected(base.error());
  auto types = types_of(**files);
  return model_seen{std::move(*files), std::move(*base), std::move(types),
                    models::load_tokenizer(path)};
}

std::string_view name_of(models::weights_format x) {
  return x == models::weights_format::gguf ? "gguf" : "safetensors";
}

double in_mib(std::uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

void print(const model_seen& x, std::ostream& out) {
  const auto& spec = x.base->spec();
  out << printable(x.files->origin()) << ": " << models::describe(spec) << '\n'
      << "  format     " << name_of(x.files->format()) << '\n'
      << std::fixed << std::setprecision(1);
  for (const auto& type : x.types)
    out << "  " << std::left << std::setw(11) << type.name << type.tensors
        << " tensors, " << in_mib(type.bytes) << " MiB\n";
  out << "  values     " << models::size_of(x.base->tensors()) << '\n'
      << "  context    " << spec.context << " tokens\n"
      << "  head       "
      << (!spec.has_head ? "none: it has hidden states alone"
          : spec.tied    ? "tied to the embeddings"
                         : "of its own")
      << '\n'
      << "  tokenizer  ";
  if (x.tokens)
    out << (*x.tokens)->kind() << " of " << (*x.tokens)->size() << " tokens\n";
  else
    out << "none: " << printable(x.tokens.error().context) << '\n';
  out << "  digest     " << models::to_hex(x.base->content())
      << ", kept as stored\n";
}

json to_json(const model_seen& x) {
  const auto& spec = x.base->spec();
  auto types = json::array();
  for (const auto& type : x.types)
    types.push_back(
      {{"type", type.name}, {"tensors", type.tensors}, {"bytes", type.bytes}});
  json out = json::object();
  out.add("success", true);
  out.add("model", x.files->origin());
  out.add("description", models::describe(spec));
  out.add("format", name_of(x.files->format()));
  out.add("types", std::move(types));
  out.add("values", models::size_of(x.base->tensors()));
  out.add("context", spec.context);
  out.add("has_head", spec.has_head);
  out.add("tied", spec.has_head && spec.tied);
  json tokens = nullptr;
  if (x.tokens) {
    tokens = json::object();
    tokens.add("kind", (*x.tokens)->kind());
    tokens.add("size", (*x.tokens)->size());
    tokens.add("digest", models::to_hex((*x.tokens)->content()));
  }
  out.add("tokenizer", std::move(tokens));
  if (!x.tokens)
    out.add("why_no_tokenizer", x.tokens.error().context);
  out.add("digest", models::to_hex(x.base->content()));
  out.add("storage", "as_stored");
  return out;
}

} // namespace

exit_code inspect_model(const std::string& path, bool json, streams io) {
  const auto seen = told_while(io.err, "reading the model", [&](const auto&) {
    return look_at_model(path);
  });
  if (!seen)
    return report(seen.error(), json, io);
  if (json)
    io.out << to_json(*seen).dump(2) << '\n';
  else
    print(*seen, io.out);
  return exit_code::ok;
}

} // namespace troupe::node
