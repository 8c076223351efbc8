#pragma once

// Labelled texts as rows: one text is one row, and what is known of it stands
// among its targets. Which texts validate and which test their lines say; else
// it is drawn by their source, or by themselves where they have none, whoever
// has them: neither a source nor a text is then in two parts. Then each part is
// dealt to the clients.
//
//   task       ids                             targets
//   classify   text, or two of them            place 0: the class
//   span       question, text                  place 0: the answer's first
//                                              token, place 1: its last; both
//                                              0: there is no answer; 1 and 0:
//                                              it is beyond the context
//   describe   what is described, text, end    of the text and the end alone

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/data/partition.hpp"
#include "models/language/asked_text.hpp"
#include "models/language/labelled_texts.hpp"
#include "models/language/row_answers.hpp"
#include "models/language/row_set.hpp"
#include "models/language/token_rows.hpp"
#include "models/language/token_span.hpp"
#include "models/language/tokenizer.hpp"
#include "models/layout.hpp"

namespace troupe::models {

struct labelled_options {
  labelled_files files;
  std::uint32_t context = 128;
  /// Of windows of a long text in which a span is asked for, tokens that each
  /// has in common with the one before; 0: it has one.
  std::uint32_t stride = 0;
  double validation_share = 0.1; ///< Of the sources.
  double test_share = 0.1;       ///< Likewise.
  /// Above 0: so many clients, who share what all users have as `deal_by_label`
  /// says; 0: each user is a client.
  std::size_t clients = 0;
  std::optional<partitioner> scheme = std::nullopt; ///< As of `label_deal`.
  double sorted_fraction = 0.9;
  bool even_tests = false;  ///< As of `label_deal`.
  std::size_t rows_max = 0; ///< Of a client's training rows; 0: all.
  std::uint64_t seed = 0;
};

/// The training set has all training rows and then all validation rows, and
/// behind these, as the test set, the later windows of long texts. Those of
/// texts to learn from are rows of the client, too.
class labelled_rows final : public token_rows, public row_answers {
public:
  /// Returns `invalid_data` where a file cannot be used, a client has no row
  /// for a part with a share, or nothing tells rows apart.
  [[nodiscard]] static result<std::shared_ptr<const labelled_rows>>
  load(const labelled_options& how, std::shared_ptr<const tokenizer> by);

  /// Of training, own_validation and test; own_validation is in the training
  /// set.
  const partition& clients() const noexcept {
    return clients_;
  }

  /// Labels by name; the place of each is its number.
  const std::vector<std::string>& labels() const noexcept {
    return labels_;
  }

  /// @pre there is such a row
  std::size_t label_of(split part, std::uint32_t row) const;

  const digest& content() const noexcept {
    return content_;
  }

  std::uint64_t dropped_paragraphs() const noexcept {
    return dropped_paragraphs_;
  }

  /// Texts to be classified that are blank, or repeats from end to end, of each
  /// user who has some: they are no rows.
  const std::map<std::string, std::uint64_t>& emptied() const noexcept {
    return emptied_;
  }

  text_task task() const noexcept {
    return task_;
  }

  /// Of a span its answer, in the first of its windows that has it; of a
  /// description the tokens that are asked for.
  /// @pre there is such a row, and rows are not classified
  token_span asked_of(split part, std::uint32_t number) const;

  /// Whether some of its text is beyond the context. @pre there is such a row
  bool is_cut(split part, std::uint32_t number) const;

  /// Rows whose text would stand beyond the context, and those to learn from
  /// whose answer would; those without a token, and those that another source
  /// has in another part.
  std::uint64_t left_out() const noexcept {
    return left_out_;
  }

  /// Of these, rows whose text has no token within the context, or whose answer
  /// is not wholly within it.
  std::uint64_t beyond() const noexcept {
    return beyond_;
  }

  /// Rows of two texts.
  std::uint64_t in_pairs() const noexcept {
    return in_pairs_;
  }

  std::size_t context() const noexcept override {
    return context_;
  }

  std::uint32_t vocabulary() const noexcept override {
    return vocabulary_;
  }

  std::uint32_t types() const noexcept override {
    return types_;
  }

  std::size_t size(split part) const noexcept override {
    return of(part).rows.size();
  }

  /// Rows that are no later windows: they come first.
  std::size_t texts(split part) const noexcept {
    return of(part).texts;
  }

  std::size_t second_from(split part, std::uint32_t row) const override;
  later_windows later_of(split part, std::uint32_t row) const override;

  void read(split part, std::uint32_t row, std::span<std::int32_t> ids,
            std::span<std::int32_t> targets) const override;

  /// Of spans. Answers are the text's own words, by those that stand in the
  /// file: nobody learns from them, so `content` has none of them.
  const row_answers* answers() const noexcept override {
    return task_ == text_task::span ? this : nullptr;
  }

  std::string said(std::uint32_t number, const token_span& x) const override;
  std::span<const std::string> meant(std::uint32_t number) const override;

private:
  struct loader;

  labelled_rows() = default;

  const row_set& of(split part) const noexcept {
    return part == split::train ? training_ : test_;
  }

  std::shared_ptr<const tokenizer> by_;
  text_task task_ = text_task::classify;
  std::size_t context_ = 0;
  std::uint32_t vocabulary_ = 0;
  std::vector<std::string> labels_;
  std::uint64_t dropped_paragraphs_ = 0;
  std::map<std::string, std::uint64_t> emptied_;
  std::uint64_t left_out_ = 0;
  std::uint64_t beyond_ = 0;
  std::uint64_t in_pairs_ = 0;
  std::uint32_t types_ = 1;
  row_set training_;
  row_set test_;
  std::vector<asked_text> asked_; ///< Of spans, as the texts of the test set.
  partition clients_;
  digest content_{};
};

} // namespace troupe::models
