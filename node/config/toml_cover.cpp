#include "node/config/toml_cover.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/text.hpp"

namespace troupe::node {

namespace {

constexpr char tick = '`';
constexpr char end_of_code = '@';
constexpr std::string_view digits = "0123456789abcdef";

std::size_t longest_run_of_ticks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t now = 0;
  for (const auto c : text) {
    now = c == tick ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  return longest;
}

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

/// Two digits for each byte.
std::optional<std::string> bytes_of(std::string_view code) {
  if (code.size() % 2 != 0
      || code.find_first_not_of(digits) != std::string_view::npos)
    return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < code.size(); i += 2)
    out +=
      static_cast<char>(digits.find(code[i]) * 16 + digits.find(code[i + 1]));
  return out;
}

toml_problem no_utf8(const toml::source_region& where) {
  return {where.begin.line, "this text is no UTF-8"};
}

} // namespace

toml_cover::toml_cover(std::string_view text)
  : open_(longest_run_of_ticks(text) + 1, tick) {
  open_ += end_of_code;
  bool within = false;
  for (const auto c : text) {
    if (is_beyond_ascii(c) != within)
      text_ += within ? std::string{end_of_code} : open_;
    within = is_beyond_ascii(c);
    if (within) {
      const auto byte = static_cast<unsigned char>(c);
      text_ += {digits[byte >> 4], digits[byte & 15]};
    } else {
      text_ += c;
    }
  }
  if (within)
    text_ += end_of_code;
}

bool toml_cover::shows_in(std::string_view error) const {
  return text_.find(open_) != text_.npos && error.find(tick) != error.npos;
}

std::string toml_cover::lifted(std::string_view x) const {
  std::string out;
  for (;;) {
    const auto at = x.find(open_);
    const auto begin = at + open_.size();
    const auto end = at == x.npos ? at : x.find(end_of_code, begin);
    if (end == x.npos)
      return out += x;
    const auto bytes = bytes_of(x.substr(begin, end - begin));
    // What is no code of ours was written so, with escapes.
    const auto next = bytes ? end + 1 : begin;
    out += x.substr(0, bytes ? at : next);
    out += bytes.value_or("");
    x.remove_prefix(next);
  }
}

std::optional<toml_problem> toml_cover::lift_name(toml::table& in,
                                                  const toml::key& name) const {
  const auto letters = lifted(name.str());
  if (!is_utf8(letters))
    return no_utf8(name.source());
  const auto [place, is_new] =
    in.insert(toml::key{letters, name.source()}, std::move(*in.get(name)));
  if (!is_new)
    return toml_problem{name.source().begin.line,
                        in_quotes(letters) + " is given twice"};
  in.erase(name.str());
  return std::nullopt;
}

std::optional<toml_problem> toml_cover::lift_node(toml::node& x) const {
  std::optional<toml_problem> wrong;
  if (auto* text = x.as_string()) {
    auto letters = lifted(text->get());
    if (!is_utf8(letters))
      return no_utf8(x.source());
    text->get() = std::move(letters);
  } else if (auto* table = x.as_table()) {
    wrong = lift(*table);
  } else if (auto* list = x.as_array()) {
    for (auto i = list->begin(); i != list->end() && !wrong; ++i)
      wrong = lift_node(*i);
  }
  return wrong;
}

std::optional<toml_problem> toml_cover::lift(toml::table& read) const {
  std::vector<toml::key> covered;
  for (auto&& [name, node] : read) {
    if (auto wrong = lift_node(node))
      return wrong;
    if (name.str().find(open_) != std::string_view::npos)
      covered.push_back(name);
  }
  for (const auto& name : covered)
    if (lifted(name.str()) != name.str())
      if (auto wrong = lift_name(read, name))
        return wrong;
  return std::nullopt;
}

} // namespace troupe::node
