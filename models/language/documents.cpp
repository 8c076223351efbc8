#include "models/language/documents.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/language/lines.hpp"

namespace troupe::models {

namespace {

namespace fs = std::filesystem;

constexpr const char* documents_would_do =
  "; a folder that has a sub-folder, a .txt or a .jsonl of each user would do";

enum class user_kind : std::uint8_t { folder, text, lines };

struct user_place {
  fs::path path;
  user_kind kind = user_kind::folder;
};

using user_places = std::map<std::string, user_place>;

/// Refuses what would be a text less without a word: a link to nothing, a pipe.
result<void> check_entry(const fs::path& x) {
  std::error_code ignored;
  if (fs::is_regular_file(x, ignored) || fs::is_directory(x, ignored))
    return {};
  const bool is_lost = fs::is_symlink(x, ignored) && !fs::exists(x, ignored);
  return fail_at(x.string(),
                 std::string{is_lost ? "is a link to nothing that is there"
                                     : "is neither a file nor a folder"}
                   + "; one of these, or a name that begins with a dot, would "
                     "do");
}

using named_paths = std::map<std::string, fs::path>;

/// What is in a folder, but for what is hidden, by name.
result<named_paths> listing_of(const fs::path& folder) {
  named_paths out;
  std::error_code failed;
  auto at = fs::directory_iterator{folder, failed};
  for (; !failed && at != fs::directory_iterator{}; at.increment(failed)) {
    const auto name = at->path().filename().string();
    if (!name.starts_with('.'))
      out.emplace(name, at->path());
  }
  if (failed)
    return fail_at(folder.string(),
                   "cannot be read: " + failed.message() + documents_would_do);
  return out;
}

result<named_paths> entries_of(const fs::path& folder) {
  auto out = listing_of(folder);
  if (out)
    for (const auto& [name, path] : *out)
      if (auto ok = check_entry(path); !ok)
        return tl::make_unexpected(ok.error());
  return out;
}

/// Whose it would be: a folder may be named as a file is.
bool may_be_of(const fs::path& x, const std::vector<std::string>& users) {
  return users.empty() || std::ranges::count(users, x.filename().string()) > 0
         || ((x.extension() == ".txt" || has_texts_as_lines(x))
             && std::ranges::count(users, x.stem().string()) > 0);
}

/// Links are followed. Nothing: it is nobody's.
std::optional<user_kind> kind_of(const fs::path& x) {
  std::error_code ignored;
  if (fs::is_directory(x, ignored))
    return user_kind::folder;
  if (!fs::is_regular_file(x, ignored))
    return std::nullopt;
  if (x.extension() == ".txt")
    return user_kind::text;
  if (has_texts_as_lines(x))
    return user_kind::lines;
  return std::nullopt;
}

/// The first names of what is there.
template <class Named>
std::string listed(const Named& xs) {
  constexpr std::size_t listed_max = 10;
  std::string out;
  std::size_t count = 0;
  for (const auto& [name, what] : xs)
    if (++count <= listed_max)
      out += (out.empty() ? "" : ", ") + in_quotes(shortened(name));
  return out + (count > listed_max ? " and others" : "");
}

tl::unexpected<error> there_twice(const fs::path& folder,
                                  const std::string& user,
                                  const fs::path& first,
                                  const std::string& second) {
  return fail_at(folder.string(),
                 "user " + in_quotes(shortened(user)) + " is there twice, as "
                   + in_quotes(first.filename().string()) + " and "
                   + in_quotes(second) + "; one of them would do");
}

/// @param users whom what is wrong matters of; none: all
result<user_places> places_of_users(const fs::path& folder,
                                    const std::vector<std::string>& users) {
  if (std::error_code ignored; fs::is_regular_file(folder, ignored))
    return fail_at(folder.string(),
                   std::string{"is a file, and no folder of users"}
                     + documents_would_do);
  const auto found = listing_of(folder);
  if (!found)
    return tl::make_unexpected(found.error());
  user_places out;
  for (const auto& [name, path] : *found) {
    if (may_be_of(path, users))
      if (auto ok = check_entry(path); !ok)
        return tl::make_unexpected(ok.error());
    const auto kind = kind_of(path);
    if (!kind)
      continue;
    const auto user = *kind == user_kind::folder ? name : path.stem().string();
    const auto [other, is_new] = out.emplace(user, user_place{path, *kind});
    if (!is_new && (users.empty() || std::ranges::count(users, user) > 0))
      return there_twice(folder, user, other->second.path, name);
  }
  if (out.empty())
    return fail_at(folder.string(),
                   "has texts of nobody"
                     + (found->empty() ? "" : ", and has " + listed(*found))
                     + documents_would_do);
  return out;
}

result<std::string> text_of_file(const fs::path& path) {
  return read_file(path, errc::invalid_data)
    .map([](const std::vector<std::byte>& x) {
      return std::string(reinterpret_cast<const char*>(x.data()), x.size());
    });
}

/// Letters of another alphabet would be learned as others, or as none.
result<std::string> letters_of_file(const fs::path& path) {
  return text_of_file(path).and_then([&](std::string text) {
    const auto at = utf8_until(text);
    if (at == text.size())
      return result<std::string>{std::move(text)};
    const auto line = std::count(text.begin(), text.begin() + at, '\n') + 1;
    const bool is_wide =
      text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
    return result<std::string>{fail_at(
      path.string() + ":" + std::to_string(line),
      "byte " + std::to_string(at) + " of the file, "
        + in_quotes(std::string_view{text}.substr(at, 1))
        + ", is no UTF-8; what iconv -f "
        + (is_wide ? "UTF-16 -t UTF-8 makes of it would do"
                   : "LATIN1 -t UTF-8 makes of it would do, where it is "
                     "Latin-1"))};
  });
}

/// A document that has anything to say.
void add_document(std::vector<document>& to, std::string text,
                  std::string source) {
  if (!trimmed(text).empty())
    to.push_back({std::move(text), std::move(source)});
}

/// What stands between two ends, each with its number from 1.
template <class Take>
result<void> cut(std::string_view all, char end, Take take) {
  for (std::size_t number = 1; !all.empty(); ++number) {
    const auto size = std::min(all.find(end), all.size());
    if (auto ok = take(all.substr(0, size), std::to_string(number)); !ok)
      return ok;
    all.remove_prefix(std::min(size + 1, all.size()));
  }
  return {};
}

/// All files of a user, by their paths below its folder. What a link leads to
/// is no folder of it: that may be anywhere, and have this one in it.
result<named_paths> files_below(const fs::path& folder) {
  named_paths out;
  std::vector<fs::path> folders{{}};
  while (!folders.empty()) {
    const auto below = std::move(folders.back());
    folders.pop_back();
    const auto found = entries_of(below.empty() ? folder : folder / below);
    if (!found)
      return found;
    for (const auto& [name, path] : *found) {
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored))
        out.emplace((below / name).string(), path);
      else if (!fs::is_symlink(path, ignored))
        folders.push_back(below / name);
    }
  }
  return out;
}

