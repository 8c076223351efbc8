#include "models/language/text_pattern.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/told_pattern.hpp"

namespace troupe::models {

namespace {

constexpr std::uint32_t rules_of_patterns =
  PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C
  | PCRE2_AUTO_CALLOUT;

constexpr std::uint32_t heap_kib_max = 64 * 1024;

/// For each byte of a text. Patterns that people use try each of their parts
/// once at a letter, or a few times.
constexpr std::size_t steps_least = 64;
constexpr std::size_t steps_by_pattern_max = 1024;

/// So many bytes more than a text has, for short ones.
constexpr std::size_t bytes_beside = 64;

/// What is left of what searching in one text may take.
struct steps_left {
  std::size_t left = 0;
  std::size_t at = 0; ///< In the text.
};

/// The library calls before each part of a pattern that it tries. Its own
/// limits count anew at each letter, and do not see how far a part goes: here
/// the way between two calls counts.
int count_step(pcre2_callout_block* x, void* rest) {
  auto& steps = *static_cast<steps_left*>(rest);
  const std::size_t now = x->current_position;
  const auto taken = 1 + (now > steps.at ? now - steps.at : steps.at - now);
  steps.at = now;
  if (taken > steps.left) {
    steps.left = 0;
    return PCRE2_ERROR_CALLOUT;
  }
  steps.left -= taken;
  return 0;
}

struct code_freed {
  void operator()(pcre2_code* x) const noexcept {
    pcre2_code_free(x);
  }
};

struct rules_freed {
  void operator()(pcre2_compile_context* x) const noexcept {
    pcre2_compile_context_free(x);
  }
};

struct context_freed {
  void operator()(pcre2_match_context* x) const noexcept {
    pcre2_match_context_free(x);
  }
};

struct matches_freed {
  void operator()(pcre2_match_data* x) const noexcept {
    pcre2_match_data_free(x);
  }
};

std::string reason_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR pattern_text(std::string_view x) noexcept {
  return reinterpret_cast<PCRE2_SPTR>(x.empty() ? "" : x.data());
}

} // namespace

struct text_pattern::compiled {
  std::unique_ptr<pcre2_code, code_freed> code;
  std::string name;         ///< For texts.
  std::size_t steps_by = 0; ///< For each byte.
};

text_pattern::text_pattern(std::unique_ptr<compiled> x)
  : compiled_(std::move(x)) {
  // nop
}

text_pattern::text_pattern(text_pattern&&) noexcept = default;
text_pattern& text_pattern::operator=(text_pattern&&) noexcept = default;
text_pattern::~text_pattern() = default;

result<text_pattern> text_pattern::compile(std::string_view pattern,
                                           std::string_view origin) {
  const auto name =
    std::string{origin} + ": pattern " + in_quotes(shortened(pattern));
  if (pattern.size() > limits::pattern_bytes_max)
    return fail(errc::invalid_data,
                name + " has " + std::to_string(pattern.size())
                  + " bytes; at most "
                  + std::to_string(limits::pattern_bytes_max) + " would do");
  const auto x = told(pattern);
  if (!x)
    return fail(x.error().code, name + " " + x.error().context);
  const std::unique_ptr<pcre2_compile_context, rules_freed> rules{
    pcre2_compile_context_create(nullptr)};
  if (!rules)
    return fail(errc::invalid_data, name + ": no memory is left for it");
  pcre2_set_newline(rules.get(), PCRE2_NEWLINE_LF);
  int code = 0;
  PCRE2_SIZE at = 0;
  auto made = std::make_unique<compiled>();
  made->name = name;
  made->code.reset(pcre2_compile(pattern_text(x->text), x->text.size(),
                                 rules_of_patterns, &code, &at, rules.get()));
  if (!made->code) {
    const auto place = at < x->places.size() ? x->places[at] : pattern.size();
    return fail(errc::invalid_data, name + " is no regular expression at "
                                      + std::to_string(place) + ": "
                                      + reason_of(code));
  }
  // Where a machine lets nobody make code, matching goes without.
  static_cast<void>(pcre2_jit_compile(made->code.get(), PCRE2_JIT_COMPLETE));
  made->steps_by = steps_least + std::min(x->text.size(), steps_by_pattern_max);
  return text_pattern{std::move(made)};
}

struct text_search::state {
  const text_pattern::compiled& by;
  std::string_view text;
  std::size_t steps = 0; ///< Of all searches.
  steps_left rest = {};
  std::unique_ptr<pcre2_match_context, context_freed> context = {};
  std::unique_ptr<pcre2_match_data, matches_freed> matches = {};

  /// How many matches there are, or what is wrong.
  int search(std::size_t from, std::uint32_t options) {
    rest.at = from;
    return pcre2_match(by.code.get(), pattern_text(text), text.size(), from,
                       PCRE2_NO_UTF_CHECK | options, matches.get(),
                       context.get());
  }

  std::string why(int code) const {
    return code == PCRE2_ERROR_CALLOUT
             ? "more than " + std::to_string(steps) + " steps are taken"
             : reason_of(code);
  }
};

text_search::text_search(const text_pattern& by, std::string_view text)
  : state_(std::make_unique<state>(
    state{.by = *by.compiled_,
          .text = text,
          .steps = by.compiled_->steps_by * (text.size() + bytes_beside)})) {
  auto& x = *state_;
  x.rest.left = x.steps;
  x.matches.reset(pcre2_match_data_create(1, nullptr));
  x.context.reset(pcre2_match_context_create(nullptr));
  if (!x.context)
    return;
  pcre2_set_heap_limit(x.context.get(), heap_kib_max);
  pcre2_set_callout(x.context.get(), count_step, &x.rest);
}

text_search::~text_search() = default;

result<std::optional<text_search::found>> text_search::next(std::size_t from) {
  auto& x = *state_;
  if (from > x.text.size())
    return std::optional<found>{};
  auto count =
    x.matches && x.context ? x.search(from, 0) : PCRE2_ERROR_NOMEMORY;
  if (count == PCRE2_ERROR_JIT_STACKLIMIT)
    count = x.search(from, PCRE2_NO_JIT); // That stack is small, and the heap
                                          // is not.
  if (count == PCRE2_ERROR_NOMATCH)
    return std::optional<found>{};
  if (count < 0)
    return fail(errc::invalid_data,
                x.by.name + " gives up at byte " + std::to_string(from) + " of "
                  + std::to_string(x.text.size()) + ": " + x.why(count)
                  + "; a pattern that looks back less, or "
                  + "shorter texts, would do");
  const auto* places = pcre2_get_ovector_pointer(x.matches.get());
  if (places[0] < from || places[1] < places[0])
    return fail(errc::invalid_data,
                x.by.name + " finds what stands before byte "
                  + std::to_string(from) + ", where it began");
  return std::optional{found{.begin = places[0], .end = places[1]}};
}

} // namespace troupe::models
