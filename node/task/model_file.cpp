#include "node/task/model_file.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "models/files.hpp"
#include "models/language/tokenizer.hpp"
#include "node/task/language.hpp"
#include "node/task/language_model.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

namespace {

constexpr const char* scripted_part = "script";

result<void> add_script(const char* name, const std::string& path,
                        std::vector<known_file>& to) {
  return models::read_file(path, errc::invalid_config)
    .map([&](const std::vector<std::byte>& bytes) {
      to.push_back({name, path, models::digest_of(std::span{bytes})});
    });
}

result<void> add_base(const char* name, const experiment& x,
                      const model_options& what, std::size_t vocabulary,
                      std::vector<known_file>& to) {
  if (what.path.empty())
    return {};
  const auto base = base_of(x, what, static_cast<std::uint32_t>(vocabulary));
  if (!base)
    return tl::make_unexpected(base.error());
  to.push_back({name, what.path, (*base)->content()});
  return {};
}

// Whoever has the same base and cuts texts in another way learns of other
// tokens, and no block says so.
result<std::vector<known_file>> parts_of_model(const experiment& x) {
  std::vector<known_file> all;
  if (x.model.kind == model_options::shape::torchscript)
    return add_script(scripted_part, x.model.path, all).map([&] {
      return std::move(all);
    });
  if (!x.model.is_language())
    return all;
  const auto by = tokenizer_for(x);
  if (!by)
    return tl::make_unexpected(by.error());
  all.push_back({"tokenizer",
                 x.data.tokenizer.empty() ? x.model.path : x.data.tokenizer,
                 (*by)->content()});
  return add_base("base", x, x.model, (*by)->size(), all).map([&] {
    return std::move(all);
  });
}

} // namespace

result<std::vector<known_file>> parts_of_models(const experiment& x) {
  return parts_of_model(x).and_then(
    [&](std::vector<known_file> all) -> result<std::vector<known_file>> {
      if (!has_common(x) || !x.common_model)
        return all;
      constexpr const char* name = "common_model";
      const auto& common = *x.common_model;
      result<void> ok;
      if (common.kind == model_options::shape::torchscript)
        ok = add_script(name, common.path, all);
      else if (common.is_language())
        ok = add_base(name, x, common, 0, all); // A file says how many.
      if (!ok)
        return tl::make_unexpected(ok.error());
      return all;
    });
}

result<models::digest> digest_of_model(const experiment& x) {
  return parts_of_model(x).map([](const std::vector<known_file>& all) {
    std::map<std::string, models::digest> parts;
    for (const auto& y : all)
      parts[y.name] = y.content;
    if (parts.empty())
      return models::digest{};
    const auto script = parts.find(scripted_part);
    return script == parts.end() ? models::digest_of(parts) : script->second;
  });
}

bool lacks_tokenizer(const experiment& x) {
  return x.model.is_language() && x.data.tokenizer.empty()
         && !models::has_tokenizer(x.model.path);
}

std::string files_of_model(const experiment& x) {
  if (x.model.is_language() && x.model.path.empty())
    return x.data.tokenizer;
  return x.data.names_tokenizer() ? x.model.path + " with " + x.data.tokenizer
                                  : x.model.path;
}

} // namespace troupe::node
