// A tokenizer.json: a model, the steps around it, and tokens that were added.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/pipeline_steps.hpp"
#include "models/language/tokenizer_parts.hpp"
#include "models/language/vocabulary_checks.hpp"

namespace troupe::models {

namespace {

/// A model, and all that its ids follow from.
struct read_model {
  std::unique_ptr<piece_model> model;
  canonical_text said;
};

result<std::vector<added_token>> added_in(const json& x,
                                          std::string_view origin) {
  std::vector<added_token> all;
  const auto* found = x.find("added_tokens");
  if (found == nullptr || found->items() == nullptr)
    return all;
  for (const auto& token : *found->items()) {
    const auto id = id_in(token.find("id"));
    const auto* text = token.find("content");
    if (!id || text == nullptr || text->text() == nullptr)
      return refuse_tokenizer(
        origin, "its added token " + std::to_string(all.size() + 1)
                  + " needs content and an id below "
                  + std::to_string(limits::vocabulary_max));
    added_token y{.text = *text->text(),
                  .id = *id,
                  .special = flag_in(token, "special", false)};
    for (const auto* rule : {"lstrip", "rstrip", "single_word"})
      if (!y.special && flag_in(token, rule, false))
        return refuse_tokenizer(
          origin, "its added token " + in_quotes(shortened(y.text)) + " has "
                    + rule
                    + ", which is read of special ones alone; "
                      "false would do");
    all.push_back(std::move(y));
  }
  if (auto ok = check_added_texts(all, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  return all;
}

/// Files leave holes in a vocabulary where the added tokens are.
void fill_holes(const std::vector<added_token>& added, vocabulary_list& xs) {
  std::set<std::string_view> texts;
  token_id end = 0;
  for (const auto& [text, id] : xs)
    end = std::max(end, id + 1);
  std::vector<bool> there(end);
  for (const auto& [text, id] : xs) {
    there[id] = true;
    texts.insert(text);
  }
  vocabulary_list missing;
  for (const auto& x : added)
    if (x.id < end && !there[x.id] && !texts.contains(x.text)) {
      there[x.id] = true;
      missing.emplace_back(x.text, x.id);
    }
  xs.insert(xs.end(), missing.begin(), missing.end());
}

result<merge_list> merges_in(const json* x, std::string_view origin) {
  merge_list all;
  const auto* items = x ? x->items() : nullptr;
  if (items == nullptr)
    return all;
  if (auto ok = check_count_of_merges(items->size(), origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  all.reserve(items->size());
  for (const auto& item : *items) {
    const auto number = all.size() + 1;
    const auto* pair = item.items();
    if (pair && pair->size() == 2 && pair->front().text()
        && pair->back().text()) {
      all.emplace_back(*pair->front().text(), *pair->back().text());
      continue;
    }
    const auto line = item.text() ? *item.text() : item.dump();
    auto merge = merge_in(line, number, origin);
    if (!merge)
      return tl::unexpected{std::move(merge.error())};
    all.push_back(std::move(*merge));
  }
  return all;
}

/// What of a BPE's options would change ids and is not read.
result<void> check_bpe(const json& x, std::string_view origin) {
  for (const auto* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const auto said = text_in(x, key, ""); !said.empty())
      return refuse_tokenizer(origin, "its model has " + std::string{key} + " "
                                        + in_quotes(shortened(said))
                                        + ", which is not read here; a "
                                          "byte-level BPE has none");
  const auto* dropout = x.find("dropout");
  if (dropout && dropout->number().value_or(0) != 0)
    return refuse_tokenizer(origin, "its model has dropout "
                                      + shortened(dropout->dump())
                                      + ", by which ids are drawn at random; "
                                        "null would do");
  return {};
}

result<read_model> read_bpe(const json& x,
                            const std::vector<added_token>& added,
                            std::string_view origin) {
  if (auto ok = check_bpe(x, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  auto vocabulary = vocabulary_in(x.find("vocab"), origin);
  if (!vocabulary)
    return tl::unexpected{std::move(vocabulary.error())};
  auto merges = merges_in(x.find("merges"), origin);
  if (!merges)
    return tl::unexpected{std::move(merges.error())};
  fill_holes(added, *vocabulary);
  bpe_rules how{.byte_fallback = flag_in(x, "byte_fallback", false),
                .fuse_unknown = flag_in(x, "fuse_unk", false),
                .ignore_merges = flag_in(x, "ignore_merges", false)};
  if (auto unknown = text_in(x, "unk_token", ""); !unknown.empty())
    how.unknown = std::move(unknown);
  read_model y;
  y.said.say(*vocabulary);
  y.said.say(*merges);
  y.said.say(how.byte_fallback ? "falls back to bytes" : "");
  y.said.say(how.fuse_unknown ? "fuses" : "");
  y.said.say(how.ignore_merges ? "ignores merges" : "");
  y.said.say(how.unknown.value_or(""));
  auto model = make_bpe(std::move(*vocabulary), std::move(*merges),
                        std::move(how), origin);
  if (!model)
    return tl::unexpected{std::move(model.error())};
  y.model = std::move(*model);
  return y;
}

result<read_model> read_wordpiece(const json& x,
                                  const std::vector<added_token>& added,
                                  std::string_view origin) {
  auto vocabulary = vocabulary_in(x.find("vocab"), origin);
  if (!vocabulary)
    return tl::unexpected{std::move(vocabulary.error())};
  fill_holes(added, *vocabulary);
  wordpiece_rules how;
  how.unknown = text_in(x, "unk_token", how.unknown);
  how.continuing = text_in(x, "continuing_subword_prefix", how.continuing);
  if (const auto* most = x.find("max_input_chars_per_word"))
    how.letters_max =
      static_cast<std::size_t>(most->count().value_or(how.letters_max));
  read_model y;
  y.said.say(*vocabulary);
  y.said.say(how.unknown);
  y.said.say(how.continuing);
  y.said.say(std::to_string(how.letters_max));
  auto model = make_wordpiece(std::move(*vocabulary), std::move(how), origin);
  if (!model)
    return tl::unexpected{std::move(model.error())};
  y.model = std::move(*model);
  return y;
}

result<read_model> read_unigram(const json& x, std::string_view origin) {
  const auto* vocab = x.find("vocab");
  const auto* items = vocab ? vocab->items() : nullptr;
  if (items == nullptr || items->empty()
      || items->size() > limits::vocabulary_max)
    return refuse_tokenizer(origin,
                            "its model has no vocabulary; a list of 1 to "
                              + std::to_string(limits::vocabulary_max)
                              + " tokens with their scores would do");
  std::vector<std::pair<std::string, double>> all;
  all.reserve(items->size());
  read_model y;
  for (const auto& item : *items) {
    const auto* pair = item.items();
    const bool whole = pair && pair->size() == 2 && pair->front().text()
                       && pair->back().number();
    if (!whole)
      return refuse_tokenizer(origin, "its token " + std::to_string(all.size())
                                        + " is " + shortened(item.dump())
                                        + "; a text and a score would do");
    all.emplace_back(*pair->front().text(), *pair->back().number());
    y.said.say(all.back().first);
    y.said.say(pair->back().dump());
  }
  const auto unknown = id_in(x.find("unk_id"));
  if (unknown && *unknown >= all.size())
    return refuse_tokenizer(origin, "its unk_id is " + std::to_string(*unknown)
                                      + ", and its vocabulary has "
                                      + std::to_string(all.size()) + " tokens");
  const bool falls_back = flag_in(x, "byte_fallback", false);
  y.said.say(unknown ? std::to_string(*unknown) : "");
  y.said.say(falls_back ? "falls back to bytes" : "");
  auto model = make_unigram(std::move(all), unknown, falls_back, origin);
  if (!model)
    return tl::unexpected{std::move(model.error())};
  y.model = std::move(*model);
  return y;
}

/// Old files do not say the kind of a BPE.
result<read_model> model_in(const json& x,
                            const std::vector<added_token>& added,
                            std::string_view origin) {
  const auto* model = x.find("model");
  if (model == nullptr || model->fields() == nullptr)
    return refuse_tokenizer(origin, "it has no 'model'; is it a "
                                    "tokenizer.json?");
  const auto kind = type_of(*model);
  if (kind == "BPE" || (kind.empty() && model->find("merges")))
    return read_bpe(*model, added, origin);
  if (kind == "WordPiece")
    return read_wordpiece(*model, added, origin);
  if (kind == "Unigram")
    return read_unigram(*model, origin);
  return refuse_kind("model", kind, origin, "BPE, WordPiece or Unigram");
}

/// A token has one id, and an id one token.
result<void> check_added(const piece_model& model,
                         const std::vector<added_token>& added,
                         std::string_view origin) {
  std::map<token_id, std::string_view> texts;
  for (const auto& x : added) {
    const auto refuse = [&](const std::string& other) {
      return refuse_tokenizer(origin,
                              "its added token " + in_quotes(shortened(x.text))
                                + " has id " + std::to_string(x.id) + ", and "
                                + other + "; one id for each would do");
    };
    const auto there = model.find(x.text);
    if (there && *there != x.id)
      return refuse("its vocabulary has it as " + std::to_string(*there));
    if (x.id < model.size() && model.text_of(x.id) != x.text)
      return refuse("that is "
                    + in_quotes(shortened(std::string{model.text_of(x.id)}))
                    + " in its vocabulary");
    const auto [at, is_new] = texts.emplace(x.id, x.text);
    if (!is_new && at->second != x.text)
      return refuse("so has " + in_quotes(shortened(at->second)));
  }
  return {};
}

result<void> check_frame(const text_frame& x, const piece_model& model,
                         const std::vector<added_token>& added,
                         std::string_view origin) {
  const auto pair = x.pair.value_or(pair_frame{});
  for (const auto* ids :
       {&x.before, &x.after, &pair.before, &pair.between, &pair.after})
    for (const auto id : *ids)
      if (id >= model.size()
          && std::none_of(added.begin(), added.end(),
                          [&](const added_token& y) { return y.id == id; }))
        return refuse_tokenizer(origin, "its post_processor names id "
                                          + std::to_string(id)
                                          + ", which is of no token");
  return {};
}

} // namespace

result<std::shared_ptr<const tokenizer>>
parse_tokenizer(const json& tokenizer_json, const special_names& said,
                std::string_view origin) {
  if (auto ok = check_kinds(tokenizer_json, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  auto added = added_in(tokenizer_json, origin);
  if (!added)
    return tl::unexpected{std::move(added.error())};
  auto read = model_in(tokenizer_json, *added, origin);
  if (!read)
    return tl::unexpected{std::move(read.error())};
  auto how = pipeline_of(tokenizer_json, origin);
  if (!how)
    return tl::unexpected{std::move(how.error())};
  auto frame = read_frame(tokenizer_json.find("post_processor"), origin);
  if (!frame)
    return tl::unexpected{std::move(frame.error())};
  if (auto ok = check_added(*read->model, *added, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  if (auto ok = check_frame(*frame, *read->model, *added, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  auto& all = read->said;
  all.say(read->model->kind());
  for (const auto* section : {"normalizer", "pre_tokenizer", "decoder"}) {
    const auto* x = tokenizer_json.find(section);
    all.say(x ? x->dump() : "null");
  }
  all.say(*added);
  all.say(frame->before);
  all.say(frame->after);
  const auto special = special_of(said, *read->model, *added);
  return assemble(std::move(read->model), std::move(*how), std::move(*added),
                  special, std::move(*frame), all.sum());
}

result<std::shared_ptr<const tokenizer>>
parse_tokenizer(const json& tokenizer_json, std::string_view origin) {
  return parse_tokenizer(tokenizer_json, special_names{}, origin);
}

} // namespace troupe::models
