#include "models/language/labelled_texts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/language/documents.hpp"
#include "models/language/lines.hpp"

namespace troupe::models {

namespace {

std::string what_would_do(const labelled_files& x) {
  switch (x.task) {
    case text_task::span:
      return "{\"text\": \"…\", \"question\": \"…\", \"answer\": \"…\"}";
    case text_task::describe:
      return "{\"before\": \"…\", \"text\": \"…\"}";
    case text_task::language:
    case text_task::classify:
      break;
  }
  return "{\"text\": \"…\", " + json(x.label).dump() + ": \"…\"}";
}

/// Why a user whose lines are not there has no labelled texts.
std::string about_no_lines(const labelled_files& from,
                           const std::string& name) {
  std::error_code ignored;
  std::string other;
  if (std::filesystem::is_directory(from.folder / name, ignored))
    other = "a folder " + in_quotes(shortened(name));
  else if (is_there(from.folder / (name + ".txt")))
    other = in_quotes(shortened(name) + ".txt");
  if (other.empty())
    return {};
  return "user " + in_quotes(shortened(name)) + " has " + other
         + ", and texts that are labelled are lines of "
         + in_quotes(shortened(name) + ".jsonl") + ": " + what_would_do(from)
         + " would do";
}

/// Where the letter of a number begins; nothing: there are not so many.
std::optional<std::size_t> byte_at_letter(std::string_view text,
                                          std::uint64_t letter) {
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool goes_on =
      i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
    if (!goes_on && letter-- == 0)
      return i;
  }
  return std::nullopt;
}

std::size_t letters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char x) {
    return (static_cast<unsigned char>(x) & 0xc0) != 0x80;
  }));
}

/// Reads the lines of one file.
class labelled_reader {
public:
  labelled_reader(const labelled_files& how, std::string path)
    : how_(how),
      path_(std::move(path)) {
    // nop
  }

  result<void> add(std::string_view line, std::size_t number,
                   std::vector<labelled_text>& to) {
    if (trimmed(line).empty())
      return {};
    where_ = path_ + ':' + std::to_string(number);
    const auto found = json::parse_line(line);
    if (!found)
      return refuse_form(": " + found.error().context, line);
    labelled_text x;
    const std::string behind = how_.task == text_task::span       ? "question"
                               : how_.task == text_task::describe ? "before"
                                                                  : "";
    const auto* text = text_at(*found, "text");
    const auto* before = behind.empty() ? &x.before : text_at(*found, behind);
    if (text == nullptr || before == nullptr)
      return refuse_form(
        about_no_text(*found, text == nullptr ? "text" : behind), line);
    x.text = *text;
    x.before = *before;
    if (auto ok = read_label(*found, x); !ok)
      return ok;
    if (auto ok = read_part(*found, x); !ok)
      return ok;
    if (how_.task == text_task::span)
      if (auto ok = read_answer(*found, x); !ok)
        return ok;
    if (how_.task == text_task::classify)
      if (auto ok = read_second(*found, to, x); !ok)
        return ok;
    return said_source(*found, where_).map([&](std::string source) {
      x.source = std::move(source);
      to.push_back(std::move(x));
    });
  }

private:
  /// @param why behind what it is
  tl::unexpected<error> refuse_form(const std::string& why,
                                    std::string_view line) const {
    return fail_at(where_, "is no labelled text" + why + "; "
                             + what_would_do(how_) + about_list(line)
                             + " would do");
  }

  static const std::string* text_at(const json& in, std::string_view key) {
    const auto* found = in.find(key);
    return found ? found->text() : nullptr;
  }

