#include "models/language/told_pattern.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

/// What \w has where it stands by itself, and not in a set.
constexpr std::string_view words_alone = "²³¹¼½¾";

/// Letters which Oniguruma finds under (?i) as one: U+00DF, U+FB00 to U+FB06.
bool is_one_letter(char32_t first, char32_t second) noexcept {
  constexpr std::array<std::pair<char32_t, char32_t>, 5> known{
    {{'s', 's'}, {'s', 't'}, {'f', 'f'}, {'f', 'i'}, {'f', 'l'}}};
  for (const auto& x : known)
    if (x.first == first && x.second == second)
      return true;
  return false;
}

char32_t small(char32_t x) noexcept {
  return x >= 'A' && x <= 'Z' ? x + ('a' - 'A') : x;
}

std::string word_boundary(bool negated) {
  const auto word =
    "[" + std::string{word_members} + std::string{words_alone} + "]";
  const auto before = "(?<=" + word + ")", not_before = "(?<!" + word + ")",
             behind = "(?=" + word + ")", not_behind = "(?!" + word + ")";
  return negated
           ? "(?:" + before + behind + "|" + not_before + not_behind + ")"
           : "(?:" + before + not_behind + "|" + not_before + behind + ")";
}

/// Begins a group at each of these places.
told_pattern grouped(const told_pattern& x, std::vector<std::size_t> begins) {
  std::ranges::sort(begins);
  told_pattern out;
  auto copy_to = [&, at = std::size_t{0}](std::size_t end) mutable {
    out.text.append(x.text, at, end - at);
    out.places.insert(out.places.end(),
                      x.places.begin() + static_cast<std::ptrdiff_t>(at),
                      x.places.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  };
  for (const auto begin : begins) {
    copy_to(begin);
    out.add("(?:", x.places[begin]);
  }
  copy_to(x.text.size());
  return out;
}

class pattern_reader {
public:
  explicit pattern_reader(std::string_view pattern) : p_{.text = pattern} {
    // nop
  }

  result<told_pattern> read() {
    while (!p_.ends())
      if (auto ok = read_one(); !ok)
        return tl::unexpected{std::move(ok.error())};
    told_.add(std::string(open_.back().ends, ')'), p_.at);
    return grouped(told_, std::move(counted_));
  }

private:
  struct group {
    std::size_t begin = 0;    ///< In what is told.
    std::size_t ends = 0;     ///< Of groups in it that its own end closes.
    bool case_around = false; ///< Whether (?i) holds around it.
    std::size_t number = 0;   ///< Of one that is remembered.
  };

  tl::unexpected<error> refuse(std::size_t begin, std::string_view otherwise) {
    return reads_otherwise(p_.text, begin, p_.at, otherwise);
  }

  /// What a repeat repeats.
  void add_atom(std::string_view x, std::size_t place) {
    atom_ = told_.text.size();
    told_.add(x, place);
    last_ = 0;
  }

  /// What stands between letters.
  void add_mark(std::string_view x, std::size_t place) {
    told_.add(x, place);
    atom_.reset();
    last_ = 0;
  }

  result<void> read_one() {
    const auto begin = p_.at;
    switch (p_.text[begin]) {
      case '\\':
        return read_escaped();
      case '[': {
        auto x = read_set(p_);
        if (!x)
          return tl::unexpected{std::move(x.error())};
        add_atom(*x, begin);
        return {};
      }
      case '(':
        return open_group();
      case ')':
        ++p_.at;
        close_group(begin);
        return {};
      case '*':
      case '+':
      case '?':
        return read_repeat(p_.text.substr(begin, 1), begin + 1);
      case '{':
        return read_counts();
      case '|':
      case '^':
      case '$':
        add_mark(p_.text.substr(p_.at++, 1), begin);
        return {};
      case '.':
        add_atom(p_.text.substr(p_.at++, 1), begin);
        return {};
      default: {
        const auto x = letter_at(p_.text, begin);
        p_.at += x.bytes;
        return add_letter(x.value, begin);
      }
    }
  }

  result<void> add_letter(char32_t x, std::size_t begin) {
    const auto before = last_;
    add_atom(told_letter(x), begin);
    if (!p_.any_case)
      return {};
    if (!has_known_case(x, x))
      return refuse(begin, "a set of its forms, without (?i),");
    last_ = small(x);
    if (is_one_letter(before, last_))
      return refuse(begin,
                    "a set of this letter alone, which finds no ligature "
                    "or sharp s,");
    return {};
  }

  result<void> read_escaped() {
    const auto begin = p_.at;
    const auto next = begin + 1 < p_.text.size() ? p_.text[begin + 1] : '\0';
    if (next == 'b' || next == 'B') {
      p_.at += 2;
      add_mark(word_boundary(next == 'B'), begin);
      return {};
    }
    if (next == 'A' || next == 'z' || next == 'Z' || next == 'G') {
      p_.at += 2;
      add_mark(p_.text.substr(begin, 2), begin);
      return {};
    }
    if (next >= '1' && next <= '9')
      return read_reference();
    auto x = read_escape(p_);
    if (!x)
      return tl::unexpected{std::move(x.error())};
    if (x->letter)
      return add_letter(*x->letter, begin);
    if (x->members == word_members)
      x->members += words_alone;
    add_atom(told_class(*x), begin);
    return {};
  }

  /// \1, of a group that has ended.
  result<void> read_reference() {
    const auto begin = std::exchange(p_.at, p_.at + 2);
    const auto group = static_cast<std::size_t>(p_.text[begin + 1] - '0');
    const bool more =
      !p_.ends() && p_.text[p_.at] >= '0' && p_.text[p_.at] <= '9';
    if (more || p_.any_case || !ended_[group])
      return refuse(begin, R"(\1 to \9 behind such a group, outside of (?i),)");
    add_atom(p_.text.substr(begin, 2), begin);
    return {};
  }

  result<void> open_group() {
    const auto begin = p_.at++;
    const auto last = last_;
    for (const std::string_view x : {"?:", "?=", "?!", "?>", "?<=", "?<!"})
      if (p_.stands(x)) {
        p_.at += x.size();
        push_group("(" + std::string{x}, begin, p_.any_case);
        last_ = x == "?:" ? last : 0;
        return {};
      }
    if (p_.stands("?"))
      return read_options(begin);
    if (p_.stands("*")) {
      ++p_.at;
      return refuse(begin, "a group such as (?:…)");
    }
    push_group("(", begin, p_.any_case);
    open_.back().number = ++groups_;
    return {};
  }

  void push_group(std::string_view x, std::size_t begin, bool any_case) {
    open_.push_back({.begin = told_.text.size(), .case_around = p_.any_case});
    add_mark(x, begin);
    p_.any_case = any_case;
  }

  // (?i) holds to the end of the group that it is in, and so do all
  // alternatives behind it: that is a group. (?m) lets a dot find a new line.
  result<void> read_options(std::size_t begin) {
    std::string options = "(?";
    bool on = true, any_case = p_.any_case;
    const auto last = last_;
    for (++p_.at; !p_.ends(); ++p_.at) {
      const auto c = p_.text[p_.at];
      if (c != 'i' && c != 'm' && c != '-')
        break;
      on = on && c != '-';
      any_case = c == 'i' ? on : any_case;
      options += c == 'm' ? 's' : c;
    }
    const auto end = p_.ends() ? '\0' : p_.text[p_.at];
    p_.at += p_.ends() ? 0 : 1;
    if (options.size() == 2 || (end != ':' && end != ')'))
      return refuse(begin, "(?:…), (?i:…) or (?m:…)");
    if (end == ':') {
      push_group(options + ":", begin, any_case);
    } else {
      add_mark(options + ":", begin);
      ++open_.back().ends;
      p_.any_case = any_case;
    }
    last_ = last;
    return {};
  }

  void close_group(std::size_t begin) {
    const auto x = open_.back();
    told_.add(std::string(x.ends + 1, ')'), begin);
    if (open_.size() == 1) { // Which the library says.
      open_.back().ends = 0;
      return;
    }
    p_.any_case = x.case_around;
    atom_ = x.begin;
    if (x.number < ended_.size())
      ended_[x.number] = true;
    open_.pop_back();
  }

  /// Of what is no counts a brace is a letter.
  result<void> read_counts() {
    const auto begin = p_.at;
    const auto digits = [&](std::size_t at) {
      const auto rest = p_.text.substr(at);
      return rest.substr(0, rest.find_first_not_of("0123456789"));
    };
    const auto least = digits(begin + 1);
    auto at = begin + 1 + least.size();
    const bool is_range = p_.text.substr(at).starts_with(',');
    const auto most = is_range ? digits(at + 1) : std::string_view{};
    at += is_range ? 1 + most.size() : 0;
    if (!p_.text.substr(at).starts_with('}')
        || (least.empty() && most.empty())) {
      ++p_.at;
      return add_letter('{', begin);
    }
    ++at;
    const auto counts = "{" + (least.empty() ? "0" : std::string{least})
                        + (is_range ? "," : "") + std::string{most} + "}";
    // What stands behind counts repeats them.
    const auto rest = p_.text.substr(at);
    const bool again =
      rest.starts_with('+') || (!is_range && rest.starts_with('?'));
    if (!again || !atom_)
      return read_repeat(counts, at);
    p_.at = at;
    const bool is_some =
      most.empty() || most.find_first_not_of('0') != most.npos;
    if (least == "1" && is_range && is_some && !rest.starts_with("+?"))
      return {}; // Some, as often as may be: some, in fewer steps.
    counted_.push_back(*atom_);
    told_.add(counts + ")", begin);
    return {};
  }

  /// Lazy, or keeping what it has, by what stands behind it.
  result<void> read_repeat(std::string_view repeat, std::size_t end) {
    const auto begin = std::exchange(p_.at, end);
    if (!atom_)
      return refuse(begin, "a letter, a set or a group before it, and (?:…) "
                           "around what is repeated again,");
    told_.add(repeat, begin);
    if (p_.stands("?") || (p_.stands("+") && repeat.front() != '{'))
      told_.add(p_.text.substr(p_.at++, 1), begin);
    atom_.reset();
    return {};
  }

  pattern_place p_;
  told_pattern told_;
  std::vector<group> open_ = std::vector<group>(1);
  /// Where groups begin that are not there yet: what is counted may be long,
  /// and stand in what is counted, so it is moved once.
  std::vector<std::size_t> counted_;
  std::size_t groups_ = 0;
  std::array<bool, 10> ended_{};    ///< Of the first groups; 0 is none.
  std::optional<std::size_t> atom_; ///< Where it begins in what is told.
  char32_t last_ = 0;               ///< The letter before, small, under (?i).
};

} // namespace

result<told_pattern> told(std::string_view pattern) {
  if (!is_utf8(pattern))
    return fail(errc::invalid_data, "is no UTF-8");
  return pattern_reader{pattern}.read();
}

} // namespace troupe::models
