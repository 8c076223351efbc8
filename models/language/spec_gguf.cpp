// The metadata of a GGUF file: keys begin with the architecture's name.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "core/text.hpp"
#include "models/language/spec.hpp"
#include "models/language/spec_keys.hpp"

namespace troupe::models {

namespace {

/// The double that people meant by a float: 1e-5 and not 9.9999997e-6, so that
/// a file says what the same model's config.json does.
double as_written(double x) {
  if (!(std::abs(x) <= double{std::numeric_limits<float>::max()}))
    return x;
  const auto narrow = static_cast<float>(x);
  if (static_cast<double>(narrow) != x)
    return x;
  std::array<char, 32> text{};
  const auto end =
    std::to_chars(text.data(), text.data() + text.size(), narrow).ptr;
  double out = x;
  std::from_chars(text.data(), end, out);
  return out;
}

/// A list of a number for each layer is that number where all are the same.
template <class T>
said_value said_by(const std::vector<T>& all) {
  if (all.empty()
      || std::ranges::count(all, all.front())
           != static_cast<std::ptrdiff_t>(all.size()))
    return unreadable_value{};
  return static_cast<double>(all.front());
}

said_value said_by(const std::vector<std::string>&) {
  return unreadable_value{};
}

said_value said_by(const std::string& x) {
  return x;
}

said_value said_by(bool x) {
  return x;
}

said_value said_by(double x) {
  return as_written(x);
}

said_value said_by(std::int64_t x) {
  return static_cast<double>(x);
}

said_value said_by(std::uint64_t x) {
  return static_cast<double>(x);
}

said_value said_in(const gguf_header& header, std::string_view key) {
  const auto found = header.values.find(key);
  if (found == header.values.end())
    return {};
  return std::visit([](const auto& x) { return said_by(x); }, found->second);
}

const gguf_tensor* tensor_of(const gguf_header& header, std::string_view name) {
  const auto found =
    std::ranges::find(header.tensors, name, &gguf_tensor::name);
  return found == header.tensors.end() ? nullptr : &*found;
}

/// Of a table; 0: there is none.
std::uint32_t rows_of(const gguf_header& header, std::string_view name) {
  const auto* x = tensor_of(header, name);
  if (x == nullptr || x->shape.size() != 2)
    return 0;
  return static_cast<std::uint32_t>(
    std::clamp<std::int64_t>(x->shape[0], 0, std::int64_t{1} << 30));
}

/// Whoever quantises leaves out outer extents of 1: a table of one row lies as
/// a vector then.
std::uint32_t types_in(const gguf_header& header) {
  constexpr std::string_view name = "token_types.weight";
  const auto* x = tensor_of(header, name);
  return x != nullptr && x->shape.size() == 1 ? 1 : rows_of(header, name);
}

/// Keys without the name of the architecture before them.
class metadata {
public:
  metadata(const gguf_header& header, std::string name, std::string_view origin)
    : keys([&header](std::string_view key) { return said_in(header, key); },
           origin),
      prefix_(std::move(name) + '.') {
    // nop
  }

  std::string operator()(std::string_view key) const {
    return prefix_ + std::string{key};
  }

