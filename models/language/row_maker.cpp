#include "models/language/row_maker.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "models/language/stream_cache.hpp"
#include "models/language/token_span.hpp"
#include "models/language/word_tokens.hpp"

namespace troupe::models {

namespace {

void append_tokens(std::vector<token_id>& to, std::span<const token_id> from) {
  to.insert(to.end(), from.begin(), from.end());
}

void set_ends(made_row& x, std::size_t first, std::size_t last) {
  x.first = static_cast<std::uint32_t>(first);
  x.last = static_cast<std::uint32_t>(last);
}

/// The longer one loses its last tokens until both are equal, then both do. One
/// token that is left over is the longer one's, of equals the second's. Whether
/// any was lost.
bool cut_to_room(std::size_t room, std::vector<token_id>& first,
                 std::vector<token_id>& second) {
  if (first.size() + second.size() <= room)
    return false;
  const bool is_first_longer = first.size() > second.size();
  auto& longer = is_first_longer ? first : second;
  auto& shorter = is_first_longer ? second : first;
  shorter.resize(std::min(shorter.size(), room / 2));
  longer.resize(room - shorter.size());
  return true;
}

} // namespace

row_maker::row_maker(text_task task, std::size_t context, std::size_t stride,
                     const tokenizer& by)
  : task_(task),
    context_(context),
    stride_(stride),
    by_(by),
    frame_(frame_of(by)) {
  // nop
}

row_maker::made row_maker::make(const labelled_text& text,
                                bool is_judged) const {
  made_row x{.ids = frame_.before};
  switch (task_) {
    case text_task::span:
      return make_span(text, std::move(x), is_judged);
    case text_task::describe:
      return make_description(text, std::move(x));
    case text_task::language:
    case text_task::classify:
      break;
  }
  return text.second ? make_pair(text) : make_class(text, std::move(x));
}

result<std::vector<made_row>> row_maker::make_all(const labelled_text& text,
                                                  bool is_judged) const {
  if (task_ == text_task::span && stride_ > 0)
    return make_windows(text, is_judged);
  return make(text, is_judged).map([](std::optional<made_row> x) {
    std::vector<made_row> all;
    if (x)
      all.push_back(std::move(*x));
    return all;
  });
}

result<std::vector<made_row>> row_maker::make_windows(const labelled_text& text,
                                                      bool is_judged) const {
  made_row head{.ids = frame_.before};
  if (auto ok = by_.encode(text.before, special_rule::as_text, head.ids); !ok)
    return tl::make_unexpected(ok.error());
  append_tokens(head.ids, frame_.after);
  const auto begin = head.text_first = head.ids.size();
  const auto words = word_tokens::of(text.text, by_);
  if (!words)
    return tl::make_unexpected(words.error());
  const std::span ids{words->ids()};
  const auto room = context_ - std::min(context_, begin + frame_.after.size());
  // A question that leaves no more than what is in common is asked of the
  // first.
  const bool has_later = room > stride_ && ids.size() > room;
  if (!has_later)
    return row_maker{task_, context_, 0, by_}.make_all(text, is_judged);
  const bool has_answer = text.begin != text.end;
  const auto answer =
    has_answer ? words->of_bytes(text.begin, text.end) : std::nullopt;
  bool is_seen = !has_answer;
  std::vector<made_row> all;
  for (std::size_t at = 0, end = 0; end < ids.size(); at += room - stride_) {
    end = std::min(at + room, ids.size());
    auto& x = all.emplace_back(head);
    x.skipped = static_cast<std::uint32_t>(at);
    append_tokens(x.ids, ids.subspan(at, end - at));
    append_tokens(x.ids, frame_.after);
    if (!answer || answer->first < at || answer->second >= end)
      continue;
    set_ends(x, begin + answer->first - at, begin + answer->second - at);
    is_seen = true;
  }
  if (!is_seen && !is_judged)
    return std::vector<made_row>{};
  for (auto& x : all)
    if (!is_seen)
      set_ends(x, token_span::beyond().first, token_span::beyond().last);
  return all;
}

/// What stands behind a text has its place in any case.
void row_maker::close(made_row& x) const {
  const auto room =
    context_ - std::min<std::size_t>(context_, frame_.after.size());
  x.is_cut = x.ids.size() > room;
  x.ids.resize(std::min(x.ids.size(), room));
  append_tokens(x.ids, frame_.after);
  x.ids.resize(std::min(x.ids.size(), context_));
}

row_maker::made row_maker::make_class(const labelled_text& text,
                                      made_row x) const {
  const auto first = x.ids.size();
  return by_.encode(text.text, special_rule::as_text, x.ids)
    .map([&]() -> std::optional<made_row> {
      close(x);
      if (x.ids.size() <= first + frame_.after.size())
        return std::nullopt;
      return x;
    });
}

row_maker::made row_maker::make_pair(const labelled_text& text) const {
  const auto* around = by_.pair();
  if (around == nullptr)
    return fail(errc::invalid_data,
                "its texts have second ones, and the tokenizer, which is "
                  + std::string{by_.kind()}
                  + ", has no template for two texts, with tokens of one type "
                    "or of a first and then a second; that of a model that was "
                    "made for pairs would do");
  std::vector<token_id> first, second;
  auto ok = by_.encode(text.text, special_rule::as_text, first).and_then([&] {
    return by_.encode(*text.second, special_rule::as_text, second);
  });
  if (!ok)
    return tl::make_unexpected(ok.error());
  const auto beside =
    around->before.size() + around->between.size() + around->after.size();
  made_row x{.ids = around->before};
  x.is_cut = cut_to_room(context_ - std::min(context_, beside), first, second);
  if (first.empty() && second.empty())
    return std::nullopt;
  append_tokens(x.ids, first);
  if (around->first_typed)
    x.second_from =
      static_cast<std::uint32_t>(x.ids.size() + *around->first_typed);
  append_tokens(x.ids, around->between);
  append_tokens(x.ids, second);
  append_tokens(x.ids, around->after);
  return x;
}

row_maker::made row_maker::make_span(const labelled_text& text, made_row x,
                                     bool is_judged) const {
  if (auto ok = by_.encode(text.before, special_rule::as_text, x.ids); !ok)
    return tl::make_unexpected(ok.error());
  append_tokens(x.ids, frame_.after);
  const auto begin = x.text_first = x.ids.size();
  const auto words = word_tokens::of(text.text, by_);
  if (!words)
    return tl::make_unexpected(words.error());
  if (words->ids().empty())
    return std::nullopt;
  append_tokens(x.ids, words->ids());
  close(x);
  // Behind it stands what ends it.
  const auto end = x.ids.size() - std::min(x.ids.size(), frame_.after.size());
  const bool has_answer = text.begin != text.end;
  const auto answer =
    has_answer ? words->of_bytes(text.begin, text.end) : std::nullopt;
  const bool is_seen =
    begin < end && (!has_answer || (answer && begin + answer->second < end));
  if (is_seen && answer)
    set_ends(x, begin + answer->first, begin + answer->second);
  if (is_seen)
    return x;
  if (!is_judged)
    return std::nullopt;
  // Figures would look better without it.
  if (has_answer)
    set_ends(x, token_span::beyond().first, token_span::beyond().last);
  return x;
}

row_maker::made row_maker::make_description(const labelled_text& text,
                                            made_row x) const {
  if (auto ok = by_.encode(text.before, special_rule::as_text, x.ids); !ok)
    return tl::make_unexpected(ok.error());
  // Nothing foretells the first token of all.
  const auto first = std::max<std::size_t>(x.ids.size(), 1);
  if (auto ok = by_.encode(text.text, special_rule::as_text, x.ids); !ok)
    return tl::make_unexpected(ok.error());
  append_tokens(x.ids, frame_.after);
  x.is_cut = x.ids.size() > context_;
  x.ids.resize(std::min(x.ids.size(), context_));
  x.first = static_cast<std::uint32_t>(first);
  if (first >= x.ids.size())
    return std::nullopt;
  return x;
}

} // namespace troupe::models
