#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "models/language/pipeline_steps.hpp"
#include "models/language/prefix_tree.hpp"
#include "models/language/token_pipeline.hpp"
#include "models/language/tokenizer_parts.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

/// Beside which some may be long.
constexpr std::size_t few_ids = 64;

/// Pieces that a text had before, and their ids. Those that came first stay:
/// frequent ones come early.
class piece_memory {
public:
  /// @param bytes of the text
  explicit piece_memory(std::size_t bytes) {
    if (bytes < 256) // Making room would take longer.
      return;
    std::size_t places = 64;
    while (places < places_max && places < bytes / 4)
      places *= 2;
    places_.resize(places);
  }

  /// Appends the ids of a piece that it knows.
  bool recall(std::string_view piece, std::vector<token_id>& to) const {
    if (!remembers(piece))
      return false;
    const auto& x = places_[place_of(piece)];
    if (x.piece != piece)
      return false;
    const auto first = ids_.begin() + static_cast<std::ptrdiff_t>(x.first);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(x.count));
    return true;
  }

  void note(std::string_view piece, std::span<const token_id> ids) {
    if (!remembers(piece))
      return;
    auto& x = places_[place_of(piece)];
    if (!x.piece.empty())
      return;
    x = {std::string{piece}, ids_.size(), ids.size()};
    ids_.insert(ids_.end(), ids.begin(), ids.end());
  }

private:
  static constexpr std::size_t places_max = 1 << 16;
  static constexpr std::size_t bytes_max = 64; ///< Longer ones seldom return.

  struct remembered {
    std::string piece; ///< Empty: nothing is.
    std::size_t first = 0, count = 0;
  };

  bool remembers(std::string_view piece) const noexcept {
    return !places_.empty() && !piece.empty() && piece.size() <= bytes_max;
  }

  std::size_t place_of(std::string_view piece) const noexcept {
    return std::hash<std::string_view>{}(piece) & (places_.size() - 1);
  }

  std::vector<remembered> places_;
  std::vector<token_id> ids_;
};

