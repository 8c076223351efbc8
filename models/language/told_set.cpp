#include <algorithm>
#include <array>
#include <utility>

#include "core/text.hpp"
#include "models/language/told_pattern.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t sets_deep_max = 16;

constexpr std::string_view hex_digits = "0-9A-Fa-f";

/// General categories, and what else both call by one name.
constexpr std::string_view known_properties =
  " L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk "
  "So Z Zs Zl Zp C Cc Cf Cn Co Cs Alphabetic Uppercase Lowercase White_Space "
  "Join_Control Emoji Extended_Pictographic ";

struct named_members {
  std::string_view name, members;
};

constexpr std::array<named_members, 6> posix_classes{{
  {"[:alpha:]", R"(\p{Alphabetic})"},
  {"[:digit:]", R"(\p{Nd})"},
  {"[:alnum:]", R"(\p{Alphabetic}\p{Nd})"},
  {"[:upper:]", R"(\p{Uppercase})"},
  {"[:lower:]", R"(\p{Lowercase})"},
  {"[:space:]", R"(\p{White_Space})"},
}};

bool is_ascii_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_one_property(std::string_view members) noexcept {
  return members.starts_with(R"(\p)")
         && members.find('}') + 1 == members.size();
}

std::size_t hex_digits_in(std::string_view x) noexcept {
  return std::min(x.find_first_not_of("0123456789abcdefABCDEF"), x.size());
}

/// Whether these digits of a number are one that fits.
std::optional<char32_t> number_of(std::string_view digits) {
  if (digits.empty() || digits.size() > 8
      || hex_digits_in(digits) < digits.size())
    return std::nullopt;
  return static_cast<char32_t>(std::stoul(std::string{digits}, nullptr, 16));
}

/// \x41, \x{e9}, \u00e9. Two digits are a byte, which is a letter below 80.
result<told_escape> read_number(pattern_place& p) {
  const auto begin = p.at;
  const bool is_u = p.text[begin + 1] == 'u', braced = p.text[begin + 2] == '{';
  const auto first = begin + (braced ? 3 : 2);
  const auto rest = p.text.substr(std::min(first, p.text.size()));
  const auto most = std::size_t{is_u ? 4U : braced ? 8U : 2U};
  const auto digits = rest.substr(0, std::min(hex_digits_in(rest), most));
  const auto value = number_of(digits);
  const auto end = first + digits.size();
  p.at = std::min(end + (braced ? 1 : 0), p.text.size());
  const bool is_whole = braced ? !is_u && p.text.substr(end).starts_with('}')
                               : digits.size() == most;
  const bool is_letter = value && *value <= 0x10ffff && *value >> 11 != 0x1b;
  if (!is_letter || !is_whole || (!is_u && !braced && *value >= 0x80))
    return reads_otherwise(p.text, begin, p.at,
                           R"(\x{HHHH} for a letter, or \uHHHH,)");
  return told_escape{.letter = value};
}

/// \p{Lu}, \P{Lu}, \p{^Lu}, \p{Han}. A script's name alone is that of its
/// extensions, too, in our library.
result<told_escape> read_property(pattern_place& p) {
  const auto begin = p.at;
  const auto end = p.text.find('}', begin);
  auto name = p.text.substr(begin, end - begin + (end == p.text.npos ? 0 : 1));
  p.at += std::max(name.size(), std::size_t{2});
  bool negated = name.starts_with(R"(\P)");
  const bool braced = name.size() > 3 && name[2] == '{' && name.back() == '}';
  name = braced ? name.substr(3, name.size() - 4) : std::string_view{};
  if (name.starts_with('^')) {
    negated = !negated;
    name.remove_prefix(1);
  }
  const bool known = !name.empty() && name.find(' ') == name.npos
                     && known_properties.find(" " + std::string{name} + " ")
                          != known_properties.npos;
  const bool may_be_script =
    name.size() > 2 && std::all_of(name.begin(), name.end(), [](char c) {
      return is_ascii_letter(c) || c == '_';
    });
  const bool has_case = name == "Lu" || name == "Ll" || name == "Lt"
                        || name == "Uppercase" || name == "Lowercase";
  if ((!known && !may_be_script) || (p.any_case && has_case))
    return reads_otherwise(p.text, begin, p.at,
                           R"(a category, as \p{L}, or a script, as \p{Han},)");
  return told_escape{.members = (known ? R"(\p{)" : R"(\p{sc:)")
                                + std::string{name} + "}",
                     .negated = negated,
                     .cased = true};
}

struct letter_escape {
  char name;
  char32_t letter;
};

constexpr std::array<letter_escape, 7> letter_escapes{{
  {'a', 0x07},
  {'e', 0x1b},
  {'f', 0x0c},
  {'n', 0x0a},
  {'r', 0x0d},
  {'t', 0x09},
  {'v', 0x0b},
}};

