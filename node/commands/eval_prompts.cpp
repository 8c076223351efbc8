#include "node/commands/eval_prompts.hpp"

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/continuations.hpp"
#include "models/files.hpp"
#include "models/language/token_rows.hpp"
#include "models/layout.hpp"
#include "models/objective.hpp"
#include "node/task/torch_model.hpp"

namespace troupe::node {

namespace {

/// A model that writes learns of nothing.
class no_rows final : public models::token_rows {
public:
  no_rows(std::size_t context, std::uint32_t vocabulary)
    : context_(context),
      vocabulary_(vocabulary) {
    // nop
  }

  std::size_t context() const noexcept override {
    return context_;
  }

  std::uint32_t vocabulary() const noexcept override {
    return vocabulary_;
  }

  std::size_t size(models::split) const noexcept override {
    return 0;
  }

  void read(models::split, std::uint32_t, std::span<std::int32_t>,
            std::span<std::int32_t>) const override {
    TROUPE_ASSERT(!"there are no rows");
  }

private:
  std::size_t context_;
  std::uint32_t vocabulary_;
};

/// Nothing: it has another form.
std::optional<text_prompt> prompt_of(std::string_view line) {
  const auto read = json::parse(line);
  const auto* text = read ? read->find("prompt") : nullptr;
  if (text == nullptr || text->text() == nullptr)
    return {};
  text_prompt x{.text = *text->text()};
  const auto* meant = read->find("meant");
  if (meant == nullptr)
    return x;
  if (meant->items() == nullptr)
    return {};
  for (const auto& one : *meant->items()) {
    if (one.text() == nullptr)
      return {};
    x.meant.push_back(*one.text());
  }
  return x;
}

std::string place_of(const std::string& file, const text_prompt& x) {
  return file + ":" + std::to_string(x.line);
}

/// A writing model and what reads and says its tokens.
struct writer {
  const prompts_question& what;
  const models::tokenizer& by;
  models::model_continuations& model;
  models::continuation_rule how;
};

result<written_text> written_by(const writer& x, const text_prompt& of,
                                std::size_t& tokens) {
  const auto at_its_line = [&](const error& e) {
    return fail(e.code, place_of(x.what.prompts, of) + ": " + e.context);
  };
  // What the tokenizer puts before a text, and nothing behind one that goes on.
  auto ids = x.by.before();
  if (auto ok = x.by.encode(of.text, models::special_rule::as_text, ids); !ok)
    return at_its_line(ok.error());
  const auto found = x.model.go_on(ids, x.how);
  if (!found)
    return at_its_line(found.error());
  tokens += found->tokens.size();
  auto said = x.by.decode(found->tokens);
  if (!said)
    return at_its_line(said.error());
  return written_text{.of = of,
                      .said = std::move(*said),
                      .log_chance = found->log_chance,
                      .has_ended = found->has_ended};
}

result<std::vector<text_prompt>> prompts_in(const std::string& file) {
  const auto text = models::read_text(file, errc::invalid_data);
  if (!text)
    return tl::make_unexpected(text.error());
  return parse_prompts(file, *text);
}

std::optional<models::text_scores>
scores_of(const std::vector<written_text>& xs) {
  std::vector<models::said_and_meant> pairs;
  for (const auto& x : xs)
    if (!x.of.meant.empty())
      pairs.push_back({.said = x.said, .meant = x.of.meant});
  if (pairs.empty())
    return {};
  return models::score_texts(pairs);
}

std::size_t meant_among(const std::vector<written_text>& texts) {
  return static_cast<std::size_t>(std::ranges::count_if(
    texts, [](const written_text& x) { return !x.of.meant.empty(); }));
}

json to_json(const written_texts& x, const prompts_question& of) {
  auto texts = json::array();
  for (const auto& one : x.texts)
    texts.push_back(json_of_text(one));
  return {{"success", true},
          {"model", of.model},
          {"description", models::describe(x.base->spec())},
          {"digest", models::to_hex(x.base->content())},
          {"prompts", of.prompts},
          {"beam", of.beam},
          {"tokens", x.tokens},
          {"texts", std::move(texts)},
          {"scores", x.scores ? json_of_scores(*x.scores) : json{}},
          {"texts_scored", meant_among(x.texts)},
          {"seconds", seconds(x.took)}};
}

void print(const written_texts& x, const prompts_question& of,
           std::ostream& out) {
  out << printable(of.model) << ": " << models::describe(x.base->spec())
      << "\n\n";
  for (const auto& one : x.texts)
    out << printable(one.of.text) << "\n  > " << printable(one.said)
        << (one.has_ended ? "\n" : " …\n");
  out << '\n'
      << so_many(x.texts.size(), "text") << ", " << so_many(x.tokens, "token")
      << " in " << std::fixed << std::setprecision(1) << seconds(x.took)
      << " s, beam of " << of.beam << '\n';
  if (!x.scores)
    return;
  if (const auto some = of_how_many(x.texts); !some.empty())
    out << some << ", those with 'meant':\n";
  out << std::setprecision(4) << "BLEU " << x.scores->bleu << "  NIST "
      << x.scores->nist << "  METEOR " << x.scores->meteor
      << " (synonyms: none)  ROUGE-L " << x.scores->rouge_l << "  CIDEr "
      << x.scores->cider << "  TER " << x.scores->ter << "\nexact "
      << x.scores->exact << "  F1 " << x.scores->f1 << '\n';
}

/// What is meant has words.
bool means_nothing(const text_prompt& x) {
  return std::ranges::any_of(
    x.meant, [](const std::string& one) { return trimmed(one).empty(); });
}

} // namespace

std::string of_how_many(const std::vector<written_text>& texts) {
  const auto meant = meant_among(texts);
  return meant == texts.size() ? std::string{}
                               : "of " + std::to_string(meant) + " of "
                                   + so_many(texts.size(), "text");
}

json json_of_text(const written_text& x) {
  return {{"prompt", x.of.text},
          {"said", x.said},
          {"meant", x.of.meant},
          {"log_chance", x.log_chance},
          {"has_ended", x.has_ended}};
}

json json_of_scores(const models::text_scores& x) {
  return {{"bleu", x.bleu},
          {"nist", x.nist},
          {"meteor", x.meteor},
          {"meteor_synonyms", "none"},
          {"rouge_l", x.rouge_l},
          {"cider", x.cider},
          {"ter", x.ter},
          {"exact", x.exact},
          {"f1", x.f1}};
}

result<std::vector<text_prompt>> parse_prompts(const std::string& name,
                                               const std::string& text) {
  std::vector<text_prompt> all;
  std::string_view rest = text;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const auto end = std::min(rest.find('\n'), rest.size());
    auto said = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (said.ends_with('\r'))
      said.remove_suffix(1);
    if (trimmed(said).empty())
      continue;
    auto x = name.ends_with(".jsonl")
               ? prompt_of(said)
               : std::optional{text_prompt{.text = std::string{said}}};
    if (!x)
      return fail(errc::invalid_data,
                  name + ":" + std::to_string(line)
                    + ": is no prompt; {\"prompt\": \"…\"} would do, with "
                      "\"meant\": [\"…\"] beside it or without");
    if (means_nothing(*x))
      return fail(errc::invalid_data,
                  name + ":" + std::to_string(line)
                    + ": a text in 'meant' is empty; words in it, or no "
                      "'meant', would do");
    x->line = line;
    all.push_back(std::move(*x));
  }
  if (all.empty())
    return fail(errc::invalid_data,
                name + ": has no prompt; a line of text would do");
  return all;
}

