#include "node/task/language_model.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "models/language/spec.hpp"
#include "node/task/language_files.hpp"
#include "node/task/memory_there.hpp"

namespace troupe::node {

namespace {

models::architecture_kind kind_of(model_options::architecture_rule x) {
  switch (x) {
    case model_options::architecture_rule::gpt2:
      return models::architecture_kind::gpt2;
    case model_options::architecture_rule::llama:
      return models::architecture_kind::llama;
    case model_options::architecture_rule::bert:
      break;
  }
  return models::architecture_kind::bert;
}

models::base_storage storage_of(model_options::storage_rule x) {
  switch (x) {
    case model_options::storage_rule::f32:
      return models::base_storage::f32;
    case model_options::storage_rule::bf16:
      return models::base_storage::bf16;
    case model_options::storage_rule::as_stored:
      break;
  }
  return models::base_storage::as_stored;
}

/// As authors choose it: gates of a llama make its products three, so that two
/// thirds of the width are as many weights.
std::uint32_t inner_of(const model_options& x) {
  if (x.inner > 0)
    return x.inner;
  if (x.architecture != model_options::architecture_rule::llama)
    return 4 * x.embedding;
  constexpr std::uint32_t multiple = 32;
  const auto least = (8 * x.embedding + 2) / 3;
  return (least + multiple - 1) / multiple * multiple;
}

models::language_spec spec_of(const experiment& x, const model_options& m,
                              std::uint32_t vocabulary) {
  models::language_spec to{.kind = kind_of(m.architecture),
                           .vocabulary = vocabulary,
                           .context = x.data.context,
                           .width = m.embedding,
                           .layers = m.layers,
                           .heads = m.heads,
                           .key_heads = m.key_heads > 0 ? m.key_heads : m.heads,
                           .head_width = m.embedding / m.heads,
                           .inner = inner_of(m)};
  switch (m.architecture) {
    case model_options::architecture_rule::gpt2:
      to.attention_bias = to.inner_bias = true;
      break;
    case model_options::architecture_rule::llama:
      to.activation = models::activation_kind::silu;
      to.rope.width = to.head_width;
      break;
    case model_options::architecture_rule::bert:
      to.epsilon = 1e-12;
      to.activation = models::activation_kind::gelu;
      to.attention_bias = to.inner_bias = to.head_bias = true;
      to.types = 2;
      break;
  }
  return to;
}

/// Where the run asks for that.
result<void> check_sees_enough(const experiment& of,
                               const models::language_spec& x,
                               const std::string& origin) {
  return of.data.foretells_tokens() ? check_is_causal(x, origin)
                                    : result<void>{};
}

} // namespace

result<std::shared_ptr<const models::language_base>>
base_of(const experiment& x, std::uint32_t vocabulary) {
  return base_of(x, x.model, vocabulary);
}

result<std::shared_ptr<const models::language_base>>
base_of(const experiment& x, const model_options& what,
        std::uint32_t vocabulary) {
  TROUPE_ASSERT(what.is_language());
  if (!what.path.empty()) {
    const auto* key =
      what.path == x.model.path ? "model.path" : "common_model.path";
    if (auto ok = check_is_brought(key, what.path); !ok)
      return tl::make_unexpected(ok.error());
    auto base = models::open_base(what.path, storage_of(what.storage));
    if (!base)
      return base;
    if (auto ok = check_sees_enough(x, (*base)->spec(), what.path); !ok)
      return tl::make_unexpected(ok.error());
    return base;
  }
  if (what.heads == 0)
    return fail(errc::invalid_config,
                "model.heads is 0, and attention has one head at least");
  const auto spec = spec_of(x, what, vocabulary);
  if (auto ok = models::check_spec(spec, "[model]"); !ok)
    return fail(errc::invalid_config, ok.error().context);
  if (auto ok = check_sees_enough(x, spec, "[model]"); !ok)
    return tl::make_unexpected(ok.error());
  if (auto ok = check_weights(spec, memory_there()); !ok)
    return tl::make_unexpected(ok.error());
  // The seed of a run's first values: the base is what all begin with.
  return models::make_base(spec, derive_seed(x.seed, "initial"));
}

std::function<error(error)> spoken_of(const experiment& x,
                                      const model_options& what) {
  auto origin = what.path.empty() ? std::string{"[model]"} : what.path;
  if (!what.path.empty() && !x.data.tokenizer.empty())
    origin += " over tokens of " + in_quotes(x.data.tokenizer);
  return [origin = std::move(origin)](error e) {
    e.context = origin + ": " + e.context;
    return e;
  };
}

std::string about_vocabulary(const model_options& what, std::uint32_t tokens,
                             std::uint32_t rows) {
  const auto apart = std::max(tokens, rows) - std::min(tokens, rows);
  if (what.path.empty() || apart <= rows / 100)
    return {};
  return what.path + ": has embeddings of " + std::to_string(rows)
         + " tokens, and the tokenizer has " + std::to_string(tokens)
         + ": it may be another model's; 'data.tokenizer' says which it is";
}

result<void> check_is_causal(const models::language_spec& x,
                             const std::string& origin) {
  if (x.is_causal())
    return {};
  return fail(errc::invalid_config,
              origin + ": is " + models::describe(x)
                + ", which sees the tokens that it should foretell; a gpt2 or "
                  "a llama would do");
}

} // namespace troupe::node