  spec_keys keys;

private:
  std::string prefix_;
};

/// What all have.
language_spec sizes_of(metadata& in, const gguf_header& header,
                       architecture_kind kind) {
  auto& keys = in.keys;
  language_spec x{.kind = kind};
  x.vocabulary = rows_of(header, "token_embd.weight");
  if (x.vocabulary == 0)
    keys.refuse("token_embd.weight", "is no table of this file",
                "a whole model");
  if (const auto said = keys.count_or(in("vocab_size"), x.vocabulary);
      said != x.vocabulary)
    keys.refuse(in("vocab_size"),
                "is " + std::to_string(said) + ", and 'token_embd.weight' has "
                  + std::to_string(x.vocabulary) + " rows",
                "as many of both");
  x.context = keys.count(in("context_length"));
  x.width = keys.count(in("embedding_length"));
  x.layers = keys.count(in("block_count"));
  x.heads = keys.count(in("attention.head_count"));
  x.key_heads = keys.count_or(in("attention.head_count_kv"), x.heads);
  // Else who reads on would take it for an error of what follows from it.
  if (!keys.has(in("attention.key_length")) && x.width % x.heads != 0)
    keys.refuse(in("attention.head_count"),
                "is " + std::to_string(x.heads) + ", and as many heads of "
                  + std::to_string(x.width / x.heads) + " are not the width of "
                  + std::to_string(x.width),
                "as many as divide it");
  x.head_width = keys.count_or(in("attention.key_length"), x.width / x.heads);
  if (keys.count_or(in("attention.value_length"), x.head_width) != x.head_width)
    keys.refuse(in("attention.value_length"), "is not 'attention.key_length'",
                "as many of both");
  x.inner = keys.count(in("feed_forward_length"));
  if (keys.count_or(in("expert_count"), 0) > 0)
    keys.refuse(in("expert_count"), "is above 0", "a model without experts");
  x.tied = tensor_of(header, "output.weight") == nullptr;
  x.begin_token = keys.token("tokenizer.ggml.bos_token_id");
  x.end_token = keys.token("tokenizer.ggml.eos_token_id");
  x.pad_token = keys.token("tokenizer.ggml.padding_token_id");
  return x;
}

/// What is said of a head's width is that of the tensors: else who reads on
/// would take it for an error of what follows from it.
void check_key_length(metadata& in, const gguf_header& header,
                      const language_spec& x) {
  constexpr std::string_view queries = "blk.0.attn_q.weight";
  const auto key = in("attention.key_length");
  const auto rows = rows_of(header, queries);
  if (rows == 0 || !in.keys.has(key)
      || rows == std::uint64_t{x.heads} * x.head_width)
    return;
  in.keys.refuse(key,
                 "is " + std::to_string(x.head_width) + ", and "
                   + in_quotes(queries) + " has " + std::to_string(rows)
                   + " rows for " + std::to_string(x.heads) + " heads",
                 rows % x.heads == 0 ? std::to_string(rows / x.heads)
                                     : "as many as it has of each");
}

/// Older files say it by another name.
std::string factor_key(const metadata& in) {
  const auto key = in("rope.scaling.factor"), older = in("rope.scale_linear");
  return !in.keys.has(key) && in.keys.has(older) ? older : key;
}

/// Waves go by whole pairs, and what is turned becomes as long as follows from
/// the factor, times what the file says. What it may say beside is another
/// function.
void read_yarn(metadata& in, rope_spec& x) {
  auto& keys = in.keys;
  x.scaling = rope_spec::scaling_kind::yarn;
  x.factor = keys.number(factor_key(in));
  x.original_context = keys.count(in("rope.scaling.original_context_length"));
  x.low = keys.number_or(in("rope.scaling.yarn_beta_slow"), 1);
  x.high = keys.number_or(in("rope.scaling.yarn_beta_fast"), 32);
  x.length = keys.number_or(in("rope.scaling.attn_factor"), 1)
             * (0.1 * std::log(std::max(x.factor, 1.)) + 1);
  for (const auto* key :
       {"rope.scaling.yarn_ext_factor", "rope.scaling.yarn_attn_factor"})
    if (keys.number_or(in(key), 1) != 1)
      keys.refuse(in(key), "is not 1", "1");
  if (keys.number_or(in("rope.scaling.yarn_log_multiplier"), 0) != 0)
    keys.refuse(in("rope.scaling.yarn_log_multiplier"), "is not 0", "0");
}

rope_spec rope_of(metadata& in, std::uint32_t head_width) {
  auto& keys = in.keys;
  rope_spec x;
  x.base = keys.number_or(in("rope.freq_base"), 10000);
  x.width = keys.count_or(in("rope.dimension_count"), head_width);
  // Rows of q and k lie as pairs of the whole head.
  if (x.width != head_width)
    keys.refuse(in("rope.dimension_count"), "is not the width of a head",
                std::to_string(head_width));
  // A factor alone is one of "linear", of which 0 and 1 change nothing.
  const auto factor = factor_key(in);
  const auto kind =
    keys.text_or(in("rope.scaling.type"), keys.has(factor) ? "linear" : "none");
  if (kind == "none")
    return x;
  if (kind == "linear") {
    const auto said = keys.number(factor);
    if (said != 0 && said != 1) {
      x.scaling = rope_spec::scaling_kind::linear;
      x.factor = said;
    }
  } else if (kind == "yarn") {
    read_yarn(in, x);
  } else {
    keys.refuse(in("rope.scaling.type"), "is " + in_quotes(shortened(kind)),
                "\"none\", \"linear\" or \"yarn\"");
  }
  return x;
}

language_spec llama_of(metadata& in, const gguf_header& header) {
  auto x = sizes_of(in, header, architecture_kind::llama);
  x.epsilon = in.keys.number(in("attention.layer_norm_rms_epsilon"));
  check_key_length(in, header, x);
  x.activation = activation_kind::silu;
  x.attention_bias = tensor_of(header, "blk.0.attn_q.bias") != nullptr;
  x.rope = rope_of(in, x.head_width);
  return x;
}

language_spec gpt2_of(metadata& in, const gguf_header& header) {
  auto x = sizes_of(in, header, architecture_kind::gpt2);
  x.epsilon = in.keys.number(in("attention.layer_norm_epsilon"));
  x.attention_bias = true;
  x.inner_bias = true;
  return x;
}

/// RoBERTa's are of this kind, too: its table of places begins behind the
/// padding's.
language_spec bert_of(metadata& in, const gguf_header& header) {
  auto x = sizes_of(in, header, architecture_kind::bert);
  x.epsilon = in.keys.number(in("attention.layer_norm_epsilon"));
  x.activation = activation_kind::gelu;
  x.tied = true;
  x.has_head = false;
  x.attention_bias = true;
  x.inner_bias = true;
  x.types = types_in(header);
  return x;
}

} // namespace

result<language_spec> parse_spec(const gguf_header& header,
                                 std::string_view origin) {
  const auto* kind = header.text("general.architecture");
  metadata in{header, kind ? *kind : "", origin};
  if (kind == nullptr) {
    in.keys.refuse("general.architecture",
                   in.keys.has("general.architecture") ? "is no text"
                                                       : "is not there",
                   "\"llama\", \"gpt2\" or \"bert\"");
    return in.keys.end({});
  }
  if (*kind == "llama")
    return in.keys.end(llama_of(in, header));
  if (*kind == "gpt2")
    return in.keys.end(gpt2_of(in, header));
  if (*kind == "bert")
    return in.keys.end(bert_of(in, header));
  in.keys.refuse("general.architecture", "is " + in_quotes(shortened(*kind)),
                 "\"llama\", \"gpt2\" or \"bert\"");
  return in.keys.end({});
}

} // namespace troupe::models
