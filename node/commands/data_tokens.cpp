#include "node/commands/data_tokens.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/language/documents.hpp"
#include "models/language/tokenizer.hpp"
#include "models/layout.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

namespace {

using ids_of_text = std::vector<models::token_id>;

struct frequent_token {
  models::token_id id = 0;
  std::uint64_t count = 0;
};

struct token_figures {
  std::size_t bytes = 0; ///< Of texts.
  std::size_t tokens = 0;
  std::size_t decoded_bytes = 0;
  std::optional<std::uint64_t> unknown = {}; ///< None: nothing can be unknown.
  std::vector<frequent_token> frequent = {}; ///< The most frequent first.
  bool same_bytes = false;                   ///< Decoded again.
};

double tokens_per_byte(const token_figures& x) {
  return x.bytes > 0
           ? static_cast<double>(x.tokens) / static_cast<double>(x.bytes)
           : 0;
}

result<ids_of_text> encoded(const models::tokenizer& by, std::string_view text,
                            const std::string& origin) {
  ids_of_text ids;
  if (auto ok = by.encode(text, models::special_rule::as_text, ids); !ok)
    return fail(ok.error().code, origin + ": " + ok.error().context);
  return ids;
}

/// A line of ids per line of text, of which the last may have no end; of a
/// .jsonl, whose lines are texts, per text.
result<std::vector<ids_of_text>>
ids_by_line(const models::tokenizer& by, const std::vector<std::string>& texts,
            const std::string& file) {
  std::vector<ids_of_text> all;
  if (models::has_texts_as_lines(file)) {
    for (const auto& x : texts) {
      auto ids =
        encoded(by, x, file + ": text " + std::to_string(all.size() + 1));
      if (!ids)
        return tl::make_unexpected(ids.error());
      all.push_back(std::move(*ids));
    }
    return all;
  }
  std::string_view text = texts.front();
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto ids = encoded(by, text.substr(0, end),
                       file + ": line " + std::to_string(all.size() + 1));
    if (!ids)
      return tl::make_unexpected(ids.error());
    all.push_back(std::move(*ids));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::vector<frequent_token> most_frequent(const ids_of_text& ids,
                                          std::size_t size) {
  constexpr std::size_t shown_max = 5;
  std::vector<std::uint64_t> counts(size);
  for (const auto id : ids)
    if (id < size)
      ++counts[id];
  std::vector<models::token_id> order(size);
  std::iota(order.begin(), order.end(), models::token_id{0});
  const auto shown = std::min(shown_max, size);
  std::partial_sort(
    order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
    order.end(), [&](models::token_id x, models::token_id y) {
      return counts[x] != counts[y] ? counts[x] > counts[y] : x < y;
    });
  std::vector<frequent_token> all;
  for (std::size_t i = 0; i < shown && counts[order[i]] > 0; ++i)
    all.push_back({.id = order[i], .count = counts[order[i]]});
  return all;
}

result<token_figures> figures_of(const models::tokenizer& by,
                                 const std::vector<std::string>& texts,
                                 const std::string& file) {
  token_figures x{.same_bytes = true};
  ids_of_text all;
  for (const auto& text : texts) {
    const auto ids = encoded(by, text, file);
    if (!ids)
      return tl::make_unexpected(ids.error());
    const auto back = by.decode(*ids);
    if (!back)
      return fail(back.error().code, file + ": " + back.error().context);
    x.bytes += text.size();
    x.decoded_bytes += back->size();
    x.same_bytes = x.same_bytes && *back == text;
    all.insert(all.end(), ids->begin(), ids->end());
  }
  x.tokens = all.size();
  if (const auto unknown = by.special().unknown)
    x.unknown = static_cast<std::uint64_t>(std::ranges::count(all, *unknown));
  x.frequent = most_frequent(all, by.size());
  return x;
}

json described(const models::tokenizer& by) {
  return {{"kind", by.kind()},
          {"size", by.size()},
          {"digest", models::to_hex(by.content())}};
}

json to_json(const token_figures& x, const models::tokenizer& by) {
  auto frequent = json::array();
  for (const auto& token : x.frequent)
    frequent.push_back({{"id", token.id},
                        {"text", by.text_of(token.id)},
                        {"count", token.count}});
  return {{"success", true},
          {"tokenizer", described(by)},
          {"bytes", x.bytes},
          {"tokens", x.tokens},
          {"tokens_per_byte", tokens_per_byte(x)},
          {"unknown", x.unknown ? json(*x.unknown) : json(nullptr)},
          {"frequent", std::move(frequent)},
          {"same_bytes", x.same_bytes},
          {"decoded_bytes", x.decoded_bytes}};
}

void print(const token_figures& x, const models::tokenizer& by,
           const std::string& file, std::ostream& out) {
  out << printable(file) << ": " << x.bytes << " bytes\n  tokenizer  "
      << by.kind() << " of " << by.size() << " tokens, "
      << models::to_hex(by.content()) << "\n  tokens     " << x.tokens << ", "
      << std::fixed << std::setprecision(3) << tokens_per_byte(x)
      << " of a byte\n  unknown    ";
  if (x.unknown)
    out << *x.unknown;
  else
    out << (x.same_bytes ? "none can be" : "no token says so");
  out << "\n  frequent  ";
  for (const auto& token : x.frequent)
    out << ' ' << in_quotes(by.text_of(token.id)) << ' ' << token.count
        << (&token == &x.frequent.back() ? "" : ",");
  out << "\n  decoded    to " << (x.same_bytes ? "the same" : "other")
      << " bytes";
  if (x.decoded_bytes < x.bytes)
    out << ", " << x.bytes - x.decoded_bytes << " fewer";
  out << '\n';
}

exit_code say_ids(const models::tokenizer& by,
                  const std::vector<std::string>& texts,
                  const std::string& file, bool in_json, streams io) {
  const auto lines = ids_by_line(by, texts, file);
  if (!lines)
    return report(lines.error(), in_json, io);
  if (in_json) {
    auto all = json::array();
    for (const auto& ids : *lines)
      all.push_back(ids);
    io.out << json{{"success", true},
                   {"tokenizer", described(by)},
                   {"ids", std::move(all)}}
                .dump()
           << '\n';
    return exit_code::ok;
  }
  for (const auto& ids : *lines) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      io.out << (i > 0 ? " " : "") << ids[i];
    io.out << '\n';
  }
  return exit_code::ok;
}

} // namespace

exit_code data_tokens(const std::string& file, const std::string& tokenizer,
                      bool ids, bool json, streams io) {
  const auto by = models::load_tokenizer(tokenizer);
  if (!by)
    return report(by.error(), json, io);
  const auto texts = models::texts_in(file);
  if (!texts)
    return report(texts.error(), json, io);
  if (std::ranges::all_of(*texts,
                          [](const std::string& x) { return x.empty(); }))
    return report(
      {errc::invalid_data, file + ": has no text; a file with some would do"},
      json, io);
  if (ids)
    return say_ids(**by, *texts, file, json, io);
  const auto figures =
    told_while(io.err, "making tokens of the text",
               [&](const auto&) { return figures_of(**by, *texts, file); });
  if (!figures)
    return report(figures.error(), json, io);
  if (json)
    io.out << to_json(*figures, **by).dump(2) << '\n';
  else
    print(*figures, **by, file, io.out);
  return exit_code::ok;
}

} // namespace troupe::node
