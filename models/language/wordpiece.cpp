#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "models/language/piece_model.hpp"
#include "models/language/prefix_tree.hpp"
#include "models/language/unicode.hpp"
#include "models/language/vocabulary_checks.hpp"

namespace troupe::models {

namespace {

std::size_t letters_in(std::string_view x) noexcept {
  std::size_t n = 0;
  for (std::size_t at = 0; at < x.size(); ++n)
    at += letter_at(x, at).bytes;
  return n;
}

/// The longest token that a word begins with, then the longest continuing one
/// that the rest begins with, and so on; where there is none, all of the word
/// is unknown.
class wordpiece final : public piece_model {
public:
  wordpiece(std::vector<std::string> texts, prefix_tree tree, token_id unknown,
            const wordpiece_rules& how)
    : texts_(std::move(texts)),
      tree_(std::move(tree)),
      unknown_(unknown),
      continuing_(tree_.after(how.continuing)),
      letters_max_(how.letters_max) {
    // nop
  }

  std::string_view kind() const noexcept override {
    return "wordpiece";
  }

  std::size_t size() const noexcept override {
    return texts_.size();
  }

  result<void> encode(std::string_view piece,
                      std::vector<token_id>& to) const override {
    const auto before = to.size();
    bool known = letters_in(piece) <= letters_max_;
    for (std::size_t at = 0; at < piece.size() && known;) {
      const auto found = tree_.longest(
        at == 0 ? prefix_tree::root : continuing_, piece.substr(at));
      to.push_back(found.id);
      at += found.bytes;
      known = found.bytes > 0;
    }
    if (!known) {
      to.resize(before);
      to.push_back(unknown_);
    }
    return {};
  }

  std::string_view text_of(token_id x) const noexcept override {
    return texts_[x];
  }

  std::optional<token_id> find(std::string_view token) const noexcept override {
    return tree_.find(token);
  }

  std::optional<token_id> unknown() const noexcept override {
    return unknown_;
  }

private:
  std::vector<std::string> texts_;
  prefix_tree tree_;
  token_id unknown_;
  prefix_tree::place continuing_; ///< Where the rest of a word begins.
  std::size_t letters_max_;
};

/// Their texts by id.
result<std::vector<std::string>> texts_of(vocabulary_list vocabulary,
                                          std::string_view origin) {
  if (auto ok = check_count_of_tokens(vocabulary.size(), origin); !ok)
    return tl::make_unexpected(ok.error());
  std::vector<std::string> texts(vocabulary.size());
  std::vector<bool> known(vocabulary.size());
  std::size_t bytes = 0;
  for (auto& [text, id] : vocabulary) {
    if (id >= texts.size())
      return fail(errc::invalid_data,
                  std::string{origin} + ": " + in_quotes(shortened(text))
                    + " has id " + std::to_string(id) + ", and there are "
                    + std::to_string(texts.size())
                    + " tokens; ids without holes would do");
    if (known[id])
      return fail(errc::invalid_data,
                  std::string{origin} + ": " + in_quotes(shortened(texts[id]))
                    + " and " + in_quotes(shortened(text))
                    + " have the same id " + std::to_string(id)
                    + "; ids of their own would do");
    if (auto ok = check_token(id, text, origin); !ok)
      return tl::make_unexpected(ok.error());
    known[id] = true;
    bytes += text.size();
    texts[id] = std::move(text);
  }
  if (auto ok = check_bytes_of_tokens(bytes, origin); !ok)
    return tl::make_unexpected(ok.error());
  return texts;
}

prefix_tree tree_of(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string_view, token_id>> all;
  all.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    all.emplace_back(texts[i], static_cast<token_id>(i));
  return prefix_tree{std::move(all)};
}

} // namespace

result<std::unique_ptr<piece_model>> make_wordpiece(vocabulary_list vocabulary,
                                                    wordpiece_rules how,
                                                    std::string_view origin) {
  auto texts = texts_of(std::move(vocabulary), origin);
  if (!texts)
    return tl::make_unexpected(texts.error());
  auto tree = tree_of(*texts);
  for (std::size_t i = 0; i < texts->size(); ++i)
    if (const auto other = tree.find((*texts)[i]); other != token_id(i))
      return fail(errc::invalid_data,
                  std::string{origin} + ": " + in_quotes(shortened((*texts)[i]))
                    + " has the ids " + std::to_string(i) + " and "
                    + std::to_string(other.value_or(0)) + "; one would do");
  const auto unknown = tree.find(how.unknown);
  if (!unknown)
    return fail(errc::invalid_data,
                std::string{origin} + ": the vocabulary has no "
                  + in_quotes(how.unknown)
                  + ", which stands for a word that it cannot say; one with it "
                    "would do");
  return std::make_unique<wordpiece>(std::move(*texts), std::move(tree),
                                     *unknown, how);
}

} // namespace troupe::models
