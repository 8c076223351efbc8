#pragma once

// Texts of users as rows: each user's stream of tokens, and windows of it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/language/token_ids.hpp"
#include "models/language/token_rows.hpp"
#include "models/language/tokenizer.hpp"
#include "models/language/user_streams.hpp"
#include "models/layout.hpp"

namespace troupe::models {

struct language_options {
  std::filesystem::path path = {};
  std::vector<std::string> users = {}; ///< Empty: all.
  /// The path is that of one user, and no folder of several.
  bool of_one = false;
  std::uint32_t context = 128;
  std::uint64_t tokens = 0; ///< Of a user's training stream, at most; 0: all.
  /// In its place, of each user by turns. Empty: `tokens` of each.
  std::vector<std::uint32_t> user_tokens = {};
  std::uint64_t validation_tokens = 0; ///< As `tokens`.
  std::uint64_t test_tokens = 0;       ///< Likewise.
  /// Of each user's test stream, drawn with replacement, at any place; 0: all
  /// there are without overlap.
  std::uint32_t test_windows = 0;
  double validation_share = 0.1; ///< Of a user's text, by bytes.
  double test_share = 0.1;       ///< Likewise.
  /// Validation and test of each user are equal parts of all users'.
  bool mixed = false;
  /// Of all users together there is one, with the streams of each behind those
  /// of the one before; `users_test` says which test rows are whose.
  bool pooled = false;
  std::filesystem::path cache = {}; ///< Empty: none is kept.
  std::uint64_t seed = 0;
};

/// Streams of all users: the training set has, user after user, its training
/// and then its validation stream; the test set its test streams. A training
/// row is a place, from which `context` tokens go on, a test row the number of
/// a window. A window's target at i is the token at i + 1, so a stream of n
/// tokens has (n - 1) / context windows, and every place from a stream's first
/// row to its last one is a row too. A stream of several users' pieces is as
/// many streams, and from its first row to its last one there are no other
/// places. Test windows that are drawn are rows in the order of their places.
/// Nothing is read beyond a stream's end.
class language_data final : public token_rows {
public:
  /// Reads them. Documents of one source are in one part of a user's text:
  /// training, validation or test; repeated paragraphs are dropped before.
  /// Returns `invalid_data` where a file cannot be used, or a part with a share
  /// has no window.
  [[nodiscard]] static result<std::shared_ptr<const language_data>>
  load(const language_options& how, std::shared_ptr<const tokenizer> by);

  /// Of streams that are there, or of none at all. @pre as many of each
  [[nodiscard]] static result<std::shared_ptr<const language_data>>
  make(std::vector<token_ids> train, std::vector<token_ids> validation,
       std::vector<token_ids> test, std::uint32_t context,
       std::uint32_t vocabulary);

  /// Windows without overlap: of training and of own_validation places in the
  /// training set, of test numbers of windows.
  const partition& clients() const noexcept {
    return clients_;
  }

  const std::vector<std::string>& users() const noexcept {
    return users_;
  }

  const digest& content() const noexcept {
    return content_;
  }

  std::uint64_t dropped_paragraphs() const noexcept {
    return dropped_paragraphs_;
  }

  struct user_tokens {
    std::uint64_t train = 0;
    std::uint64_t validation = 0;
    std::uint64_t test = 0;
    std::uint64_t documents = 0;
  };

  const std::vector<user_tokens>& tokens() const noexcept {
    return tokens_;
  }

  std::size_t context() const noexcept override {
    return context_;
  }

  std::uint32_t vocabulary() const noexcept override {
    return vocabulary_;
  }

  std::size_t size(split part) const noexcept override {
    return of(part).size;
  }

  void read(split part, std::uint32_t row, std::span<std::int32_t> ids,
            std::span<std::int32_t> targets) const override;

private:
  /// Streams behind each other, and the row that each begins with.
  struct stream_list {
    std::vector<token_ids> streams;
    std::vector<std::uint64_t> begins;
    std::uint64_t size = 0; ///< In rows.
    /// Of each row, within its stream; empty: as its number says.
    std::vector<std::uint64_t> places = {};

    void add(token_ids x, std::uint64_t rows);
  };

  language_data() = default;

  struct drawing {
    std::uint32_t windows = 0; ///< Of each test stream; 0: none is drawn.
    std::uint64_t seed = 0;
  };

  static result<std::shared_ptr<const language_data>>
  assemble(text_streams from, std::uint32_t context, std::uint32_t vocabulary,
           const drawing& tests);

  void deal(const user_streams& x, const drawing& tests);

  /// Rows of a test stream's pieces.
  std::vector<std::uint32_t> deal_test(const std::vector<token_ids>& pieces);

  std::vector<std::uint32_t> draw_test(const std::vector<token_ids>& pieces,
                                       std::uint32_t count, std::uint64_t seed);

  const stream_list& of(split part) const noexcept {
    return part == split::train ? training_ : test_;
  }

  std::size_t context_ = 0;
  std::uint32_t vocabulary_ = 0;
  std::vector<std::string> users_;
  std::vector<user_tokens> tokens_; ///< Of each user.
  std::uint64_t dropped_paragraphs_ = 0;
  stream_list training_;
  stream_list test_;
  partition clients_;
  digest content_{};
};

} // namespace troupe::models
