// What a tokenizer.json puts around a text, or around two: its post_processor.

#include <cstdint>
#include <optional>
#include <utility>

#include "core/limits.hpp"
#include "models/language/pipeline_steps.hpp"
#include "models/language/tokenizer_parts.hpp"

namespace troupe::models {

namespace {

tl::unexpected<error> refuse_frame(std::string_view kind,
                                   std::string_view origin) {
  return refuse_tokenizer(origin, "its post_processor " + std::string{kind}
                                    + " names a token without an id");
}

/// @param what it writes
tl::unexpected<error> refuse_template(const std::string& what,
                                      std::string_view origin) {
  return refuse_tokenizer(origin,
                          "its post_processor TemplateProcessing writes " + what
                            + "; one \"Sequence\" of id \"A\" in "
                              "'single' would do");
}

/// They stand around each text.
result<void> check_count_around(std::size_t count, std::string_view origin) {
  if (count <= limits::frame_tokens_max)
    return {};
  return refuse_tokenizer(origin, "its post_processor puts more than "
                                    + std::to_string(limits::frame_tokens_max)
                                    + " tokens around a text; one or two would "
                                      "do");
}

/// What ["[CLS]", 101] names.
std::optional<token_id> named_id(const json& x, std::string_view key) {
  const auto* pair = x.find(key);
  const auto* items = pair ? pair->items() : nullptr;
  return items && items->size() == 2 ? id_in(&items->back()) : std::nullopt;
}

/// The ids of an item's token, which may be many; null: it has none.
const json* ids_named_by(const json& special, const json& of) {
  const auto* tokens = of.find("special_tokens");
  const auto* token =
    tokens ? tokens->find(text_in(special, "id", "")) : nullptr;
  const auto* ids = token ? token->find("ids") : nullptr;
  return ids && ids->items() ? ids : nullptr;
}

/// Reads the items of a template for two texts, one after the other.
class pair_reader {
public:
  /// Whether it fits what came before.
  bool add(const json& item, const json& of) {
    const auto* special = item.find("SpecialToken");
    const auto* text = item.find("Sequence");
    const auto* x = special ? special : text;
    const auto* type = x ? x->find("type_id") : nullptr;
    const auto number = type ? type->count() : std::optional<std::uint64_t>{};
    // The first text is of the first type, the second of any, and none goes
    // back.
    if (!number || *number < type_ || *number > (texts_ > 0 ? 1U : 0U)
        || (texts_ > 1 && *number != type_))
      return false;
    type_ = *number;
    return special ? add_special(*special, of) : add_text(*text);
  }

  std::optional<pair_frame> take() && {
    if (texts_ != 2)
      return std::nullopt;
    if (type_ > 0)
      made_.first_typed = first_typed_;
    return std::move(made_);
  }

private:
  bool add_special(const json& x, const json& of) {
    const auto* ids = ids_named_by(x, of);
    if (ids == nullptr)
      return false;
    auto& to = texts_ == 0   ? made_.before
               : texts_ == 1 ? made_.between
                             : made_.after;
    for (const auto& one : *ids->items()) {
      const auto id = id_in(&one);
      if (!id || to.size() == limits::frame_tokens_max)
        return false;
      to.push_back(*id);
    }
    if (texts_ == 1 && type_ == 0)
      first_typed_ = to.size();
    return true;
  }

  bool add_text(const json& x) {
    const auto* wanted = texts_ == 0 ? "A" : "B";
    return texts_++ < 2 && text_in(x, "id", "") == wanted;
  }