result<void> read_folder(const fs::path& path, std::vector<document>& to) {
  const auto files = files_below(path);
  if (!files)
    return tl::make_unexpected(files.error());
  for (const auto& [name, file] : *files) {
    auto text = letters_of_file(file);
    if (!text)
      return tl::make_unexpected(text.error());
    add_document(to, std::move(*text), name);
  }
  return {};
}

/// {"text", "source"?}; what else there is, others read.
result<void> add_line(const std::string& where, const std::string& number,
                      std::string_view line, std::vector<document>& to) {
  if (trimmed(line).empty())
    return {};
  const auto found = json::parse_line(line);
  const auto* text = found ? found->find("text") : nullptr;
  if (text == nullptr || text->text() == nullptr)
    return fail_at(
      where,
      "is no document"
        + (found ? about_no_text(*found, "text") : ": " + found.error().context)
        + "; {\"text\": \"…\"}" + about_list(line) + " would do");
  auto source = said_source(*found, where);
  if (!source)
    return tl::make_unexpected(source.error());
  // One of its own has a name that no other says.
  add_document(to, *text->text(),
               source->empty() ? number : std::move(*source));
  return {};
}

result<std::vector<document>> read_documents(const user_place& from) {
  std::vector<document> out;
  if (from.kind == user_kind::folder)
    return read_folder(from.path, out).map([&] { return std::move(out); });
  const bool lines = from.kind == user_kind::lines;
  // A line that is none is refused by what else it says.
  const auto all = lines ? text_of_file(from.path) : letters_of_file(from.path);
  if (!all)
    return tl::make_unexpected(all.error());
  return cut(*all, lines ? '\n' : '\f',
             [&](std::string_view x, const std::string& number) {
               if (lines)
                 return add_line(from.path.string() + ":" + number, number, x,
                                 out);
               add_document(out, std::string{x}, number);
               return result<void>{};
             })
    .map([&] { return std::move(out); });
}

