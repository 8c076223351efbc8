#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "core/json.hpp"
#include "models/language/piece_model.hpp"
#include "models/language/token_pipeline.hpp"
#include "models/language/tokenizer.hpp"

namespace troupe::test {

/// The letters of all bytes, ids 0 to 255 in the order of the bytes, and what
/// these merges make, from 256 on.
inline models::vocabulary_list letters_and(const models::merge_list& merges) {
  models::vocabulary_list all;
  for (unsigned byte = 0; byte < 256; ++byte)
    all.emplace_back(models::byte_letters(static_cast<std::uint8_t>(byte)),
                     byte);
  for (const auto& [left, right] : merges)
    all.emplace_back(left + right, static_cast<models::token_id>(all.size()));
  return all;
}

/// {"type": KIND}
inline json step_of_kind(const char* kind) {
  auto x = json::object();
  x.add("type", kind);
  return x;
}

/// A tokenizer.json as GPT-2's, with such a vocabulary.
inline json byte_level_json(const models::merge_list& merges) {
  auto vocabulary = json::object();
  for (const auto& [text, id] : letters_and(merges))
    vocabulary.add(text, id);
  auto pairs = json::array();
  for (const auto& [left, right] : merges) {
    auto pair = json::array();
    pair.push_back(left);
    pair.push_back(right);
    pairs.push_back(std::move(pair));
  }
  auto splits = step_of_kind("ByteLevel");
  splits.add("add_prefix_space", false);
  auto model = step_of_kind("BPE");
  model.add("vocab", std::move(vocabulary));
  model.add("merges", std::move(pairs));
  auto all = json::object();
  all.add("added_tokens", json::array());
  all.add("pre_tokenizer", std::move(splits));
  all.add("decoder", step_of_kind("ByteLevel"));
  all.add("model", std::move(model));
  return all;
}

/// One more, as files say them.
inline void add_token(json& tokenizer_json, const char* text,
                      models::token_id id, bool special) {
  auto x = json::object();
  x.add("id", id);
  x.add("content", text);
  x.add("special", special);
  tokenizer_json["added_tokens"].push_back(std::move(x));
}

inline std::shared_ptr<const models::tokenizer> read_tokenizer(const json& x) {
  auto read = models::parse_tokenizer(x, "test");
  TROUPE_ASSERT(read);
  return *read;
}

/// The ids of a text, in whose own special tokens nobody believes.
inline std::vector<models::token_id> ids_of(const models::tokenizer& by,
                                            const std::string& text) {
  std::vector<models::token_id> ids;
  TROUPE_ASSERT(by.encode(text, models::special_rule::as_text, ids));
  return ids;
}

} // namespace troupe::test
