#pragma once

// Texts about each of which something is known, as they lie on a disk: a .jsonl
// of each user, a line of each text.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/data/text_task.hpp"
#include "models/language/document_parts.hpp"

namespace troupe::models {

struct labelled_text {
  std::string text;
  /// Before the text: a question, or what it describes.
  std::string before = {};
  /// With which it is classified.
  std::optional<std::string> second = {};
  /// Its class or, of other tasks, the kind by which it is dealt.
  std::string label = {};
  /// Those of one source are in one part. It begins with '='; empty: none is
  /// said.
  std::string source = {};
  /// What its line says that it is for; it is drawn by its source otherwise.
  std::optional<text_part> part = {};
  /// Of an answer, in bytes of the text; equal: there is none.
  std::size_t begin = 0, end = 0;
  /// Answers that would do, the one that is learned first.
  std::vector<std::string> meant = {};
};

struct labelled_user {
  std::string name;
  std::vector<labelled_text> texts;
  std::uint64_t dropped = 0; ///< Paragraphs that were repeats.
  std::uint64_t emptied = 0; ///< Texts of which nothing is there, or left.
};

struct labelled_files {
  std::filesystem::path folder;
  std::vector<std::string> users = {}; ///< Empty: all, by name.
  text_task task = text_task::classify;
  std::string label = "label"; ///< The key that has it.
  std::string part = {}; ///< The key that says what a text is for; empty: none.
};

/// Reads FOLDER/USER.jsonl of each user. A line is an object with
///   classify: "text", the label, and on each line of a file or on none
///     "second", another text;
///   span: "text", "question", "answer" where there is one, "begin", how many
///     letters of the text stand before it (else it is the first such), and
///     "answers", a list of texts that would do as well;
///   describe: "before", "text".
/// "source" may stand in all of them, and the label too. Either is a text or a
/// whole number, and a part "train", "validation" or "test". Returns
/// `invalid_data`, naming file and line, or where a key of parts is on no line.
/// @pre the task is
/// not `language`
[[nodiscard]] result<std::vector<labelled_user>>
read_labelled(const labelled_files& from);

/// Drops from texts that are to be classified the paragraphs that an earlier
/// one of any user has (see drop_repeated), and texts of which nothing is left.
/// Returns how many paragraphs. Those of a user whose texts have second ones
/// stay, as one text may stand beside several.
std::uint64_t drop_repeated(std::vector<labelled_user>& users);

/// How many texts of a user were left out so, of each that had some.
std::map<std::string, std::uint64_t>
emptied_of(const std::vector<labelled_user>& users);

} // namespace troupe::models
