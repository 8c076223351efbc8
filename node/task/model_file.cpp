#include "node/task/model_file.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/files.hpp"
#include "node/task/language.hpp"
#include "node/task/language_model.hpp"

namespace troupe::node {

namespace {

// Whoever has the same base and cuts texts in another way learns of other
// tokens, and no block says so.
result<models::digest> digest_of_language(const experiment& x) {
  const auto by = tokenizer_for(x);
  if (!by)
    return tl::make_unexpected(by.error());
  std::map<std::string, models::digest> parts{{"tokenizer", (*by)->content()}};
  if (!x.model.path.empty()) {
    const auto base = base_of(x, static_cast<std::uint32_t>((*by)->size()));
    if (!base)
      return tl::make_unexpected(base.error());
    parts["base"] = (*base)->content();
  }
  return models::digest_of(parts);
}

} // namespace

result<models::digest> digest_of_model(const experiment& x) {
  if (x.model.is_language())
    return digest_of_language(x);
  if (x.model.kind != model_options::shape::torchscript)
    return models::digest{};
  return models::read_file(x.model.path, errc::invalid_config)
    .map([](const std::vector<std::byte>& bytes) {
      return models::digest_of(std::span{bytes});
    });
}

std::string files_of_model(const experiment& x) {
  if (x.model.is_language() && x.model.path.empty())
    return x.data.tokenizer;
  return x.data.names_tokenizer() ? x.model.path + " with " + x.data.tokenizer
                                  : x.model.path;
}

} // namespace troupe::node
