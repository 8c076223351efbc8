#pragma once

// Texts of users, as they lie on a disk.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"

namespace troupe::models {

/// Source: those of one source go together into one part. One that is said
/// begins with '=', and other users may have it too.
struct document {
  std::string text;
  std::string source;
};

struct user_text {
  std::string name;
  std::vector<document> documents;
  std::uint64_t dropped = 0; ///< Paragraphs that were repeats.
};

/// Who has text in a folder, by name: each sub-folder, each .txt and each
/// .jsonl, without its ending. What begins with a dot is nobody's. Returns
/// `invalid_data` where two have one name, or there is nobody.
[[nodiscard]] result<std::vector<std::string>>
names_of_users(const std::filesystem::path& folder);

/// Files in it that are nobody's, though their names begin with no dot: by
/// name. None where it cannot be read.
std::vector<std::string> files_of_nobody(const std::filesystem::path& folder);

/// Each sub-folder (the files in it and below are documents), each .txt
/// (documents end with a form feed), each .jsonl ({"text", "source"?}) is a
/// user, by name; `users` says which, in which order, and all are read if it
/// says none. Of others nothing is looked at. A document without a source is
/// one of its own; one without letters is left out. Returns `invalid_data`,
/// naming the file.
[[nodiscard]] result<std::vector<user_text>>
read_users(const std::filesystem::path& folder,
           const std::vector<std::string>& users);

/// The one user that is at this path: a folder of texts, a .txt or a .jsonl.
/// Nothing beside it is looked at. Returns `invalid_data`, naming the file.
[[nodiscard]] result<user_text>
read_one_user(const std::filesystem::path& path);

/// What a line of a .jsonl says that its source is, '=' before it: a text, or a
/// whole number, which is the text of its digits. Empty: it says none. Returns
/// `invalid_data`, naming `where`.
[[nodiscard]] result<std::string> said_source(const json& line,
                                              std::string_view where);

/// By its name: it is a .jsonl.
bool has_texts_as_lines(const std::filesystem::path& file);

/// Of a file that is no .jsonl, whose lines are letters always.
enum class letter_rule : std::uint8_t { any_bytes, utf8 };

/// Of a .jsonl the texts of its lines, but for those without letters; of
/// another file all that is in it. Returns `invalid_data`, naming the file.
[[nodiscard]] result<std::vector<std::string>>
texts_in(const std::filesystem::path& file,
         letter_rule rule = letter_rule::any_bytes);

/// Drops paragraphs (between empty lines, 80 bytes or more) that an earlier
/// document of any user has, and documents of which nothing is left. Returns
/// how many paragraphs; each user has how many of its own.
std::uint64_t drop_repeated(std::vector<user_text>& users);

/// Why there is less text than in the files: to be said behind what there is.
/// Empty where nothing was dropped.
std::string about_repeats(std::uint64_t dropped);

} // namespace troupe::models
