#include "models/language/tokenizer_parts.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/vocabulary_checks.hpp"

namespace troupe::models {

namespace {

using names = std::initializer_list<std::string_view>;

std::optional<std::string> name_in(const json& config, names keys) {
  for (const auto key : keys) {
    const auto* found = config.find(key);
    if (found && found->fields())
      found = found->find("content");
    if (found && found->text())
      return *found->text();
  }
  return std::nullopt;
}

/// Of a name that a file says, or else of the first that is a special token.
std::optional<token_id> id_of(const std::optional<std::string>& said,
                              names usual, const piece_model& model,
                              const std::vector<added_token>& added) {
  const auto among = [&](std::string_view name) {
    return std::find_if(added.begin(), added.end(), [&](const added_token& x) {
      return x.special && x.text == name;
    });
  };
  if (said) {
    const auto found = among(*said);
    return found != added.end() ? std::optional{found->id} : model.find(*said);
  }
  for (const auto name : usual)
    if (const auto found = among(name); found != added.end())
      return found->id;
  return std::nullopt;
}

} // namespace

void canonical_text::say(std::string_view x) {
  all_ += std::to_string(x.size());
  all_ += ':';
  all_ += x;
}

void canonical_text::say(const vocabulary_list& xs) {
  std::vector<std::size_t> order(xs.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return xs[x].second < xs[y].second;
  });
  say(std::to_string(xs.size()));
  for (const auto i : order) {
    say(std::to_string(xs[i].second));
    say(xs[i].first);
  }
}

void canonical_text::say(const merge_list& xs) {
  say(std::to_string(xs.size()));
  for (const auto& [left, right] : xs) {
    say(left);
    say(right);
  }
}

void canonical_text::say(const std::vector<added_token>& xs) {
  say(std::to_string(xs.size()));
  for (const auto& x : xs) {
    say(x.text);
    say(std::to_string(x.id));
    say(x.special ? "special" : "plain");
  }
}

void canonical_text::say(std::span<const token_id> xs) {
  say(std::to_string(xs.size()));
  for (const auto x : xs)
    say(std::to_string(x));
}

digest canonical_text::sum() const {
  return digest_of(std::as_bytes(std::span{all_}));
}

special_names special_names_in(const json& config) {
  return {.begin = name_in(config, {"bos_token", "cls_token"}),
          .end = name_in(config, {"eos_token", "sep_token"}),
          .pad = name_in(config, {"pad_token"}),
          .unknown = name_in(config, {"unk_token"}),
          .mask = name_in(config, {"mask_token"})};
}

special_tokens special_of(const special_names& said, const piece_model& model,
                          const std::vector<added_token>& added) {
  special_tokens x{
    .begin = id_of(said.begin, {"<s>", "[CLS]", "<|begin_of_text|>", "<bos>"},
                   model, added),
    .end = id_of(said.end,
                 {"</s>", "[SEP]", "<|end_of_text|>", "<eos>", "<|endoftext|>"},
                 model, added),
    .pad = id_of(said.pad, {"<pad>", "[PAD]"}, model, added),
    .unknown = id_of(said.unknown, {}, model, added),
    .mask = id_of(said.mask, {"<mask>", "[MASK]"}, model, added)};
  if (!x.unknown)
    x.unknown = model.unknown();
  return x;
}

result<vocabulary_list> vocabulary_in(const json* x, std::string_view origin) {
  const auto* fields = x ? x->fields() : nullptr;
  if (fields == nullptr || fields->empty())
    return refuse_tokenizer(origin, "it has no vocabulary; an object of tokens "
                                    "and their ids would do");
  if (fields->size() > limits::vocabulary_max)
    return refuse_tokenizer(
      origin, "its vocabulary has " + std::to_string(fields->size())
                + " tokens, and at most "
                + std::to_string(limits::vocabulary_max) + " are read");
  vocabulary_list all;
  all.reserve(fields->size());
  for (const auto& [text, value] : *fields) {
    const auto id = value.count();
    if (!id || *id >= limits::vocabulary_max)
      return refuse_tokenizer(
        origin, "its token " + in_quotes(shortened(text)) + " has id "
                  + shortened(value.dump()) + "; whole numbers from 0 to "
                  + std::to_string(limits::vocabulary_max - 1) + " would do");
    all.emplace_back(text, static_cast<token_id>(*id));
  }
  return all;
}

result<std::pair<std::string, std::string>>
merge_in(std::string_view line, std::size_t number, std::string_view origin) {
  if (auto ok = check_count_of_merges(number, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  const auto space = line.find(' ');
  if (space == line.npos || space == 0 || space + 1 == line.size()
      || line.find(' ', space + 1) != line.npos)
    return refuse_tokenizer(origin,
                            "merge " + std::to_string(number) + " is "
                              + in_quotes(shortened(line))
                              + "; two tokens with a space between would do");
  return std::pair{std::string{line.substr(0, space)},
                   std::string{line.substr(space + 1)}};
}

tl::unexpected<error> refuse_id(token_id id, std::size_t size) {
  return fail(errc::invalid_data, "id " + std::to_string(id)
                                    + " is of no token; ids from 0 to "
                                    + std::to_string(size - 1)
                                    + " would do: are they of this tokenizer?");
}

tl::unexpected<error> refuse_tokenizer(std::string_view origin,
                                       const std::string& what) {
  return fail(errc::invalid_data, std::string{origin} + ": " + what);
}

} // namespace troupe::models
