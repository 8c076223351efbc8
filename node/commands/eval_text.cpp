#include "node/commands/eval_text.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "models/language/documents.hpp"
#include "models/language/token_ids.hpp"
#include "models/language/token_rows.hpp"
#include "models/layout.hpp"
#include "node/task/language_model.hpp"
#include "node/task/torch_model.hpp"

namespace troupe::node {

namespace {

constexpr std::size_t context_unless_said = 1024;

/// A text's windows without overlap, each beginning with the last token that
/// the one before foretold. What is left at the end is a window that is padded.
class windows_of_text final : public models::token_rows {
public:
  /// @pre ids.size() > context
  windows_of_text(models::token_ids ids, std::size_t context,
                  std::uint32_t vocabulary, stage_teller now)
    : ids_(std::move(ids)),
      context_(context),
      vocabulary_(vocabulary),
      now_(std::move(now)) {
    // nop
  }

  std::size_t context() const noexcept override {
    return context_;
  }

  std::uint32_t vocabulary() const noexcept override {
    return vocabulary_;
  }

  std::size_t size(models::split part) const noexcept override {
    return part == models::split::test
             ? (ids_.size() - 1 + context_ - 1) / context_
             : 0;
  }

  void read(models::split part, std::uint32_t row, std::span<std::int32_t> ids,
            std::span<std::int32_t> targets) const override {
    TROUPE_ASSERT(row < size(part));
    if (now_)
      now_("foretelling window " + std::to_string(row + 1) + " of "
           + std::to_string(size(part)));
    const auto first = row * context_;
    const auto there = std::min(context_, ids_.size() - 1 - first);
    ids_.read(first, ids.first(there));
    ids_.read(first + 1, targets.first(there));
    std::ranges::fill(ids.subspan(there), -1);
    std::ranges::fill(targets.subspan(there), -1);
  }

private:
  models::token_ids ids_;
  std::size_t context_;
  std::uint32_t vocabulary_;
  stage_teller now_;
};

struct tokens_of_text {
  std::vector<models::token_id> ids;
  std::size_t bytes = 0;
  std::size_t decoded_bytes = 0;
};

/// Of a .jsonl its texts, one behind the other.
result<tokens_of_text> tokens_of(const std::string& file,
                                 const models::tokenizer& by) {
  const auto texts = models::texts_in(file, models::letter_rule::utf8);
  if (!texts)
    return tl::make_unexpected(texts.error());
  tokens_of_text out;
  for (const auto& text : *texts) {
    std::vector<models::token_id> ids;
    if (auto ok = by.encode(text, models::special_rule::as_text, ids); !ok)
      return fail(ok.error().code, file + ": " + ok.error().context);
    const auto back = by.decode(ids);
    if (!back)
      return fail(back.error().code, file + ": " + back.error().context);
    out.bytes += text.size();
    out.decoded_bytes += back->size();
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
  }
  return out;
}

/// Nobody has a window longer than the text but who said so.
result<std::size_t> context_for(const text_question& x, std::size_t tokens,
                                std::size_t context_max) {
  if (x.context > 0 && tokens <= x.context)
    return fail(errc::invalid_data,
                x.text + ": has " + so_many(tokens, "token")
                  + ", and a window of " + std::to_string(x.context)
                  + " has one more to foretell; more text or a smaller "
                    "--context would do");
  if (tokens < 2)
    return fail(errc::invalid_data,
                x.text + ": has " + so_many(tokens, "token")
                  + ", and none is foretold but from one before it; more text "
                    "would do");
  return x.context > 0
           ? x.context
           : std::min({context_max, context_unless_said, tokens - 1});
}

std::string words_of_loss(double x) {
  return std::isnan(x) ? "no number" : "beyond all numbers";
}

json to_json(const text_worth& x, const text_question& of) {
  json tokenizer{{"kind", x.by->kind()},
                 {"size", x.by->size()},
                 {"digest", models::to_hex(x.by->content())}};
  return {{"success", true},
          {"model", of.model},
          {"description", models::describe(x.base->spec())},
          {"digest", models::to_hex(x.base->content())},
          {"tokenizer", std::move(tokenizer)},
          {"text", of.text},
          {"context", x.context},
          {"bytes", x.bytes},
          {"decoded_bytes", x.decoded_bytes},
          {"tokens", x.tokens},
          {"foretold", x.scores.count},
          {"loss", x.scores.mean_loss()},
          {"perplexity", x.scores.perplexity()},
          {"seconds", seconds(x.took)}};
}

void print(const text_worth& x, const text_question& of, std::ostream& out) {
  out << printable(of.model) << ": " << models::describe(x.base->spec())
      << "\n  text        " << printable(of.text) << "\n  tokens      "
      << x.tokens << ", by " << x.by->kind() << " of " << x.by->size()
      << ", in windows of " << x.context;
  if (x.decoded_bytes < x.bytes)
    out << "\n  left out    " << x.bytes - x.decoded_bytes << " of " << x.bytes
        << " bytes, which no token says";
  out << std::fixed << std::setprecision(4) << "\n  scored      "
      << x.scores.count << " of " << x.tokens << " tokens\n  loss        "
      << x.scores.mean_loss() << " nats, the mean of " << x.scores.count
      << "\n  perplexity  " << x.scores.perplexity() << std::setprecision(1)
      << "\n  seconds     " << seconds(x.took) << '\n';
}

} // namespace

result<text_worth> worth_of(const text_question& x, const language_maker& make,
                            const stage_teller& now) {
  // As the file has it: the same values in less memory.
  auto base = models::open_base(x.model, models::base_storage::as_stored);
  if (!base)
    return tl::make_unexpected(base.error());
  const auto& spec = (*base)->spec();
  if (auto ok = check_is_causal(spec, x.model); !ok)
    return tl::make_unexpected(ok.error());
  auto by = models::load_tokenizer_for(x.model, x.tokenizer);
  if (!by)
    return tl::make_unexpected(by.error());
  const auto found_in = tokens_of(x.text, **by);
  if (!found_in)
    return tl::make_unexpected(found_in.error());
  const auto* ids = &found_in->ids;
  const auto context = context_for(x, ids->size(), spec.context);
  if (!context)
    return tl::make_unexpected(context.error());
  text_worth out{.base = *base,
                 .by = *by,
                 .context = *context,
                 .tokens = ids->size(),
                 .bytes = found_in->bytes,
                 .decoded_bytes = found_in->decoded_bytes};
  const auto windows = std::make_shared<const windows_of_text>(
    models::token_ids{*ids}, out.context,
    static_cast<std::uint32_t>((*by)->size()), now);
  const auto of_model = [&](const error& e) {
    return fail(e.code, x.model + ": " + e.context);
  };
  auto model = make({.trained = false}, std::move(*base), windows);
  if (!model)
    return of_model(model.error());
  std::vector<std::uint32_t> rows(windows->size(models::split::test));
  std::iota(rows.begin(), rows.end(), 0u);
  const auto begin = steady_now();
  const auto found = (*model)->evaluate(models::split::test, rows);
  if (!found)
    return of_model(found.error());
  out.scores = *found;
  out.took = steady_now() - begin;
  if (!std::isfinite(out.scores.loss))
    return of_model({errc::invalid_data,
                     "the loss on " + x.text + " is "
                       + words_of_loss(out.scores.loss)
                       + ", which is no worth; weights of a model that has not "
                         "diverged would do"});
  return out;
}

exit_code eval_text(const std::string& model, const std::string& text,
                    const std::string& tokenizer, std::size_t context,
                    bool json, streams io) {
  const text_question question{
    .model = model, .text = text, .tokenizer = tokenizer, .context = context};
  const auto found =
    told_while(io.err, "reading the model and the text", [&](const auto& now) {
      return worth_of(question, make_torch_language, now);
    });
  if (!found)
    return report(found.error(), json, io);
  if (json)
    io.out << to_json(*found, question).dump(2) << '\n';
  else
    print(*found, question, io.out);
  return exit_code::ok;
}

} // namespace troupe::node
