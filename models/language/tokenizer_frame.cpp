// What a tokenizer.json puts around a text: its post_processor.

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

result<text_frame> template_in(const json& x, std::string_view origin) {
  text_frame y;
  std::size_t texts = 0; // What came so far of the text itself.
  const auto* single = x.find("single");
  const auto* tokens = x.find("special_tokens");
  if (single == nullptr || single->items() == nullptr)
    return y;
  if (auto ok = check_count_around(single->items()->size(), origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  for (const auto& item : *single->items()) {
    const auto* special = item.find("SpecialToken");
    const auto name = special ? text_in(*special, "id", "") : std::string{};
    const auto* token = special && tokens ? tokens->find(name) : nullptr;
    const auto* ids = token ? token->find("ids") : nullptr;
    if (special == nullptr) {
      const auto* text = item.find("Sequence");
      if (text && text_in(*text, "id", "A") != "A")
        return refuse_template("another text than the one", origin);
      texts += text ? 1 : 0;
      continue;
    }
    if (ids == nullptr || ids->items() == nullptr)
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

/// Adds what a post_processor puts around what is there.
result<void> add_frame(const json& x, std::string_view origin, text_frame& to) {
  const auto kind = type_of(x);
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
    y = {{*first}, {*last}};
  } else if (kind != "ByteLevel") {
    return refuse_kind("post_processor", kind, origin,
                       "TemplateProcessing, BertProcessing, RobertaProcessing, "
                       "ByteLevel or Sequence");
  }
  to.before.insert(to.before.begin(), y.before.begin(), y.before.end());
  to.after.insert(to.after.end(), y.after.begin(), y.after.end());
  return check_count_around(to.before.size() + to.after.size(), origin);
}

} // namespace

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