result<written_texts> texts_of(const prompts_question& x,
                               const language_maker& make,
                               const stage_teller& now) {
  const auto prompts = prompts_in(x.prompts);
  if (!prompts)
    return tl::make_unexpected(prompts.error());
  auto base = models::open_base(x.model, models::base_storage::as_stored);
  if (!base)
    return tl::make_unexpected(base.error());
  auto by = models::load_tokenizer_for(x.model, x.tokenizer);
  if (!by)
    return tl::make_unexpected(by.error());
  const auto& spec = (*base)->spec();
  const auto vocabulary = static_cast<std::uint32_t>((*by)->size());
  const auto model =
    make({.trained = false}, *base,
         std::make_shared<const no_rows>(spec.context, vocabulary));
  if (!model)
    return fail(model.error().code, x.model + ": " + model.error().context);
  auto* writes = (*model)->continuations();
  if (writes == nullptr)
    return fail(errc::invalid_config,
                x.model + ": is " + models::describe(spec)
                  + ", which does not foretell what comes next; a gpt2 or a "
                    "llama would do");
  const auto end = (*by)->special().end;
  const writer with{.what = x,
                    .by = **by,
                    .model = *writes,
                    .how = {.beam = static_cast<std::uint32_t>(x.beam),
                            .tokens_max = static_cast<std::uint32_t>(x.tokens),
                            .end = end ? end : spec.end_token}};
  written_texts out{.base = *base, .by = *by};
  const auto begin = steady_now();
  for (const auto& one : *prompts) {
    if (now)
      now("writing after prompt " + std::to_string(out.texts.size() + 1)
          + " of " + std::to_string(prompts->size()));
    auto text = written_by(with, one, out.tokens);
    if (!text)
      return tl::make_unexpected(text.error());
    out.texts.push_back(std::move(*text));
  }
  out.took = steady_now() - begin;
  out.scores = scores_of(out.texts);
  return out;
}

exit_code eval_prompts(const prompts_question& x, bool json, streams io) {
  const auto found = told_while(
    io.err, "reading the model and the prompts",
    [&](const auto& now) { return texts_of(x, make_torch_language, now); });
  if (!found)
    return report(found.error(), json, io);
  if (json)
    io.out << to_json(*found, x).dump(2) << '\n';
  else
    print(*found, x, io.out);
  return exit_code::ok;
}

} // namespace troupe::node