  result<void> read_label(const json& in, labelled_text& to) const {
    const auto* found = in.find(how_.label);
    const auto* text = found != nullptr ? found->text() : nullptr;
    const bool is_blank = text != nullptr && trimmed(*text).empty();
    if (how_.task != text_task::classify && (found == nullptr || is_blank))
      return {};
    if (text != nullptr && !is_blank)
      to.label = *text;
    else if (found != nullptr && found->count())
      to.label = std::to_string(*found->count());
    else
      return fail_at(
        where_,
        "has "
          + (found != nullptr
               ? shortened(found->dump()) + " under " + in_quotes(how_.label)
                   + "; a text" + (is_blank ? " that says something" : "")
                   + " or a whole number from 0 to 18446744073709551615 would "
                     "do"
               : "no " + in_quotes(how_.label)
                   + " that is a text or a whole number" + about_keys(in))
          + "; 'data.label' says which key has the class");
    return {};
  }

  result<void> read_part(const json& in, labelled_text& to) const {
    const auto* found = how_.part.empty() ? nullptr : in.find(how_.part);
    if (found == nullptr || found->dump() == "null")
      return {};
    constexpr std::array parts{std::pair{"train", text_part::train},
                               std::pair{"validation", text_part::validation},
                               std::pair{"test", text_part::test}};
    for (const auto& [name, part] : parts)
      if (found->text() != nullptr && *found->text() == name) {
        to.part = part;
        return {};
      }
    return fail_at(where_, "has " + shortened(found->dump()) + " under "
                             + in_quotes(how_.part)
                             + "; \"train\", \"validation\" or \"test\" would "
                               "do, or no such key: then it is drawn");
  }

  /// @param before the file's texts so far
  result<void> read_second(const json& in,
                           const std::vector<labelled_text>& before,
                           labelled_text& to) const {
    const auto* found = in.find("second");
    if (found != nullptr && found->text() != nullptr)
      to.second = *found->text();
    else if (found != nullptr && found->dump() != "null")
      return fail_at(where_, "has a 'second' that is no text; \"…\", which is "
                             "classified with its text, would do, or no such "
                             "key on any line");
    if (before.empty()
        || before.front().second.has_value() == to.second.has_value())
      return {};
    return fail_at(where_, to.second
                             ? "has a 'second', and texts before it have none; "
                               "one on each line, or on none, would do"
                             : "has no 'second', and texts before it have one; "
                               "one on each line, or on none, would do");
  }

  result<void> read_answer(const json& in, labelled_text& to) const {
    const auto* said = in.find("answer");
    const auto* answer = said ? said->text() : nullptr;
    if (answer == nullptr && said != nullptr && said->dump() != "null")
      return fail_at(where_, "has an 'answer' that is no text; \"…\", words of "
                             "the text, would do, or without the key no "
                             "answer");
    if (answer == nullptr || answer->empty())
      return read_others(in, to);
    to.meant.push_back(*answer);
    const auto at = place_of(in, to.text, *answer);
    if (!at)
      return tl::make_unexpected(at.error());
    to.begin = *at;
    to.end = *at + answer->size();
    return read_others(in, to);
  }

  /// The byte at which an answer begins.
  result<std::size_t> place_of(const json& in, const std::string& text,
                               const std::string& answer) const {
    const auto has_answer =
      "has the answer " + in_quotes(shortened(answer)) + ", which its text ";
    const auto first = text.find(answer);
    if (first == text.npos)
      return fail_at(where_, has_answer
                               + "does not have there; words of the text, or "
                                 "no answer, would do");
    const auto* said = in.find("begin");
    if (said == nullptr || said->dump() == "null")
      return first;
    const auto letter = said->count();
    if (!letter)
      return fail_at(where_, "has " + shortened(said->dump())
                               + " under 'begin'; how many letters of the text "
                                 "stand before its answer, a whole number, or "
                                 "no such key would do");
    const auto byte = byte_at_letter(text, *letter);
    if (byte && text.compare(*byte, answer.size(), answer) == 0)
      return *byte;
    return fail_at(
      where_,
      has_answer + "has elsewhere than behind " + std::to_string(*letter)
        + (*letter == 1 ? " letter" : " letters") + ", as its 'begin' says; "
        + std::to_string(letters_in(std::string_view{text}.substr(0, first)))
        + ", or no 'begin', would do");
  }