class set_reader {
public:
  explicit set_reader(pattern_place& place) : p_(place) {
    // nop
  }

  /// From the bracket to the one that ends it.
  result<std::string> read() {
    auto x = read_one(0);
    if (!x)
      return tl::unexpected{std::move(x.error())};
    return as_letter(*x);
  }

private:
  /// What stands between two &&.
  struct part {
    std::string members;
    std::vector<std::string> others; ///< Beside the members.

    bool empty() const noexcept {
      return members.empty() && others.empty();
    }
  };

  struct set {
    bool negated = false;
    std::vector<part> parts = std::vector<part>(1);
  };

  static std::string as_letter(const part& x) {
    if (x.others.empty())
      return "[" + x.members + "]";
    if (x.members.empty() && x.others.size() == 1)
      return x.others[0];
    std::string all = x.members.empty() ? "" : "[" + x.members + "]";
    for (const auto& other : x.others)
      all += (all.empty() ? "" : "|") + other;
    return "(?:" + all + ")";
  }

  static std::string as_letter(const set& x) {
    if (x.negated && x.parts.size() == 1 && x.parts[0].others.empty())
      return "[^" + x.parts[0].members + "]";
    std::string all;
    for (std::size_t i = 0; i + 1 < x.parts.size(); ++i)
      all += "(?=" + as_letter(x.parts[i]) + ")";
    all += as_letter(x.parts.back());
    if (x.negated)
      return "(?:(?!" + all + ")(?s:.))";
    return x.parts.size() == 1 ? all : "(?:" + all + ")";
  }

  tl::unexpected<error> refuse(std::size_t begin, std::string_view otherwise) {
    return reads_otherwise(p_.text, begin, p_.at, otherwise);
  }

  result<set> read_one(std::size_t deep) {
    const auto begin = p_.at++;
    if (deep == sets_deep_max)
      return refuse(begin, "sets in at most 16 others");
    set x;
    if (p_.stands("^")) {
      x.negated = true;
      ++p_.at;
    }
    for (bool first = true; first || !p_.stands("]"); first = false) {
      if (p_.ends()) {
        p_.at = begin + 1;
        return refuse(begin, "a ] behind it");
      }
      if (auto ok = read_item(x, first, deep); !ok)
        return tl::unexpected{std::move(ok.error())};
    }
    ++p_.at;
    const bool is_plain = x.parts.size() == 1 && x.parts[0].others.empty();
    if (x.parts.back().empty() || (p_.any_case && !is_plain))
      return refuse(begin, "a set of members alone");
    return x;
  }

  result<void> read_item(set& to, bool first, std::size_t deep) {
    const auto begin = p_.at;
    if (p_.stands("&&")) {
      p_.at += 2;
      if (to.parts.back().empty() || p_.stands("&"))
        return refuse(begin, "a set at both sides of one &&");
      to.parts.emplace_back();
      after_range_ = false;
      return {};
    }
    if (p_.stands("[:"))
      return read_posix(to.parts.back());
    if (p_.stands("["))
      return read_inner(to.parts.back(), deep);
    if (p_.stands("-") && !first && !p_.stands("-]") && !after_range_) {
      ++p_.at;
      return refuse(begin, "a hyphen at the end, or \\-,");
    }
    if (p_.stands("\\") && !p_.stands("\\b")) {
      auto x = read_escape(p_);
      if (!x)
        return tl::unexpected{std::move(x.error())};
      if (!x->letter)
        return add_class(*x, begin, to.parts.back());
      return read_range(*x->letter, begin, to.parts.back());
    }
    const auto letter = read_letter();
    return read_range(letter, begin, to.parts.back());
  }

  char32_t read_letter() {
    if (p_.stands("\\b")) {
      p_.at += 2;
      return 0x08;
    }
    const auto x = letter_at(p_.text, p_.at);
    p_.at += x.bytes;
    return x.value;
  }

  /// A letter has been read, and may begin a range.
  result<void> read_range(char32_t from, std::size_t begin, part& to) {
    auto last = from;
    after_range_ = p_.stands("-") && !p_.stands("-]");
    if (after_range_) {
      ++p_.at;
      const bool is_end = !p_.ends() && !p_.stands("[") && !p_.stands("&&");
      if (is_end && p_.stands("\\") && !p_.stands("\\b")) {
        auto x = read_escape(p_);
        if (!x)
          return tl::unexpected{std::move(x.error())};
        if (!x->letter)
          return refuse(begin, "a letter at the end of the range");
        last = *x->letter;
      } else if (is_end) {
        last = read_letter();
      } else {
        return refuse(begin, "a letter at the end of the range");
      }
    }
    if (p_.any_case && !has_known_case(from, last))
      return refuse(begin, "both cases of a letter, without (?i),");
    to.members += told_letter(from);
    if (after_range_)
      to.members += "-" + told_letter(last);
    return {};
  }

