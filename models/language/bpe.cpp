// Byte pair encoding. The letters of a piece are tokens, and of all neighbours
// that merge those whose merge was learnt first become one, the leftmost first,
// until none do.

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "models/language/piece_model.hpp"
#include "models/language/tokenizer_parts.hpp"
#include "models/language/unicode.hpp"
#include "models/language/vocabulary_checks.hpp"

namespace troupe::models {

namespace {

constexpr token_id no_token = ~token_id{0};
constexpr std::uint32_t no_rank = ~std::uint32_t{0};

struct merge {
  std::uint32_t rank = no_rank; ///< Of those that can be made the least is.
  token_id made = no_token;
};

/// A merge as it is read.
struct pair_to_merge {
  token_id left = no_token;
  token_id right = no_token;
  merge what;
};

/// Merges by what they are of. Nobody's choice of ids makes looking slow, as it
/// would in a table by hashes: those of one left token are sorted by the right.
class merge_table {
public:
  /// Of one that is there twice the later rank is kept.
  /// @param tokens that there are
  merge_table(std::vector<pair_to_merge> all, std::size_t tokens)
    : begins_(tokens + 1) {
    std::ranges::sort(all, {}, [](const pair_to_merge& x) {
      return std::tuple{x.left, x.right, x.what.rank};
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& x = all[i];
      const bool is_last = i + 1 == all.size() || all[i + 1].left != x.left
                           || all[i + 1].right != x.right;
      if (!is_last)
        continue;
      by_right_.push_back({x.right, x.what});
      ++begins_[std::size_t{x.left} + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  }

  merge find(token_id left, token_id right) const noexcept {
    const auto at = [this](token_id x) {
      return by_right_.begin() + static_cast<std::ptrdiff_t>(begins_[x]);
    };
    const auto end = at(left + 1);
    const auto found = std::lower_bound(
      at(left), end, right,
      [](const entry& x, token_id wanted) { return x.right < wanted; });
    return found != end && found->right == right ? found->what : merge{};
  }

private:
  struct entry {
    token_id right = no_token;
    merge what;
  };

  std::vector<std::uint32_t> begins_; ///< Of each left token, and the end.
  std::vector<entry> by_right_;
};

/// A token of a longer piece, in a list of those that are left.
struct link {
  token_id id = no_token;
  std::uint32_t before = no_rank; ///< `no_rank`: none.
  std::uint32_t behind = no_rank;
};

struct candidate {
  std::uint32_t rank = no_rank;
  std::uint32_t at = 0;
  token_id left = no_token; ///< What stood there when it was found.
  token_id right = no_token;
  token_id made = no_token;

  /// Whether it comes later.
  bool operator<(const candidate& x) const noexcept {
    return rank != x.rank ? rank > x.rank : at > x.at;
  }
};

class bpe final : public piece_model {
public:
  bpe(std::vector<std::string> texts, std::vector<token_id> by_text,
      merge_table merges, bpe_rules how)
    : texts_(std::move(texts)),
      by_text_(std::move(by_text)),
      merges_(std::move(merges)),
      how_(std::move(how)) {
    letters_.fill(no_token);
    for (token_id id = 0; id < texts_.size(); ++id)
      note_letter(id);
    if (how_.unknown)
      unknown_ = find(*how_.unknown);
    note_bytes();
  }

  std::string_view kind() const noexcept override {
    return "bpe";
  }

  std::size_t size() const noexcept override {
    return texts_.size();
  }

  result<void> encode(std::string_view piece,
                      std::vector<token_id>& to) const override {
    if (how_.ignore_merges)
      if (const auto whole = find(piece)) {
        to.push_back(*whole);
        return {};
      }
    const auto first = to.size();
    put_letters(piece, to);
    if (to.size() - first > few)
      merge_by_heap(to, first);
    else
      merge_by_scan(to, first);
    return {};
  }

  std::string_view text_of(token_id x) const noexcept override {
    return texts_[x];
  }

  std::optional<token_id> find(std::string_view token) const noexcept override {
    const auto found = std::lower_bound(
      by_text_.begin(), by_text_.end(), token,
      [&](token_id x, std::string_view y) { return texts_[x] < y; });
    return found != by_text_.end() && texts_[*found] == token
             ? std::optional{*found}
             : std::nullopt;
  }

  std::optional<token_id> unknown() const noexcept override {
    return unknown_;
  }

private:
  /// Up to so many tokens looking at all of them is the fastest.
  static constexpr std::size_t few = 16;

  /// Letters below are found at once: GPT-2's of bytes are, and ASCII.
  static constexpr std::size_t near = 0x180;

  void note_letter(token_id id) {
    const std::string_view text = texts_[id];
    if (text.empty() || text.size() > 2)
      return;
    const auto x = letter_at(text, 0);
    if (x.valid && x.bytes == text.size() && x.value < near)
      letters_[x.value] = id;
  }

  void note_bytes() {
    if (!how_.byte_fallback)
      return;
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::string name{
        '<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
      bytes_[byte] = find(name).value_or(no_token);
    }
  }

  /// The tokens that a piece begins as.
  void put_letters(std::string_view piece, std::vector<token_id>& to) const {
    bool was_unknown = false;
    for (std::size_t at = 0; at < piece.size();) {
      const auto x = letter_at(piece, at);
      const auto text = piece.substr(at, x.bytes);
      at += x.bytes;
      const auto id = x.valid && x.value < near ? letters_[x.value]
                                                : find(text).value_or(no_token);
      if (id != no_token) {
        to.push_back(id);
        was_unknown = false;
      } else if (!put_bytes(text, to)) {
        if (unknown_ && !(was_unknown && how_.fuse_unknown))
          to.push_back(*unknown_);
        was_unknown = true;
      } else {
        was_unknown = false;
      }
    }
  }

  /// False: not all of its bytes have a name.
  bool put_bytes(std::string_view letter, std::vector<token_id>& to) const {
    const auto id_of = [&](char c) {
      return bytes_[static_cast<unsigned char>(c)];
    };
    if (!how_.byte_fallback
        || std::any_of(letter.begin(), letter.end(),
                       [&](char c) { return id_of(c) == no_token; }))
      return false;
    for (const auto c : letter)
      to.push_back(id_of(c));
    return true;
  }

  void merge_by_scan(std::vector<token_id>& xs, std::size_t first) const {
    std::array<merge, few> with_next; ///< Of each token and the one behind it.
    auto count = xs.size() - first;
    for (std::size_t i = 0; i + 1 < count; ++i)
      with_next[i] = merges_.find(xs[first + i], xs[first + i + 1]);
    while (count > 1) {
      const auto end =
        with_next.begin() + static_cast<std::ptrdiff_t>(count - 1);
      const auto best = std::min_element(
        with_next.begin(), end,
        [](const merge& x, const merge& y) { return x.rank < y.rank; });
      if (best->rank == no_rank)
        break;
      const auto i = static_cast<std::size_t>(best - with_next.begin());
      xs[first + i] = best->made;
      xs.erase(xs.begin() + static_cast<std::ptrdiff_t>(first + i + 1));
      std::copy(best + 1, end, best);
      --count;
      if (i + 1 < count)
        with_next[i] = merges_.find(xs[first + i], xs[first + i + 1]);
      if (i > 0)
        with_next[i - 1] = merges_.find(xs[first + i - 1], xs[first + i]);
    }
  }

  void merge_by_heap(std::vector<token_id>& xs, std::size_t first) const {
    const auto count = static_cast<std::uint32_t>(xs.size() - first);
    std::vector<link> links(count);
    for (std::uint32_t i = 0; i < count; ++i)
      links[i] = {.id = xs[first + i],
                  .before = i > 0 ? i - 1 : no_rank,
                  .behind = i + 1 < count ? i + 1 : no_rank};
    std::priority_queue<candidate> waiting;
    const auto look_at = [&](std::uint32_t at) {
      if (at == no_rank || links[at].behind == no_rank)
        return;
      const auto left = links[at].id, right = links[links[at].behind].id;
      const auto x = merges_.find(left, right);
      if (x.rank != no_rank)
        waiting.push({x.rank, at, left, right, x.made});
    };
    for (std::uint32_t i = 0; i < count; ++i)
      look_at(i);
    while (!waiting.empty()) {
      const auto x = waiting.top();
      waiting.pop();
      auto& at = links[x.at];
      // What is gone, or has become another token, merges no more.
      if (at.id != x.left || at.behind == no_rank
          || links[at.behind].id != x.right)
        continue;
      auto& gone = links[at.behind];
      at.id = x.made;
      at.behind = gone.behind;
      gone.id = no_token;
      if (at.behind != no_rank)
        links[at.behind].before = x.at;
      look_at(x.at);
      look_at(at.before);
    }
    xs.resize(first);
    for (std::uint32_t i = 0; i != no_rank; i = links[i].behind)
      xs.push_back(links[i].id);
  }

  std::vector<std::string> texts_;
  std::vector<token_id> by_text_; ///< Ids, sorted by their texts.
  merge_table merges_;
  bpe_rules how_;
  std::array<token_id, near> letters_{};
  std::array<token_id, 256> bytes_{};
  std::optional<token_id> unknown_;
};

/// Texts by id. `invalid_data`: an id twice, a hole.
result<std::vector<std::string>> texts_by_id(vocabulary_list vocabulary,
                                             std::string_view origin) {
  std::vector<std::string> texts(vocabulary.size());
  std::vector<bool> there(vocabulary.size());
  for (auto& [text, id] : vocabulary) {
    if (id >= texts.size())
      return refuse_tokenizer(
        origin, "its vocabulary has " + std::to_string(texts.size())
                  + " tokens, and " + in_quotes(shortened(text)) + " has id "
                  + std::to_string(id) + "; ids from 0 without holes would do");
    if (there[id])
      return refuse_tokenizer(
        origin, "its vocabulary has id " + std::to_string(id) + " twice, for "
                  + in_quotes(shortened(texts[id])) + " and "
                  + in_quotes(shortened(text)) + "; an id for each would do");
    there[id] = true;
    texts[id] = std::move(text);
  }
  return texts;
}

result<std::vector<token_id>>
sorted_by_text(const std::vector<std::string>& texts, std::string_view origin) {
  std::vector<token_id> ids(texts.size());
  for (token_id i = 0; i < ids.size(); ++i)
    ids[i] = i;
  std::sort(ids.begin(), ids.end(), [&](token_id x, token_id y) {
    return texts[x] != texts[y] ? texts[x] < texts[y] : x < y;
  });
  for (std::size_t i = 1; i < ids.size(); ++i)
    if (texts[ids[i - 1]] == texts[ids[i]])
      return refuse_tokenizer(
        origin, "its vocabulary has " + in_quotes(shortened(texts[ids[i]]))
                  + " twice, as " + std::to_string(ids[i - 1]) + " and "
                  + std::to_string(ids[i]) + "; once would do");
  return ids;
}

} // namespace

result<std::unique_ptr<piece_model>> make_bpe(vocabulary_list vocabulary,
                                              merge_list merges, bpe_rules how,
                                              std::string_view origin) {
  if (merges.empty())
    return refuse_tokenizer(
      origin, "it has a vocabulary of " + std::to_string(vocabulary.size())
                + " tokens and no merges; the merges of the same tokenizer "
                  "would do");
  auto texts = texts_by_id(std::move(vocabulary), origin);
  if (!texts)
    return tl::unexpected{std::move(texts.error())};
  std::size_t bytes = 0;
  for (const auto& text : *texts)
    bytes += text.size();
  if (auto ok = check_bytes_of_tokens(bytes, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  auto by_text = sorted_by_text(*texts, origin);
  if (!by_text)
    return tl::unexpected{std::move(by_text.error())};
  const auto find = [&](const std::string& text) -> std::optional<token_id> {
    const auto found = std::lower_bound(
      by_text->begin(), by_text->end(), text,
      [&](token_id x, const std::string& y) { return (*texts)[x] < y; });
    return found != by_text->end() && (*texts)[*found] == text
             ? std::optional{*found}
             : std::nullopt;
  };
  if (how.unknown && !find(*how.unknown))
    return refuse_tokenizer(origin, "its unknown token "
                                      + in_quotes(shortened(*how.unknown))
                                      + " is not in its vocabulary");
  std::vector<pair_to_merge> pairs;
  pairs.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right] = merges[i];
    const auto l = find(left), r = find(right), made = find(left + right);
    if (!l || !r || !made)
      return refuse_tokenizer(
        origin, "merge " + std::to_string(i + 1) + " of "
                  + std::to_string(merges.size()) + " is of "
                  + in_quotes(shortened(left)) + " and "
                  + in_quotes(shortened(right)) + ", and its vocabulary lacks "
                  + in_quotes(shortened(!l   ? left
                                        : !r ? right
                                             : left + right))
                  + "; the merges of the same tokenizer would do");
    pairs.push_back({*l, *r, {static_cast<std::uint32_t>(i), *made}});
  }
  merge_table table{std::move(pairs), texts->size()};
  return std::make_unique<bpe>(std::move(*texts), std::move(*by_text),
                               std::move(table), std::move(how));
}

} // namespace troupe::models