/// Letters that a byte begins: all but those that go on with one.
std::size_t letters_begun_in(std::string_view x) noexcept {
  return static_cast<std::size_t>(std::count_if(x.begin(), x.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

class assembled final : public tokenizer {
public:
  assembled(std::unique_ptr<piece_model> model, token_pipeline how,
            std::vector<added_token> added, special_tokens special,
            text_frame frame, const digest& content)
    : model_(std::move(model)),
      how_(std::move(how)),
      added_(std::move(added)),
      special_(special),
      frame_(std::move(frame)),
      content_(content),
      size_(model_->size()) {
    TROUPE_ASSERT(how_.join);
    std::vector<std::pair<std::string_view, token_id>> all, plain;
    for (std::size_t i = 0; i < added_.size(); ++i) {
      const auto& x = added_[i];
      size_ = std::max<std::size_t>(size_, std::size_t{x.id} + 1);
      places_.emplace(x.id, i);
      all.emplace_back(x.text, x.id);
      if (!x.special)
        plain.emplace_back(x.text, x.id);
    }
    all_added_ = prefix_tree{std::move(all)};
    plain_added_ = prefix_tree{std::move(plain)};
  }

  std::size_t size() const noexcept override {
    return size_;
  }

  std::string_view kind() const noexcept override {
    return model_->kind();
  }

  const digest& content() const noexcept override {
    return content_;
  }

  const special_tokens& special() const noexcept override {
    return special_;
  }

  result<void> encode(std::string_view text, special_rule how,
                      std::vector<token_id>& to) const override {
    const auto there = to.size();
    auto ok = encode_all(text, how, to);
    if (!ok)
      to.resize(there);
    return ok;
  }

  result<std::string> decode(std::span<const token_id> ids) const override {
    std::string all;
    std::vector<std::string> waiting;
    const auto join = [&]() -> result<void> {
      if (waiting.empty())
        return {};
      return how_.join(std::exchange(waiting, {}))
        .map([&](const std::string& text) { all += text; });
    };
    // Of ids that stand for what is unknown nobody knows how long they are.
    const auto most = limits::token_bytes_max * (ids.size() + few_ids);
    std::size_t bytes = 0;
    for (const auto id : ids) {
      if (id >= size_)
        return refuse_id(id, size_);
      bytes += text_of(id).size();
      if (bytes > most)
        return fail(errc::invalid_data,
                    std::to_string(ids.size()) + " ids stand for more than "
                      + std::to_string(most)
                      + " bytes; a tokenizer with shorter tokens would do");
      // An added token is no text of GPT-2's letters.
      if (how_.byte_level && places_.count(id) > 0) {
        if (auto ok = join(); !ok)
          return tl::unexpected{std::move(ok.error())};
        all += text_of(id);
      } else {
        waiting.emplace_back(text_of(id));
      }
    }
    return join().map([&] { return std::move(all); });
  }

  std::vector<token_id> before() const override {
    return frame_.before;
  }

  std::vector<token_id> after() const override {
    return frame_.after;
  }

  const pair_frame* pair() const noexcept override {
    return frame_.pair ? &*frame_.pair : nullptr;
  }

  std::string_view text_of(token_id x) const noexcept override {
    const auto found = places_.find(x);
    if (found != places_.end())
      return added_[found->second].text;
    return x < model_->size() ? model_->text_of(x) : std::string_view{};
  }

private:
  /// A part of a text, and where it begins.
  struct part {
    std::string_view text;
    std::size_t at = 0;
  };

  result<void> encode_all(std::string_view text, special_rule how,
                          std::vector<token_id>& to) const {
    piece_memory memory{text.size()};
    const auto& added =
      how == special_rule::as_tokens ? all_added_ : plain_added_;
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
      // Of two that match the longer one does.
      const auto found = added.longest(prefix_tree::root, text.substr(at));
      if (found.bytes == 0) {
        ++at;
        continue;
      }
      if (auto ok =
            encode_part({text.substr(done, at - done), done}, memory, to);
          !ok)
        return ok;
      to.push_back(found.id);
      at += found.bytes;
      done = at;
    }
    return encode_part({text.substr(done), done}, memory, to);
  }

  /// Of a text without added tokens. A byte that is no UTF-8 is a piece of its
  /// own, where bytes are letters, or else a sign that there was one.
  result<void> encode_part(part x, piece_memory& memory,
                           std::vector<token_id>& to) const {
    std::string mended;
    std::size_t done = 0;
    for (std::size_t at = 0; at < x.text.size();) {
      const auto byte = static_cast<unsigned char>(x.text[at]);
      const auto letter =
        byte < 0x80 ? utf8_letter{byte, 1, true} : letter_at(x.text, at);
      if (!letter.valid) {
        const auto sound = x.text.substr(done, at - done);
        if (!how_.byte_level) {
          mended += sound;
          mended += replacement;
        } else {
          if (auto ok = encode_sound({sound, x.at + done}, memory, to); !ok)
            return ok;
          if (auto ok = model_->encode(byte_letters(byte), to); !ok)
            return ok;
        }
        done = at + 1;
      }
      at += letter.bytes;
    }
    const auto rest = x.text.substr(done);
    if (mended.empty())
      return encode_sound({rest, x.at + done}, memory, to);
    mended += rest;
    return encode_sound({mended, x.at}, memory, to);
  }

  /// Of UTF-8.
  result<void> encode_sound(part x, piece_memory& memory,
                            std::vector<token_id>& to) const {
    if (x.text.empty())
      return {};
    auto pieces = pieces_of(std::string{x.text});
    if (!pieces) {
      pieces.error().context +=
        " (in what begins at byte " + std::to_string(x.at) + " of the text)";
      return tl::unexpected{std::move(pieces.error())};
    }
    auto at = x.at; // Exact where steps neither add nor drop anything.
    for (const auto& piece : *pieces) {
      const auto bytes =
        how_.byte_level ? letters_begun_in(piece) : piece.size();
      if (bytes > limits::piece_bytes_max)
        return fail(errc::invalid_data,
                    "at byte " + std::to_string(at) + " of the text is a piece "
                      + "of " + std::to_string(bytes) + " bytes, and at most "
                      + std::to_string(limits::piece_bytes_max)
                      + " are one; a text with spaces or ends of lines in it "
                        "would do");
      if (!memory.recall(piece, to)) {
        const auto first = to.size();
        if (auto ok = model_->encode(piece, to); !ok)
          return fail(ok.error().code,
                      "at byte " + std::to_string(at)
                        + " of the text: " + ok.error().context);
        memory.note(piece, std::span{to}.subspan(first));
      }
      at += bytes;
    }
    return {};
  }

  result<std::vector<std::string>> pieces_of(std::string text) const {
    const auto most = most_made_of(text.size());
    for (const auto& step : how_.normalise) {
      auto other = step(std::move(text));
      if (!other)
        return tl::unexpected{std::move(other.error())};
      text = std::move(*other);
      if (text.size() > most)
        return refuse_growth(most);
    }
    std::vector<std::string> pieces;
    if (!text.empty())
      pieces.push_back(std::move(text));
    for (const auto& step : how_.split) {
      auto other = step(std::move(pieces));
      if (!other)
        return tl::unexpected{std::move(other.error())};
      pieces = std::move(*other);
    }
    return pieces;
  }

  std::unique_ptr<piece_model> model_;
  token_pipeline how_;
  std::vector<added_token> added_;
  special_tokens special_;
  text_frame frame_;
  digest content_;
  std::size_t size_;
  std::map<token_id, std::size_t> places_; ///< Of added tokens.
  prefix_tree all_added_;
  prefix_tree plain_added_; ///< Of those that are not special.
};

} // namespace

std::shared_ptr<const tokenizer>
assemble(std::unique_ptr<piece_model> model, token_pipeline how,
         std::vector<added_token> added, special_tokens special,
         text_frame frame, const digest& content) {
  return std::make_shared<assembled>(std::move(model), std::move(how),
                                     std::move(added), special,
                                     std::move(frame), content);
}

} // namespace troupe::models
