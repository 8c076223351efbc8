// The tokenizer of a GGUF file: names, merges and kinds of tokens as lists, and
// a name for how its text is cut.

#include <cmath>
#include <utility>
#include <variant>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/pipeline_steps.hpp"
#include "models/language/tokenizer_parts.hpp"
#include "models/language/unicode.hpp"
#include "models/language/vocabulary_checks.hpp"

namespace troupe::models {

namespace {

constexpr std::int64_t control = 3;      ///< Stands in no text.
constexpr std::int64_t user_defined = 4; ///< Found before all else.
constexpr std::int64_t last_kind = 6;    ///< Those of bytes.

std::string key(std::string_view name) {
  return "tokenizer.ggml." + std::string{name};
}

/// Of what is there, and of another kind.
tl::unexpected<error> refuse_kind_of(std::string_view name,
                                     std::string_view wanted,
                                     std::string_view origin) {
  return refuse_tokenizer(origin, key(name) + " is of another kind; "
                                    + std::string{wanted} + " would do");
}

result<void> check_kind(const gguf_header& header, std::string_view origin) {
  const auto* kind = header.text(key("model"));
  if (kind == nullptr && header.values.contains(key("model")))
    return refuse_kind_of("model", "a text", origin);
  if (kind == nullptr)
    return refuse_tokenizer(origin, "it has no tokenizer.ggml.model; a "
                                    "tokenizer.json of the same model would "
                                    "do");
  if (*kind == "gpt2")
    return {};
  const bool pieces = *kind == "llama" || *kind == "t5";
  return refuse_tokenizer(
    origin, "its tokenizer is of kind " + in_quotes(shortened(*kind))
              + (pieces            ? " (SentencePiece)"
                 : *kind == "bert" ? " (WordPiece)"
                                   : "")
              + ", which is not read here; a tokenizer.json of the same model "
                "would do");
}

result<vocabulary_list> vocabulary_of(const gguf_header& header,
                                      std::string_view origin) {
  const auto* texts = header.texts(key("tokens"));
  if (texts == nullptr && header.values.contains(key("tokens")))
    return refuse_kind_of("tokens", "a list of texts", origin);
  if (texts == nullptr || texts->empty()
      || texts->size() > limits::vocabulary_max)
    return refuse_tokenizer(
      origin, "it has " + std::to_string(texts ? texts->size() : 0)
                + " tokens in tokenizer.ggml.tokens; 1 to "
                + std::to_string(limits::vocabulary_max) + " would do");
  vocabulary_list all;
  all.reserve(texts->size());
  for (const auto& text : *texts)
    all.emplace_back(text, static_cast<token_id>(all.size()));
  return all;
}

result<merge_list> merges_of(const gguf_header& header,
                             std::string_view origin) {
  merge_list all;
  const auto* lines = header.texts(key("merges"));
  if (lines == nullptr && header.values.contains(key("merges")))
    return refuse_kind_of("merges", "a list of texts", origin);
  if (lines == nullptr)
    return all;
  all.reserve(lines->size());
  for (const auto& line : *lines) {
    auto merge = merge_in(line, all.size() + 1, origin);
    if (!merge)
      return tl::unexpected{std::move(merge.error())};
    all.push_back(std::move(*merge));
  }
  return all;
}

result<std::vector<added_token>> added_of(const gguf_header& header,
                                          const vocabulary_list& vocabulary,
                                          std::string_view origin) {
  std::vector<added_token> all;
  const auto found = header.values.find(key("token_type"));
  if (found == header.values.end())
    return all;
  const auto* kinds = std::get_if<std::vector<std::int64_t>>(&found->second);
  if (kinds == nullptr || kinds->size() != vocabulary.size())
    return refuse_tokenizer(
      origin, "tokenizer.ggml.token_type is of "
                + std::to_string(kinds ? kinds->size() : 0)
                + " tokens, and there are " + std::to_string(vocabulary.size())
                + "; a kind for each would do");
  for (std::size_t i = 0; i < kinds->size(); ++i) {
    const auto kind = (*kinds)[i];
    if (kind < 0 || kind > last_kind)
      return refuse_tokenizer(
        origin, "token " + std::to_string(i) + " is of kind "
                  + std::to_string(kind)
                  + " in tokenizer.ggml.token_type; kinds from 0 to "
                  + std::to_string(last_kind) + " would do");
    if (kind == control || kind == user_defined)
      all.push_back({.text = vocabulary[i].first,
                     .id = vocabulary[i].second,
                     .special = kind == control});
  }
  if (auto ok = check_added_texts(all, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  return all;
}

/// What cuts the text, and what it is called.
result<token_pipeline> gguf_pipeline_of(const gguf_header& header,
                                        const std::string& pre,
                                        std::string_view origin) {
  const auto patterns = patterns_of(pre);
  if (!patterns)
    return refuse_tokenizer(
      origin, "its text is cut as "
                + (pre.empty() ? "tokenizer.ggml.pre does not say"
                               : in_quotes(shortened(pre))
                                   + " says (tokenizer.ggml.pre), which is not "
                                     "known here")
                + "; a tokenizer.json of the same model would do");
  token_pipeline x;
  x.byte_level = true;
  if (pre == "qwen2")
    x.normalise.push_back([](std::string text) -> result<std::string> {
      return normalised(text, normal_form::nfc);
    });
  for (std::size_t i = 0; i + 1 < patterns->size(); ++i) {
    auto step = cut_by((*patterns)[i], {.rule = cut_rule::isolated}, origin);
    if (!step)
      return tl::unexpected{std::move(step.error())};
    x.split.push_back(std::move(*step));
  }
  x.split.push_back(byte_level_split(
    patterns->back(), header.flag(key("add_space_prefix")).value_or(false),
    origin));
  auto join = read_decoder(nullptr, true, origin);
  if (!join)
    return tl::unexpected{std::move(join.error())};
  x.join = std::move(*join);
  return x;
}

/// Nothing: it is not said. `invalid_data`: it is of no token.
result<std::optional<token_id>> id_of(const gguf_header& header,
                                      std::string_view name, std::size_t size,
                                      std::string_view origin) {
  const auto said = header.number(key(name));
  if (!said)
    return std::optional<token_id>{};
  if (!(*said >= 0 && *said < static_cast<double>(size))
      || *said != std::floor(*said))
    return refuse_tokenizer(origin, key(name)
                                      + " is of no token; ids from 0 "
                                        "to "
                                      + std::to_string(size - 1) + " would do");
  return std::optional{static_cast<token_id>(*said)};
}

result<special_tokens> special_in(const gguf_header& header, std::size_t size,
                                  std::string_view origin) {
  special_tokens x;
  const std::pair<std::string_view, std::optional<token_id>*> all[] = {
    {"bos_token_id", &x.begin},   {"eos_token_id", &x.end},
    {"padding_token_id", &x.pad}, {"unknown_token_id", &x.unknown},
    {"mask_token_id", &x.mask},
  };
  for (const auto& [name, to] : all) {
    auto id = id_of(header, name, size, origin);
    if (!id)
      return tl::unexpected{std::move(id.error())};
    *to = *id;
  }
  return x;
}

/// What stands around each text is a token that is said.
result<void> check_around(const gguf_header& header,
                          const special_tokens& special,
                          std::string_view origin) {
  const auto refuse_flag = [&](std::string_view flag, std::string_view id) {
    return refuse_tokenizer(origin, key(flag) + " is true, and there is no "
                                      + key(id)
                                      + "; an id, or false, would do");
  };
  if (!special.begin && header.flag(key("add_bos_token")).value_or(false))
    return refuse_flag("add_bos_token", "bos_token_id");
  if (!special.end && header.flag(key("add_eos_token")).value_or(false))
    return refuse_flag("add_eos_token", "eos_token_id");
  return {};
}

} // namespace

result<std::shared_ptr<const tokenizer>> tokenizer_of(const gguf_header& header,
                                                      std::string_view origin) {
  if (auto ok = check_kind(header, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  auto vocabulary = vocabulary_of(header, origin);
  if (!vocabulary)
    return tl::unexpected{std::move(vocabulary.error())};
  auto merges = merges_of(header, origin);
  if (!merges)
    return tl::unexpected{std::move(merges.error())};
  auto added = added_of(header, *vocabulary, origin);
  if (!added)
    return tl::unexpected{std::move(added.error())};
  const auto special = special_in(header, vocabulary->size(), origin);
  if (!special)
    return tl::unexpected{special.error()};
  if (auto ok = check_around(header, *special, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  const auto* said = header.text(key("pre"));
  const auto pre = said ? *said : std::string{};
  auto how = gguf_pipeline_of(header, pre, origin);
  if (!how)
    return tl::unexpected{std::move(how.error())};
  // As other readers: of Llama's files also where it is not said.
  text_frame frame;
  if (special->begin
      && header.flag(key("add_bos_token")).value_or(pre == "llama-bpe"))
    frame.before.push_back(*special->begin);
  if (special->end && header.flag(key("add_eos_token")).value_or(false))
    frame.after.push_back(*special->end);
  canonical_text all;
  all.say(*vocabulary);
  all.say(*merges);
  all.say("gguf");
  all.say(pre);
  all.say(header.flag(key("add_space_prefix")).value_or(false) ? "space" : "");
  all.say(*added);
  all.say(frame.before);
  all.say(frame.after);
  // Of Llama's files a piece that is a token is that token.
  auto model = make_bpe(std::move(*vocabulary), std::move(*merges),
                        {.ignore_merges = pre == "llama-bpe"}, origin);
  if (!model)
    return tl::unexpected{std::move(model.error())};
  return assemble(std::move(*model), std::move(*how), std::move(*added),
                  *special, std::move(frame), all.sum());
}

} // namespace troupe::models
