#pragma once

// What makes ids of a text, and a text of ids. Files of several formats become
// one: names and merges in a tokenizer.json, in two files beside each other, or
// in a GGUF.
//
//   text ─► added tokens and bytes that are no UTF-8 are cut out
//        ─► normalisers ─► pre-tokenizers ─► pieces ─► model ─► ids

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"
#include "models/language/gguf.hpp"
#include "models/layout.hpp"

namespace troupe::models {

using token_id = std::uint32_t;

/// What encoding makes of a special token that stands in the text itself.
enum class special_rule : std::uint8_t { as_text, as_tokens };

struct special_tokens {
  std::optional<token_id> begin = {}, end = {}, pad = {}, unknown = {},
                          mask = {};
};

/// Ids that stand around two texts of one row.
struct pair_frame {
  std::vector<token_id> before, between, after;
  /// So many of `between` are of the first type of tokens yet, as all is that
  /// stands before them; the others are of the second. Nothing: all are of the
  /// first.
  std::optional<std::size_t> first_typed = {};
};

/// Ids that stand before and behind each text.
struct text_frame {
  std::vector<token_id> before, after;
  std::optional<pair_frame> pair = {};
};

/// Text to ids and back. Nobody changes it; from several threads.
class tokenizer {
public:
  virtual ~tokenizer() = default;

  virtual std::size_t size() const noexcept = 0; ///< Ids are below.

  /// "bpe", "wordpiece", "unigram", "bytes".
  virtual std::string_view kind() const noexcept = 0;

  /// Two that differ in it may differ in ids.
  virtual const digest& content() const noexcept = 0;

  virtual const special_tokens& special() const noexcept = 0;

  /// Appends the ids. Returns `invalid_data` where a piece is too long or a
  /// pattern gives up: with the byte of the text.
  [[nodiscard]] virtual result<void>
  encode(std::string_view text, special_rule how,
         std::vector<token_id>& to) const = 0;

  /// The bytes that ids stand for. Returns `invalid_data` for an id that is
  /// not below size().
  [[nodiscard]] virtual result<std::string>
  decode(std::span<const token_id> ids) const = 0;

  /// What stands around one text, and between two, by the file's template: ids
  /// of [CLS] and [SEP], or nothing.
  virtual std::vector<token_id> before() const = 0;
  virtual std::vector<token_id> after() const = 0;

  /// Null: the file has no template for two texts. `content` has none of it.
  virtual const pair_frame* pair() const noexcept {
    return nullptr;
  }

  /// As the vocabulary has it, for people. @pre x < size()
  virtual std::string_view text_of(token_id x) const noexcept = 0;
};

/// "bytes"; a folder with tokenizer.json, vocab.json + merges.txt, or
/// vocab.txt; such a file; a .gguf; a .safetensors, with such a file beside it.
/// Returns `invalid_data` naming what would do.
[[nodiscard]] result<std::shared_ptr<const tokenizer>>
load_tokenizer(const std::filesystem::path& path);

/// Whether a model's folder has files of one; other paths may always.
[[nodiscard]] bool has_tokenizer(const std::filesystem::path& model);

/// Of a model's folder or file; null: it has none that is read here.
[[nodiscard]] std::shared_ptr<const tokenizer>
own_tokenizer(const std::filesystem::path& model);

/// Refuses a tokenizer beside a model that has another one of its own:
/// `invalid_config`. @param model empty: it has no file
[[nodiscard]] result<void>
check_own_tokenizer(const std::filesystem::path& model, const tokenizer& by,
                    const std::filesystem::path& named);

/// The tokenizer that is named or, where none is, the model's own. Returns what
/// `load_tokenizer` does, and `invalid_config` where the model has one of its
/// own and another is named: its ids are below the model's and mean nothing.
/// @param model empty: it has no file
[[nodiscard]] result<std::shared_ptr<const tokenizer>>
load_tokenizer_for(const std::filesystem::path& model,
                   const std::filesystem::path& named);

[[nodiscard]] result<std::shared_ptr<const tokenizer>>
parse_tokenizer(const json& tokenizer_json, std::string_view origin);

[[nodiscard]] result<std::shared_ptr<const tokenizer>>
tokenizer_of(const gguf_header& header, std::string_view origin);

/// Ids 0 to 255, and 256 is the end of a text.
std::shared_ptr<const tokenizer> byte_tokenizer();

} // namespace troupe::models
