#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/piece_model.hpp"
#include "models/language/prefix_tree.hpp"
#include "models/language/unicode.hpp"
#include "models/language/vocabulary_checks.hpp"

namespace troupe::models {

namespace {

using scored_list = std::vector<std::pair<std::string, double>>;

/// An unknown letter is worth so much less than the worst token.
constexpr double unknown_penalty = 10;

/// The tokens in a row whose scores add up to most (Viterbi). A letter that no
/// token is of alone may be unknown; unknown letters beside each other are one
/// token, or one for each of their bytes.
class unigram final : public piece_model {
public:
  unigram(scored_list vocabulary, prefix_tree tree,
          std::optional<token_id> unknown, bool byte_fallback)
    : vocabulary_(std::move(vocabulary)),
      tree_(std::move(tree)),
      unknown_(unknown) {
    double least = vocabulary_.front().second;
    for (const auto& x : vocabulary_)
      least = std::min(least, x.second);
    unknown_score_ = least - unknown_penalty;
    if (!byte_fallback)
      return;
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      bytes_[i] =
        tree_.find(std::string{"<0x"} + digits[i / 16] + digits[i % 16] + ">");
  }

  std::string_view kind() const noexcept override {
    return "unigram";
  }

  std::size_t size() const noexcept override {
    return vocabulary_.size();
  }

  result<void> encode(std::string_view piece,
                      std::vector<token_id>& to) const override {
    if (piece.size() > limits::piece_bytes_max)
      return fail(errc::invalid_data,
                  "a piece has " + std::to_string(piece.size())
                    + " bytes; spaces that part it into at most "
                    + std::to_string(limits::piece_bytes_max) + " would do");
    const auto steps = best_steps(piece);
    if (!steps)
      return tl::make_unexpected(steps.error());
    append(piece, *steps, to);
    return {};
  }

  std::string_view text_of(token_id x) const noexcept override {
    return vocabulary_[x].first;
  }

  std::optional<token_id> find(std::string_view token) const noexcept override {
    return tree_.find(token);
  }

  std::optional<token_id> unknown() const noexcept override {
    return unknown_;
  }

private:
  /// The last step of the best way to some byte.
  struct step {
    double score = 0; ///< Of all of the way.
    std::size_t begin = 0;
    token_id id = 0;
    bool reached = false;
  };

  /// Of equals the one that was there first, whose last token is the longer.
  static void improve(step& x, const step& by) noexcept {
    if (!x.reached || by.score > x.score)
      x = by;
  }

  result<std::vector<step>> best_steps(std::string_view piece) const {
    std::vector<step> to(piece.size() + 1);
    for (std::size_t at = 0; at < piece.size();) {
      const auto letter = letter_at(piece, at).bytes;
      bool alone = false; // There is a token of this letter.
      auto place = prefix_tree::root;
      for (auto end = at; end < piece.size();) {
        place = tree_.next(place, piece[end++]);
        if (place == prefix_tree::nowhere)
          break;
        const auto id = tree_.ends(place);
        if (!id)
          continue;
        alone = alone || end - at == letter;
        improve(to[end], {.score = to[at].score + vocabulary_[*id].second,
                          .begin = at,
                          .id = *id,
                          .reached = true});
      }
      if (!alone && !unknown_)
        return fail(errc::invalid_data,
                    in_quotes(piece.substr(at, letter))
                      + " is no token, and there is none for what is unknown; "
                        "a vocabulary with one would do");
      if (!alone)
        improve(to[at + letter], {.score = to[at].score + unknown_score_,
                                  .begin = at,
                                  .id = *unknown_,
                                  .reached = true});
      at += letter;
    }
    return to;
  }

  void append(std::string_view piece, const std::vector<step>& steps,
              std::vector<token_id>& to) const {
    std::vector<std::pair<std::size_t, token_id>> way; // From the end.
    for (auto end = piece.size(); end > 0; end = steps[end].begin)
      way.emplace_back(steps[end].begin, steps[end].id);
    for (auto at = way.rbegin(); at != way.rend();) {
      const auto [begin, id] = *at;
      const bool known = id != unknown_;
      ++at;
      while (!known && at != way.rend() && at->second == unknown_)
        ++at;
      const auto end = at == way.rend() ? piece.size() : at->first;
      if (known)
        to.push_back(id);
      else
        append_unknown(piece.substr(begin, end - begin), to);
    }
  }

  void append_unknown(std::string_view text, std::vector<token_id>& to) const {
    const auto of_byte = [this](char x) {
      return bytes_[static_cast<unsigned char>(x)];
    };
    if (const auto id = tree_.find(text))
      to.push_back(*id); // Somebody wrote what stands for the unknown.
    else if (std::ranges::all_of(
               text, [&](char x) { return of_byte(x).has_value(); }))
      for (const auto x : text)
        to.push_back(*of_byte(x));
    else
      to.push_back(*unknown_);
  }

  scored_list vocabulary_;
  prefix_tree tree_;
  std::optional<token_id> unknown_;
  double unknown_score_ = 0;
  std::array<std::optional<token_id>, 256> bytes_{}; ///< None: no fallback.
};

result<void> check(const scored_list& vocabulary,
                   std::optional<token_id> unknown, std::string_view origin) {
  if (auto ok = check_count_of_tokens(vocabulary.size(), origin); !ok)
    return ok;
  if (unknown && *unknown >= vocabulary.size())
    return fail(errc::invalid_data,
                std::string{origin} + ": unk_id is " + std::to_string(*unknown)
                  + ", and there are " + std::to_string(vocabulary.size())
                  + " tokens; the id of one of them would do");
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    bytes += vocabulary[i].first.size();
    if (auto ok = check_token(i, vocabulary[i].first, origin); !ok)
      return ok;
    if (!std::isfinite(vocabulary[i].second))
      return fail(errc::invalid_data,
                  std::string{origin} + ": token " + std::to_string(i) + ", "
                    + in_quotes(shortened(vocabulary[i].first))
                    + ", has a score that is not finite; the logarithm of how "
                      "probable it is would do");
  }
  return check_bytes_of_tokens(bytes, origin);
}

} // namespace

result<std::unique_ptr<piece_model>>
make_unigram(std::vector<std::pair<std::string, double>> vocabulary,
             std::optional<token_id> unknown, bool byte_fallback,
             std::string_view origin) {
  if (auto ok = check(vocabulary, unknown, origin); !ok)
    return tl::make_unexpected(ok.error());
  std::vector<std::pair<std::string_view, token_id>> all;
  all.reserve(vocabulary.size());
  for (std::size_t i = 0; i < vocabulary.size(); ++i)
    all.emplace_back(vocabulary[i].first, static_cast<token_id>(i));
  prefix_tree tree{std::move(all)};
  return std::make_unique<unigram>(std::move(vocabulary), std::move(tree),
                                   unknown, byte_fallback);
}

} // namespace troupe::models