  pair_frame made_;
  std::size_t texts_ = 0;
  std::size_t first_typed_ = 0;
  std::uint64_t type_ = 0;
};

/// Nothing: it has none, or one that is read by nobody here.
std::optional<pair_frame> pair_in(const json& x) {
  const auto* pair = x.find("pair");
  const auto* items = pair ? pair->items() : nullptr;
  if (items == nullptr || items->size() > limits::frame_tokens_max)
    return std::nullopt;
  pair_reader reader;
  for (const auto& item : *items)
    if (!reader.add(item, x))
      return std::nullopt;
  return std::move(reader).take();
}

result<text_frame> template_in(const json& x, std::string_view origin) {
  text_frame y;
  std::size_t texts = 0; // What came so far of the text itself.
  const auto* single = x.find("single");
  y.pair = pair_in(x);
  if (single == nullptr || single->items() == nullptr)
    return y;
  if (auto ok = check_count_around(single->items()->size(), origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  for (const auto& item : *single->items()) {
    const auto* special = item.find("SpecialToken");
    if (special == nullptr) {
      const auto* text = item.find("Sequence");
      if (text && text_in(*text, "id", "A") != "A")
        return refuse_template("another text than the one", origin);
      texts += text ? 1 : 0;
      continue;
    }
    const auto* ids = ids_named_by(*special, x);
    if (ids == nullptr)
      return refuse_frame("TemplateProcessing", origin);
    if (auto ok = check_count_around(ids->items()->size(), origin); !ok)
      return tl::unexpected{std::move(ok.error())};
    for (const auto& one : *ids->items()) {
      const auto id = id_in(&one);
      if (!id)
        return refuse_frame("TemplateProcessing", origin);
      (texts > 0 ? y.after : y.before).push_back(*id);
    }
  }
  if (texts != 1)
    return refuse_template("a text " + std::to_string(texts) + " times",
                           origin);
  return y;
}

/// [CLS] a [SEP], and of two texts [CLS] a [SEP] b [SEP], the second with its
/// end of the second type.
text_frame frame_of_bert(token_id first, token_id last) {
  return {
    .before = {first},
    .after = {last},
    .pair = pair_frame{
      .before = {first}, .between = {last}, .after = {last}, .first_typed = 1}};
}

/// Adds what a post_processor puts around what is there.
result<void> add_frame(const json& x, std::string_view origin, text_frame& to) {
  const auto kind = type_of(x);
  // What several steps make of two texts nobody says.
  const bool is_first =
    to.before.empty() && to.after.empty() && !to.pair.has_value();
  text_frame y;
  if (kind == "Sequence") {
    const auto* steps = x.find("processors");
    if (steps && steps->items())
      for (const auto& step : *steps->items())
        if (auto ok = add_frame(step, origin, to); !ok)
          return ok;
    return {};
  }
  if (kind == "TemplateProcessing") {
    auto found = template_in(x, origin);
    if (!found)
      return tl::unexpected{std::move(found.error())};
    y = std::move(*found);
  } else if (kind == "BertProcessing" || kind == "RobertaProcessing") {
    const auto first = named_id(x, "cls"), last = named_id(x, "sep");
    if (!first || !last)
      return refuse_frame(kind, origin);
    y = kind == "BertProcessing" ? frame_of_bert(*first, *last)
                                 : frame_of_roberta(*first, *last);
  } else if (kind == "ByteLevel") {
    return {};
  } else {
    return refuse_kind("post_processor", kind, origin,
                       "TemplateProcessing, BertProcessing, RobertaProcessing, "
                       "ByteLevel or Sequence");
  }
  to.pair = is_first ? std::move(y.pair) : std::nullopt;
  to.before.insert(to.before.begin(), y.before.begin(), y.before.end());
  to.after.insert(to.after.end(), y.after.begin(), y.after.end());
  return check_count_around(to.before.size() + to.after.size(), origin);
}

} // namespace

text_frame frame_of_roberta(token_id first, token_id last) {
  return {.before = {first},
          .after = {last},
          .pair = pair_frame{
            .before = {first}, .between = {last, last}, .after = {last}}};
}

std::optional<token_id> id_in(const json* x) {
  const auto id = x ? x->count() : std::optional<std::uint64_t>{};
  if (!id || *id >= limits::vocabulary_max)
    return std::nullopt;
  return static_cast<token_id>(*id);
}

result<text_frame> read_frame(const json* x, std::string_view origin) {
  text_frame frame;
  if (x && x->fields())
    if (auto ok = add_frame(*x, origin, frame); !ok)
      return tl::unexpected{std::move(ok.error())};
  return frame;
}

} // namespace troupe::models