  result<void> add_class(const told_escape& x, std::size_t begin, part& to) {
    after_range_ = false;
    if (p_.any_case && (x.cased || x.negated))
      return refuse(begin, "that class outside of (?i)");
    if (!x.negated)
      to.members += x.members;
    else if (is_one_property(x.members))
      to.members += R"(\P)" + x.members.substr(2);
    else
      to.others.push_back(told_class(x));
    return {};
  }

  result<void> read_posix(part& to) {
    const auto begin = p_.at;
    after_range_ = false;
    for (const auto& x : posix_classes)
      if (p_.stands(x.name)) {
        p_.at += x.name.size();
        if (p_.any_case)
          return refuse(begin, "that class outside of (?i)");
        to.members += x.members;
        return {};
      }
    const auto end = p_.text.find(']', begin);
    p_.at = end == p_.text.npos ? p_.text.size() : end + 1;
    return refuse(begin, R"(a class such as [:alpha:], or \p{L},)");
  }

  result<void> read_inner(part& to, std::size_t deep) {
    auto x = read_one(deep + 1);
    if (!x)
      return tl::unexpected{std::move(x.error())};
    after_range_ = false;
    if (x->negated || x->parts.size() > 1) {
      to.others.push_back(as_letter(*x));
      return {};
    }
    to.members += x->parts[0].members;
    for (auto& other : x->parts[0].others)
      to.others.push_back(std::move(other));
    return {};
  }

  pattern_place& p_;
  bool after_range_ = false; ///< There a hyphen is a letter.
};

} // namespace

tl::unexpected<error> reads_otherwise(std::string_view pattern,
                                      std::size_t begin, std::size_t end,
                                      std::string_view otherwise) {
  return fail(errc::invalid_data,
              "has " + in_quotes(shortened(pattern.substr(begin, end - begin)))
                + " at " + std::to_string(begin)
                + ", which is not read here as in Oniguruma, whose patterns "
                  "these are; "
                + std::string{otherwise} + " would do");
}

bool has_known_case(char32_t from, char32_t to) noexcept {
  constexpr std::array<std::pair<char32_t, char32_t>, 4> known{
    {{0x0, 0x7f}, {0x2010, 0x205f}, {0x2e80, 0xa63f}, {0xac00, 0xd7ff}}};
  return std::any_of(known.begin(), known.end(), [&](const auto& x) {
    return from >= x.first && to <= x.second;
  });
}

// Of \P{L}+\P{N} PCRE2 10.42 takes it that no letter is of both, and gives none
// back; not so of sets.
std::string told_class(const told_escape& x) {
  if (!x.negated && is_one_property(x.members))
    return x.members;
  return (x.negated ? "[^" : "[") + x.members + "]";
}

std::string told_letter(char32_t x) {
  constexpr std::string_view signs = R"(\^$.[]|()?*+{}-&~#)";
  const bool is_sign =
    x < 0x80 && signs.find(static_cast<char>(x)) != signs.npos;
  std::string text = is_sign ? "\\" : "";
  append_utf8(x, text);
  return text;
}

result<told_escape> read_escape(pattern_place& p) {
  const auto begin = p.at;
  const auto next = begin + 1 < p.text.size() ? p.text[begin + 1] : '\0';
  const auto is = [&](std::string_view some) {
    return some.find(next) != some.npos;
  };
  if (is("xu") && begin + 2 < p.text.size())
    return read_number(p);
  if (is("pP"))
    return read_property(p);
  const bool is_alone = !is_ascii_letter(next) && !(next >= '0' && next <= '9');
  if (is_alone && begin + 1 < p.text.size()) {
    const auto x = letter_at(p.text, begin + 1);
    p.at += 1 + x.bytes;
    return told_escape{.letter = x.value};
  }
  p.at = std::min(begin + 2, p.text.size());
  for (const auto& x : letter_escapes)
    if (x.name == next)
      return told_escape{.letter = x.letter};
  const bool negated = next >= 'A' && next <= 'Z';
  if (is("dD"))
    return told_escape{.members = R"(\p{Nd})", .negated = negated};
  if (is(
        "sS")) // The library's own has U+180E, which is none since Unicode 6.3.
    return told_escape{.members = R"(\p{White_Space})", .negated = negated};
  if (is("hH"))
    return told_escape{.members = std::string{hex_digits}, .negated = negated};
  if (is("wW"))
    return told_escape{
      .members = std::string{word_members}, .negated = negated, .cased = true};
  return reads_otherwise(p.text, begin, p.at,
                         R"(what it stands for in letters, or \x{HHHH},)");
}

result<std::string> read_set(pattern_place& p) {
  return set_reader{p}.read();
}

} // namespace troupe::models
