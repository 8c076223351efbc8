#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "core/text.hpp"
#include "models/language/pipeline_steps.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

struct stretch {
  std::size_t begin = 0, end = 0;
  bool matches = false; ///< Afterwards: it goes.
};

/// Joins a match to what stands before it, unless that is one, too.
void join_to_previous(std::vector<stretch>& xs) {
  bool matched = false;
  std::size_t kept = 0;
  for (const auto x : xs) {
    if (x.matches && !matched && kept > 0)
      xs[kept - 1].end = x.end;
    else
      xs[kept++] = {x.begin, x.end, false};
    matched = x.matches;
  }
  xs.resize(kept);
}

/// The same from the end.
void join_to_next(std::vector<stretch>& xs) {
  bool matched = false;
  auto first = xs.size();
  for (auto i = xs.size(); i > 0; --i) {
    const auto x = xs[i - 1];
    if (x.matches && !matched && first < xs.size())
      xs[first].begin = x.begin;
    else
      xs[--first] = {x.begin, x.end, false};
    matched = x.matches;
  }
  xs.erase(xs.begin(), xs.begin() + static_cast<std::ptrdiff_t>(first));
}

/// Joins those of a kind. What does not match joins nothing at the beginning.
void join_alike(std::vector<stretch>& xs) {
  bool matched = false;
  std::size_t kept = 0;
  for (const auto x : xs) {
    if (x.matches == matched && kept > 0)
      xs[kept - 1].end = x.end;
    else
      xs[kept++] = {x.begin, x.end, false};
    matched = x.matches;
  }
  xs.resize(kept);
}

void apply(cut_rule how, std::vector<stretch>& xs) {
  switch (how) {
    case cut_rule::removed:
      return;
    case cut_rule::isolated:
      for (auto& x : xs)
        x.matches = false;
      return;
    case cut_rule::with_previous:
      join_to_previous(xs);
      return;
    case cut_rule::with_next:
      join_to_next(xs);
      return;
    case cut_rule::contiguous:
      join_alike(xs);
      return;
  }
}

using find_stretches = std::function<result<void>(
  std::string_view, const std::function<void(std::string_view, bool)>&)>;

/// A step that cuts each piece by what is found in it.
split_step cutting(find_stretches find, cut_options how) {
  return
    [find = std::move(find),
     how](std::vector<std::string> pieces) -> result<std::vector<std::string>> {
      std::vector<std::string> all;
      std::vector<stretch> found;
      for (const auto& piece : pieces) {
        found.clear();
        const std::string_view text = piece;
        auto ok = find(text, [&](std::string_view x, bool matches) {
          const auto begin = static_cast<std::size_t>(x.data() - text.data());
          found.push_back({begin, begin + x.size(), matches != how.invert});
        });
        if (!ok)
          return tl::unexpected{std::move(ok.error())};
        apply(how.rule, found);
        for (const auto& x : found)
          if (!x.matches && x.end > x.begin)
            all.emplace_back(text.substr(x.begin, x.end - x.begin));
      }
      return all;
    };
}

} // namespace

std::optional<cut_rule> cut_rule_of(std::string_view name) noexcept {
  constexpr std::array<std::pair<std::string_view, cut_rule>, 5> known{{
    {"Isolated", cut_rule::isolated},
    {"Removed", cut_rule::removed},
    {"MergedWithPrevious", cut_rule::with_previous},
    {"MergedWithNext", cut_rule::with_next},
    {"Contiguous", cut_rule::contiguous},
  }};
  const auto found = std::find_if(
    known.begin(), known.end(), [&](const auto& x) { return x.first == name; });
  return found == known.end() ? std::nullopt : std::optional{found->second};
}

// A match without letters cuts, too; directly behind another match it does not,
// and the search goes on one letter later.
result<void>
each_stretch(const text_pattern& by, std::string_view text,
             const std::function<void(std::string_view, bool)>& take) {
  if (!is_utf8(text)) // A table or a decoder may have made that of letters.
    return fail(errc::invalid_data, in_quotes(shortened(text))
                                      + " is no UTF-8, and has no letters "
                                        "that a pattern could match");
  text_search matches{by, text};
  std::size_t at = 0, done = 0;
  std::optional<std::size_t> last;
  while (at <= text.size()) {
    auto next = matches.next(at);
    if (!next)
      return tl::unexpected{std::move(next.error())};
    if (!*next)
      break;
    const auto x = **next;
    if (x.begin == x.end && last == x.end) {
      at = x.end + (x.end < text.size() ? letter_at(text, x.end).bytes : 1);
      continue;
    }
    if (x.begin > done)
      take(text.substr(done, x.begin - done), false);
    take(text.substr(x.begin, x.end - x.begin), true);
    at = done = x.end;
    last = x.end;
  }
  if (done < text.size())
    take(text.substr(done), false);
  return {};
}

result<split_step> cut_by(std::string_view pattern, const cut_options& how,
                          std::string_view origin) {
  auto compiled = text_pattern::compile(pattern, origin);
  if (!compiled)
    return tl::unexpected{std::move(compiled.error())};
  return cutting(
    [by = std::make_shared<const text_pattern>(std::move(*compiled))](
      std::string_view text, const auto& take) {
      return each_stretch(*by, text, take);
    },
    how);
}

split_step cut_at(std::function<bool(char32_t)> test, const cut_options& how) {
  return cutting(
    [test = std::move(test)](std::string_view text,
                             const auto& take) -> result<void> {
      std::size_t done = 0;
      for (std::size_t at = 0; at < text.size();) {
        const auto x = letter_at(text, at);
        if (test(x.value)) {
          if (done < at)
            take(text.substr(done, at - done), false);
          take(text.substr(at, x.bytes), true);
          done = at + x.bytes;
        }
        at += x.bytes;
      }
      if (done < text.size())
        take(text.substr(done), false);
      return {};
    },
    how);
}

} // namespace troupe::models
