// config.json of transformers. What it leaves out is what the classes of that
// library begin with.

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "models/language/spec.hpp"
#include "models/language/spec_keys.hpp"

namespace troupe::models {

namespace {

bool is_null(const json& x) {
  return !x.number() && !x.flag() && x.text() == nullptr && x.items() == nullptr
         && x.fields() == nullptr;
}

/// "rope_scaling.factor" stands in an object of the first name.
const json* at(const json& config, std::string_view key) {
  const auto* x = &config;
  while (x != nullptr && !key.empty()) {
    const auto dot = key.find('.');
    x = x->find(key.substr(0, dot));
    key = dot == key.npos ? std::string_view{} : key.substr(dot + 1);
  }
  return x;
}

said_value said_in(const json& config, std::string_view key) {
  const auto* x = at(config, key);
  if (x == nullptr || is_null(*x))
    return {};
  if (const auto number = x->number())
    return *number;
  if (const auto flag = x->flag())
    return *flag;
  if (const auto* text = x->text())
    return *text;
  // Of several ids that end a text the first is what we write.
  if (const auto* list = x->items(); list && key.ends_with("_token_id"))
    return list->empty() ? said_value{} : said_in(list->front(), {});
  return unreadable_value{};
}

/// Whether a class that the file is of has a head over the tokens.
bool says_head(const json& config) {
  const auto* all = config.find("architectures");
  const auto* names = all ? all->items() : nullptr;
  return names != nullptr && std::ranges::any_of(*names, [](const json& x) {
           const auto* name = x.text();
           return name != nullptr
                  && (name->ends_with("ForMaskedLM")
                      || name->ends_with("ForPreTraining"));
         });
}

void read_tokens(spec_keys& keys, language_spec& x) {
  x.begin_token = keys.token("bos_token_id");
  x.end_token = keys.token("eos_token_id");
  x.pad_token = keys.token("pad_token_id");
}

language_spec gpt2_of(spec_keys& keys) {
  language_spec x{.kind = architecture_kind::gpt2};
  x.vocabulary = keys.count("vocab_size");
  x.context = keys.count(keys.has("n_positions") ? "n_positions" : "n_ctx");
  x.width = keys.count("n_embd");
  x.layers = keys.count("n_layer");
  x.heads = keys.count("n_head");
  x.key_heads = x.heads;
  x.head_width = x.width / x.heads;
  x.inner = keys.count_or("n_inner", 4 * x.width);
  x.epsilon = keys.number_or("layer_norm_epsilon", 1e-5);
  x.activation = activation_of(keys, "activation_function", "gelu_new");
  x.tied = keys.flag_or("tie_word_embeddings", true);
  x.attention_bias = true;
  x.inner_bias = true;
  keys.must_be("scale_attn_weights", true);
  keys.must_be("scale_attn_by_inverse_layer_idx", false);
  keys.must_be("add_cross_attention", false);
  read_tokens(keys, x);
  return x;
}

/// How long what is turned becomes is said, or follows from the factor. Of
/// waves the format itself says which are meant where nothing is.
void read_yarn(spec_keys& keys, const std::string& where, rope_spec& x) {
  x.scaling = rope_spec::scaling_kind::yarn;
  x.low = keys.number_or(where + "beta_slow", 1);
  x.high = keys.number_or(where + "beta_fast", 32);
  x.original_context = keys.count(where + "original_max_position_embeddings");
  x.whole_pairs = keys.flag_or(where + "truncate", true);
  const auto grown = [&](double by) {
    return 0.1 * by * std::log(std::max(x.factor, 1.)) + 1;
  };
  const auto over = keys.number_or(where + "mscale", 0),
             below = keys.number_or(where + "mscale_all_dim", 0);
  const bool is_ratio = over != 0 && below != 0;
  x.length = keys.number_or(where + "attention_factor",
                            is_ratio ? grown(over) / grown(below) : grown(1));
}

/// What is said of the turning stands in "rope_scaling" of most files, in
/// "rope_parameters" of newer ones; the first goes before the second unless
/// nothing is in it.
std::string place_of_rope(spec_keys& keys, const json& config) {
  for (const auto* name : {"rope_scaling", "rope_parameters"}) {
    const auto* x = config.find(name);
    if (x == nullptr || is_null(*x))
      continue;
    const auto* fields = x->fields();
    if (fields == nullptr)
      keys.refuse(name, "is " + shortened(x->dump()), "an object or null");
    else if (!fields->empty())
      return std::string{name} + '.';
  }
  return "rope_scaling.";
}

/// What stands there goes before what is said at the top.
rope_spec rope_of(spec_keys& keys, const json& config,
                  std::uint32_t head_width) {
  const auto where = place_of_rope(keys, config);
  const auto said = [&](const std::string& key, double otherwise) {
    return keys.has(where + key) ? keys.number(where + key)
                                 : keys.number_or(key, otherwise);
  };
  rope_spec x;
  x.base = said("rope_theta", 10000);
  const auto share = said("partial_rotary_factor", 1);
  if (!(share > 0) || share > 1)
    keys.refuse("partial_rotary_factor", "is beyond 0 to 1", "1");
  else
    x.width = static_cast<std::uint32_t>(head_width * share + 1e-9);
  const auto kind =
    keys.text_or(where + "rope_type", keys.text_or(where + "type", "default"));
  if (kind == "default")
    return x;
  if (kind == "linear") {
    x.scaling = rope_spec::scaling_kind::linear;
    x.factor = keys.number(where + "factor");
  } else if (kind == "llama3") {
    x.scaling = rope_spec::scaling_kind::llama3;
    x.factor = keys.number(where + "factor");
    x.low = keys.number(where + "low_freq_factor");
    x.high = keys.number(where + "high_freq_factor");
    x.original_context = keys.count(where + "original_max_position_embeddings");
  } else if (kind == "yarn") {
    x.factor = keys.number(where + "factor");
    read_yarn(keys, where, x);
  } else {
    keys.refuse(where + "rope_type", "is " + in_quotes(shortened(kind)),
                "\"default\", \"linear\", \"llama3\" or \"yarn\"");
  }
  return x;
}

language_spec llama_of(spec_keys& keys, const json& config) {
  language_spec x{.kind = architecture_kind::llama};
  x.vocabulary = keys.count("vocab_size");
  x.context = keys.count("max_position_embeddings");
  x.width = keys.count("hidden_size");
  x.layers = keys.count("num_hidden_layers");
  x.heads = keys.count("num_attention_heads");
  x.key_heads = keys.count_or("num_key_value_heads", x.heads);
  x.head_width = keys.count_or("head_dim", x.width / x.heads);
  x.inner = keys.count("intermediate_size");
  x.epsilon = keys.number_or("rms_norm_eps", 1e-6);
  x.activation = activation_of(keys, "hidden_act", "silu");
  x.tied = keys.flag_or("tie_word_embeddings", false);
  x.attention_bias = keys.flag_or("attention_bias", false);
  keys.must_be("mlp_bias", false);
  x.rope = rope_of(keys, config, x.head_width);
  read_tokens(keys, x);
  return x;
}

/// What BERT, RoBERTa and DeBERTa have in common.
language_spec encoder_of(spec_keys& keys, architecture_kind kind,
                         const json& config) {
  language_spec x{.kind = kind};
  x.vocabulary = keys.count("vocab_size");
  x.context = keys.count("max_position_embeddings");
  x.width = keys.count("hidden_size");
  x.layers = keys.count("num_hidden_layers");
  x.heads = keys.count("num_attention_heads");
  x.key_heads = x.heads;
  x.head_width = x.width / x.heads;
  x.inner = keys.count("intermediate_size");
  x.epsilon = keys.number_or("layer_norm_eps", 1e-12);
  x.activation = activation_of(keys, "hidden_act", "gelu");
  x.tied = keys.flag_or("tie_word_embeddings", true);
  x.has_head = says_head(config);
  x.head_bias = x.has_head;
  x.attention_bias = true;
  x.inner_bias = true;
  keys.must_be("is_decoder", false);
  const auto places = keys.text_or("position_embedding_type", "absolute");
  if (places != "absolute")
    keys.refuse("position_embedding_type", "is " + in_quotes(shortened(places)),
                "\"absolute\"");
  read_tokens(keys, x);
  return x;
}

language_spec bert_of(spec_keys& keys, const json& config) {
  auto x = encoder_of(keys, architecture_kind::bert, config);
  x.types = keys.count_or("type_vocab_size", 2);
  return x;
}

language_spec roberta_of(spec_keys& keys, const json& config) {
  auto x = encoder_of(keys, architecture_kind::roberta, config);
  x.types = keys.count_or("type_vocab_size", 2);
  const auto padding = x.pad_token.value_or(1);
  x.first_position = padding + 1;
  if (x.context > x.first_position)
    x.context -= x.first_position;
  else
    keys.refuse("max_position_embeddings", "is " + std::to_string(x.context),
                "more than the padding's id, from which places count on,");
  return x;
}

/// A text with bars, or a list.
bool has_both_ways(const json& config) {
  const auto* said = config.find("pos_att_type");
  if (said == nullptr)
    return false;
  const auto names = [&](std::string_view way) {
    if (const auto* text = said->text())
      return text->find(way) != text->npos;
    const auto* list = said->items();
    return list != nullptr && std::ranges::any_of(*list, [&](const json& x) {
             return x.text() != nullptr && *x.text() == way;
           });
  };
  return names("c2p") && names("p2c");
}

language_spec deberta_of(spec_keys& keys, const json& config) {
  auto x = encoder_of(keys, architecture_kind::deberta, config);
  x.types = keys.count_or("type_vocab_size", 0);
  if (!keys.flag_or("relative_attention", false))
    keys.refuse("relative_attention", "is not true", "true");
  if (!keys.flag_or("share_att_key", false))
    keys.refuse("share_att_key", "is not true", "true, as in DeBERTa-v3,");
  keys.must_be("position_biased_input", false);
  if (!has_both_ways(config))
    keys.refuse("pos_att_type", "does not say both ways", "\"c2p|p2c\"");
  if (const auto norm = keys.text_or("norm_rel_ebd", "none");
      norm != "layer_norm")
    keys.refuse("norm_rel_ebd", "is " + in_quotes(shortened(norm)),
                "\"layer_norm\"");
  if (keys.count_or("conv_kernel_size", 0) > 0)
    keys.refuse("conv_kernel_size", "is above 0", "a model without it");
  if (keys.count_or("embedding_size", x.width) != x.width)
    keys.refuse("embedding_size", "is not 'hidden_size'", "as many of both");
  // Below 1 both mean another number.
  const auto above_zero = [&](std::string_view key) {
    return keys.number_or(key, -1) < 1 ? 0u : keys.count(key);
  };
  x.relative_buckets = above_zero("position_buckets");
  x.relative_span = above_zero("max_relative_positions");
  if (x.relative_span == 0)
    x.relative_span = x.context;
  return x;
}

} // namespace

result<language_spec> parse_spec(const json& config, std::string_view origin) {
  spec_keys keys{[&](std::string_view key) { return said_in(config, key); },
                 origin};
  const auto kind = keys.text_or("model_type", "");
  if (kind == "gpt2")
    return keys.end(gpt2_of(keys));
  if (kind == "llama")
    return keys.end(llama_of(keys, config));
  if (kind == "bert")
    return keys.end(bert_of(keys, config));
  // Its tensors and places are those of RoBERTa.
  if (kind == "roberta" || kind == "xlm-roberta" || kind == "camembert")
    return keys.end(roberta_of(keys, config));
  if (kind == "deberta-v2")
    return keys.end(deberta_of(keys, config));
  if (kind.empty())
    keys.refuse("model_type", "is not there", "a config.json of transformers");
  else
    keys.refuse("model_type", "is " + in_quotes(shortened(kind)),
                "\"gpt2\", \"llama\", \"bert\", \"roberta\" or \"deberta-v2\"");
  return keys.end({});
}

} // namespace troupe::models
