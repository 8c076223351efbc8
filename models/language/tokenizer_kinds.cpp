// Of which kinds the values of a tokenizer.json are. One of another kind would
// be read as if nobody had said it, and text would be cut by a guess.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/language/pipeline_steps.hpp"
#include "models/language/tokenizer_parts.hpp"

namespace troupe::models {

namespace {

enum class form : std::uint8_t { text, flag, number, whole, list, object };

struct wanted_value {
  std::string_view of; ///< What type has the key.
  std::string_view key;
  form what = form::text;
  bool or_null = false; ///< The reference takes it for nothing said.
};

constexpr std::array wanted_values{
  wanted_value{"BPE", "vocab", form::object},
  wanted_value{"BPE", "merges", form::list},
  wanted_value{"BPE", "dropout", form::number, true},
  wanted_value{"BPE", "unk_token", form::text, true},
  wanted_value{"BPE", "continuing_subword_prefix", form::text, true},
  wanted_value{"BPE", "end_of_word_suffix", form::text, true},
  wanted_value{"BPE", "fuse_unk", form::flag, true},
  wanted_value{"BPE", "byte_fallback", form::flag, true},
  wanted_value{"BPE", "ignore_merges", form::flag, true},
  wanted_value{"WordPiece", "vocab", form::object},
  wanted_value{"WordPiece", "unk_token", form::text},
  wanted_value{"WordPiece", "continuing_subword_prefix", form::text},
  wanted_value{"WordPiece", "max_input_chars_per_word", form::whole},
  wanted_value{"Unigram", "vocab", form::list},
  wanted_value{"Unigram", "unk_id", form::whole, true},
  wanted_value{"Unigram", "byte_fallback", form::flag},
  wanted_value{"BertNormalizer", "clean_text", form::flag},
  wanted_value{"BertNormalizer", "handle_chinese_chars", form::flag},
  wanted_value{"BertNormalizer", "strip_accents", form::flag, true},
  wanted_value{"BertNormalizer", "lowercase", form::flag},
  wanted_value{"Strip", "strip_left", form::flag},
  wanted_value{"Strip", "strip_right", form::flag},
  wanted_value{"Strip", "content", form::text},
  wanted_value{"Strip", "start", form::whole},
  wanted_value{"Strip", "stop", form::whole},
  wanted_value{"Prepend", "prepend", form::text},
  wanted_value{"Precompiled", "precompiled_charsmap", form::text},
  wanted_value{"Replace", "pattern", form::object},
  wanted_value{"Replace", "content", form::text},
  wanted_value{"ByteLevel", "add_prefix_space", form::flag},
  wanted_value{"ByteLevel", "use_regex", form::flag},
  wanted_value{"Split", "pattern", form::object},
  wanted_value{"Split", "behavior", form::text},
  wanted_value{"Split", "invert", form::flag},
  wanted_value{"Digits", "individual_digits", form::flag},
  wanted_value{"Punctuation", "behavior", form::text},
  wanted_value{"CharDelimiterSplit", "delimiter", form::text},
  wanted_value{"Metaspace", "replacement", form::text},
  wanted_value{"Metaspace", "prepend_scheme", form::text},
  wanted_value{"Metaspace", "add_prefix_space", form::flag, true},
  wanted_value{"Metaspace", "split", form::flag, true},
  wanted_value{"WordPiece", "prefix", form::text},
  wanted_value{"WordPiece", "cleanup", form::flag},
  wanted_value{"BPEDecoder", "suffix", form::text},
  wanted_value{"TemplateProcessing", "single", form::list},
  wanted_value{"TemplateProcessing", "pair", form::list, true},
  wanted_value{"TemplateProcessing", "special_tokens", form::object},
};

bool is_of(form what, const json& x) {
  switch (what) {
    case form::text:
      return x.text() != nullptr;
    case form::flag:
      return x.flag().has_value();
    case form::number:
      return x.number().has_value();
    case form::whole:
      return x.count().has_value();
    case form::list:
      return x.items() != nullptr;
    case form::object:
      return x.fields() != nullptr;
  }
  return false;
}

std::string_view name_of(form what) {
  switch (what) {
    case form::text:
      return "a text";
    case form::flag:
      return "true or false";
    case form::number:
      return "a number";
    case form::whole:
      return "a whole number from 0";
    case form::list:
      return "a list";
    case form::object:
      return "an object";
  }
  return "";
}

bool is_null(const json& x) {
  return x.dump() == "null";
}

class kind_checker {
public:
  explicit kind_checker(std::string_view origin) : origin_(origin) {
    // nop
  }