result<user_text> user_at(const std::string& name, const user_place& place) {
  auto documents = read_documents(place);
  if (!documents)
    return tl::make_unexpected(documents.error());
  if (documents->empty())
    return fail_at(place.path.string(),
                   "user " + in_quotes(shortened(name))
                     + " has no text; a document would do");
  return user_text{.name = name, .documents = std::move(*documents)};
}

/// One name that looks like several.
std::string about_several(std::string_view x) {
  return x.find(',') == x.npos ? "" : "; several are a list, as ['A', 'B']";
}

} // namespace

result<std::vector<std::string>>
names_of_users(const std::filesystem::path& folder) {
  return places_of_users(folder, {}).map([](const user_places& xs) {
    std::vector<std::string> names;
    for (const auto& [name, place] : xs)
      names.push_back(name);
    return names;
  });
}

result<std::string> said_source(const json& line, std::string_view where) {
  const auto* found = line.find("source");
  if (found == nullptr || found->dump() == "null")
    return std::string{};
  if (const auto* name = found->text())
    return '=' + *name;
  // Corpora number their articles.
  if (const auto number = found->count())
    return '=' + std::to_string(*number);
  return fail_at(where, "has " + shortened(found->dump())
                          + " under 'source'; a text or a whole number from 0 "
                            "to 18446744073709551615 would do, or no such key");
}

std::vector<std::string> files_of_nobody(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  if (const auto found = entries_of(folder))
    for (const auto& [name, path] : *found)
      if (!kind_of(path))
        names.push_back(name);
  return names;
}

bool has_texts_as_lines(const std::filesystem::path& file) {
  return file.extension() == ".jsonl";
}

result<std::vector<std::string>> texts_in(const std::filesystem::path& file,
                                          letter_rule rule) {
  const bool lines = has_texts_as_lines(file);
  auto all = lines || rule == letter_rule::any_bytes ? text_of_file(file)
                                                     : letters_of_file(file);
  if (!all)
    return tl::make_unexpected(all.error());
  if (!lines)
    return std::vector<std::string>{std::move(*all)};
  std::vector<document> documents;
  return cut(*all, '\n',
             [&](std::string_view x, const std::string& number) {
               return add_line(file.string() + ":" + number, number, x,
                               documents);
             })
    .map([&] {
      std::vector<std::string> texts;
      for (auto& x : documents)
        texts.push_back(std::move(x.text));
      return texts;
    });
}

result<std::vector<user_text>>
read_users(const std::filesystem::path& folder,
           const std::vector<std::string>& users) {
  const auto places = places_of_users(folder, users);
  if (!places)
    return tl::make_unexpected(places.error());
  auto wanted = users;
  if (wanted.empty())
    for (const auto& [name, place] : *places)
      wanted.push_back(name);
  std::vector<user_text> out;
  for (const auto& name : wanted) {
    const auto at = places->find(name);
    if (at == places->end())
      return fail_at(folder.string(), "has no user "
                                        + in_quotes(shortened(name))
                                        + "; there are " + listed(*places)
                                        + about_several(name));
    auto user = user_at(name, at->second);
    if (!user)
      return tl::make_unexpected(user.error());
    out.push_back(std::move(*user));
  }
  return out;
}

result<user_text> read_one_user(const std::filesystem::path& path) {
  const auto bare = [](const std::filesystem::path& x) {
    return x.has_filename() ? x : x.parent_path();
  };
  const auto at = bare(path);
  if (auto ok = check_entry(at); !ok)
    return tl::make_unexpected(ok.error());
  const auto kind = kind_of(at);
  if (!kind)
    return fail_at(path.string(),
                   "is no text of a user by its ending; a .txt, a .jsonl or a "
                   "folder of texts would do");
  // However it is written, the same place has the same name.
  const auto whole = bare(std::filesystem::absolute(at).lexically_normal());
  const auto name =
    *kind == user_kind::folder ? whole.filename() : whole.stem();
  return user_at(name.string(), {at, *kind});
}

} // namespace troupe::models
