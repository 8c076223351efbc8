#pragma once

// Steps of a pipeline, and how a tokenizer.json says them.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"
#include "models/language/text_pattern.hpp"
#include "models/language/token_pipeline.hpp"

namespace troupe::models {

/// What a cut makes of a stretch that matches.
enum class cut_rule : std::uint8_t {
  isolated,
  removed,
  with_previous,
  with_next,
  contiguous,
};

std::optional<cut_rule> cut_rule_of(std::string_view name) noexcept;

struct cut_options {
  cut_rule rule = cut_rule::isolated;
  bool invert = false; ///< What does not match is what matches.
};

[[nodiscard]] result<split_step> cut_by(std::string_view pattern,
                                        const cut_options& how,
                                        std::string_view origin);

/// Each letter of which this is true matches by itself.
split_step cut_at(std::function<bool(char32_t)> test, const cut_options& how);

/// Calls with each stretch of a text in turn, and whether it matched.
[[nodiscard]] result<void>
each_stretch(const text_pattern& by, std::string_view text,
             const std::function<void(std::string_view, bool)>& take);

/// Unicode's White_Space.
bool is_white_space(char32_t x) noexcept;

/// Of ASCII also what Unicode calls symbols.
bool is_punctuation(char32_t x) noexcept;

/// The byte of which this is GPT-2's letter.
std::optional<std::uint8_t> byte_of_letter(char32_t x) noexcept;

/// Letters as GPT-2's, where all of them are.
std::optional<std::string> bytes_of_letters(std::string_view x);

/// Where all in a text that matches becomes something else.
[[nodiscard]] result<text_step> replacing(std::string_view pattern,
                                          std::string content,
                                          std::string_view origin);

/// What SentencePiece's table makes of a text.
[[nodiscard]] result<text_step> charsmap_step(const json& x,
                                              std::string_view origin);

// The sections of a tokenizer.json; null: there is none.

[[nodiscard]] result<void> read_normalisers(const json& x,
                                            std::string_view origin,
                                            std::vector<text_step>& to);

[[nodiscard]] result<void> read_splits(const json& x, std::string_view origin,
                                       token_pipeline& to);

[[nodiscard]] result<join_step> read_decoder(const json* x, bool byte_level,
                                             std::string_view origin);

/// What a post_processor puts around a text, and around two of them where it
/// says that in a way that `pair_frame` has.
[[nodiscard]] result<text_frame> read_frame(const json* x,
                                            std::string_view origin);

/// <s> a </s>, and of two texts <s> a </s></s> b </s>, of one type.
text_frame frame_of_roberta(token_id first, token_id last);

/// An id that a vocabulary may have; nothing: it is none.
std::optional<token_id> id_in(const json* x);

// Bounds, so that a short file and a short text take neither long nor much.

/// So many bytes at most are made of so many.
std::size_t most_made_of(std::size_t bytes) noexcept;

/// "steps make more than N bytes of it …".
tl::unexpected<error> refuse_growth(std::size_t most);

/// @param steps that are there, before one more
[[nodiscard]] result<void> check_count_of_steps(std::size_t steps,
                                                std::string_view section,
                                                std::string_view origin);

// Members of a step.

std::string_view type_of(const json& x) noexcept;

bool flag_in(const json& x, std::string_view key, bool otherwise);

std::string text_in(const json& x, std::string_view key, std::string otherwise);

/// {"Regex": …}, or {"String": …} as a pattern of these letters alone.
[[nodiscard]] result<std::string> pattern_in(const json& x,
                                             std::string_view origin);

/// "ORIGIN: its normalizer is of kind 'X', which is not known here; …".
tl::unexpected<error> refuse_kind(std::string_view section,
                                  std::string_view kind,
                                  std::string_view origin,
                                  std::string_view known);

} // namespace troupe::models