  /// A model, or a step. @pre it is an object
  result<void> members(const json& x, const std::string& where) const {
    if (auto ok = member(x, where, {"", "type", form::text}); !ok)
      return ok;
    // Old files do not say the kind of a BPE.
    const auto said = type_of(x);
    const auto type = said.empty() ? std::string_view{"BPE"} : said;
    for (const auto& y : wanted_values)
      if (y.of == type)
        if (auto ok = member(x, where, y); !ok)
          return ok;
    return {};
  }

  /// @param parts the key under which a sequence has its steps
  result<void> steps(const json& x, const std::string& where,
                     std::string_view parts) const {
    if (x.fields() == nullptr)
      return refuse(where, x, form::object);
    if (auto ok = members(x, where); !ok || type_of(x) != "Sequence")
      return ok;
    const auto there = where + '.' + std::string{parts};
    const auto* found = x.find(parts);
    if (found == nullptr)
      return refuse_tokenizer(origin_, in_quotes(there)
                                         + " is not there; a list would do");
    if (found->items() == nullptr)
      return refuse(there, *found, form::list);
    for (std::size_t i = 0; i < found->items()->size(); ++i)
      if (auto ok = steps((*found->items())[i],
                          there + '[' + std::to_string(i) + ']', parts);
          !ok)
        return ok;
    return {};
  }

  result<void> added(const json& x) const {
    if (x.items() == nullptr)
      return refuse("added_tokens", x, form::list);
    std::size_t i = 0;
    for (const auto& token : *x.items()) {
      const auto where = "added_tokens[" + std::to_string(i++) + ']';
      for (const auto key : {"special", "lstrip", "rstrip", "single_word"})
        if (auto ok = member(token, where, {"", key, form::flag}); !ok)
          return ok;
    }
    return {};
  }

private:
  result<void> member(const json& in, const std::string& where,
                      const wanted_value& wanted) const {
    const auto* found = in.find(wanted.key);
    if (found == nullptr || is_of(wanted.what, *found)
        || (wanted.or_null && is_null(*found)))
      return {};
    return refuse(where + '.' + std::string{wanted.key}, *found, wanted.what,
                  wanted.or_null);
  }

  tl::unexpected<error> refuse(const std::string& where, const json& found,
                               form what, bool or_null = false) const {
    return refuse_tokenizer(origin_,
                            in_quotes(where) + " is " + shortened(found.dump())
                              + "; " + std::string{name_of(what)}
                              + (or_null ? ", or null," : "") + " would do");
  }

  std::string_view origin_;
};

} // namespace

result<void> check_kinds(const json& tokenizer_json, std::string_view origin) {
  const kind_checker check{origin};
  const auto* model = tokenizer_json.find("model");
  if (model != nullptr && model->fields() != nullptr)
    if (auto ok = check.members(*model, "model"); !ok)
      return ok;
  constexpr std::array sections{
    std::pair{"normalizer", "normalizers"},
    std::pair{"pre_tokenizer", "pretokenizers"},
    std::pair{"post_processor", "processors"},
    std::pair{"decoder", "decoders"},
  };
  for (const auto& [section, parts] : sections)
    if (const auto* x = tokenizer_json.find(section);
        x != nullptr && !is_null(*x))
      if (auto ok = check.steps(*x, section, parts); !ok)
        return ok;
  const auto* added = tokenizer_json.find("added_tokens");
  return added != nullptr ? check.added(*added) : result<void>{};
}

} // namespace troupe::models