  result<void> read_others(const json& in, labelled_text& to) const {
    const auto* others = in.find("answers");
    if (others == nullptr)
      return {};
    const auto* all = others->items();
    if (all == nullptr || !std::ranges::all_of(*all, [](const json& x) {
          return x.text() != nullptr;
        }))
      return fail_at(where_, "has 'answers' that are no list of texts; [\"…\", "
                             "\"…\"], or none, would do");
    if (to.meant.empty() && !all->empty())
      return fail_at(where_, "has 'answers' and no 'answer', which is learned; "
                             "one of them that its text has would do");
    for (const auto& x : *all)
      to.meant.push_back(*x.text());
    return {};
  }

  const labelled_files& how_;
  std::string path_;
  std::string where_;
};

result<labelled_user> read_user(const labelled_files& from,
                                const std::string& name) {
  const auto path = from.folder / (name + ".jsonl");
  const auto bytes = read_file(path, errc::invalid_data);
  if (!bytes) {
    if (auto why = about_no_lines(from, name); !why.empty() && !is_there(path))
      return fail_at(from.folder.string(), std::move(why));
    return fail_at(path.string(),
                   "cannot be read, and texts that are labelled are lines of "
                   "it: "
                     + what_would_do(from) + " would do");
  }
  std::string_view rest{reinterpret_cast<const char*>(bytes->data()),
                        bytes->size()};
  labelled_user out{.name = name, .texts = {}};
  labelled_reader reader{from, path.string()};
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const auto size = std::min(rest.find('\n'), rest.size());
    if (auto ok = reader.add(rest.substr(0, size), number, out.texts); !ok)
      return tl::make_unexpected(ok.error());
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  if (out.texts.empty())
    return fail_at(path.string(),
                   "has no text; " + what_would_do(from) + " would do");
  return out;
}

} // namespace

result<std::vector<labelled_user>> read_labelled(const labelled_files& from) {
  auto names = from.users.empty()
                 ? names_of_users(from.folder)
                 : result<std::vector<std::string>>{from.users};
  if (!names)
    return tl::make_unexpected(names.error());
  std::vector<labelled_user> out;
  for (const auto& name : *names) {
    auto user = read_user(from, name);
    if (!user)
      return tl::make_unexpected(user.error());
    out.push_back(std::move(*user));
  }
  const auto says_part = [](const labelled_user& x) {
    return std::ranges::any_of(
      x.texts, [](const labelled_text& y) { return y.part.has_value(); });
  };
  if (!from.part.empty() && std::ranges::none_of(out, says_part))
    return fail_at(from.folder.string(),
                   "has no text that says under " + in_quotes(from.part)
                     + " what it is for; 'data.part' names the key that does");
  return out;
}

std::uint64_t drop_repeated(std::vector<labelled_user>& users) {
  const auto is_in_pairs = [](const labelled_user& x) {
    return !x.texts.empty() && x.texts.front().second.has_value();
  };
  // A document that is gone leaves a hole: its number is its source.
  std::vector<user_text> all;
  for (auto& user : users) {
    auto& to = all.emplace_back(user_text{.name = user.name, .documents = {}});
    for (std::size_t i = 0; i < user.texts.size() && !is_in_pairs(user); ++i)
      to.documents.push_back(
        {.text = std::move(user.texts[i].text), .source = std::to_string(i)});
  }
  const auto dropped = drop_repeated(all);
  for (std::size_t k = 0; k < users.size(); ++k) {
    if (is_in_pairs(users[k]))
      continue;
    std::vector<labelled_text> left;
    for (auto& x : all[k].documents) {
      left.push_back(std::move(users[k].texts[std::stoull(x.source)]));
      left.back().text = std::move(x.text);
    }
    users[k].emptied = users[k].texts.size() - left.size();
    users[k].texts = std::move(left);
    users[k].dropped = all[k].dropped;
  }
  return dropped;
}

std::map<std::string, std::uint64_t>
emptied_of(const std::vector<labelled_user>& users) {
  std::map<std::string, std::uint64_t> out;
  for (const auto& x : users)
    if (x.emptied > 0)
      out[x.name] += x.emptied;
  return out;
}

} // namespace troupe::models
