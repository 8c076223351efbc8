#include "models/language/scores/word_stem.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

using letters = std::u32string;
using letters_view = std::u32string_view;

/// Broken bytes are letters of their own.
letters letters_of(std::string_view word) {
  constexpr char32_t of_bytes = 0xdc00;
  const auto lower = lowercased(word);
  letters to;
  for (std::size_t at = 0; at < lower.size();) {
    const auto x = letter_at(lower, at);
    to += x.valid ? x.value
                  : static_cast<char32_t>(
                    of_bytes + static_cast<unsigned char>(lower[at]));
    at += x.bytes;
  }
  return to;
}

/// Of each letter. A y is one where the letter before it is none.
std::vector<bool> are_consonants(letters_view word) {
  constexpr letters_view vowels = U"aeiou";
  std::vector<bool> are(word.size());
  for (std::size_t i = 0; i < word.size(); ++i)
    are[i] = word[i] == U'y' ? i == 0 || !are[i - 1]
                             : vowels.find(word[i]) == vowels.npos;
  return are;
}

/// How often a consonant follows a vowel.
std::size_t measure(letters_view word) {
  const auto are = are_consonants(word);
  std::size_t n = 0;
  for (std::size_t i = 1; i < are.size(); ++i)
    n += !are[i - 1] && are[i];
  return n;
}

bool has_measure(letters_view word) {
  return measure(word) > 0;
}

bool has_large_measure(letters_view word) {
  return measure(word) > 1;
}

bool has_vowel(letters_view word) {
  const auto are = are_consonants(word);
  return std::find(are.begin(), are.end(), false) != are.end();
}

bool ends_in_double(letters_view word) {
  const auto n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && are_consonants(word).back();
}

/// As "hop", and as "at".
bool ends_short(letters_view word) {
  const auto n = word.size();
  const auto are = are_consonants(word);
  if (n == 2)
    return !are[0] && are[1];
  constexpr letters_view others = U"wxy";
  return n >= 3 && are[n - 3] && !are[n - 2] && are[n - 1]
         && others.find(word[n - 1]) == others.npos;
}

struct word_ending {
  letters_view from, to;
  bool (*holds_of)(letters_view stem) = nullptr; ///< Null: of all.
};

/// The first ending that the word has decides, also where nothing follows.
letters with_ending(letters word, std::span<const word_ending> rules) {
  for (const auto& x : rules) {
    if (!word.ends_with(x.from))
      continue;
    const auto stem = letters_view{word}.substr(0, word.size() - x.from.size());
    if (x.holds_of != nullptr && !x.holds_of(stem))
      return word;
    return letters{stem} += x.to;
  }
  return word;
}

letters without_plural(letters word) {
  static constexpr std::array<word_ending, 4> rules{
    {{U"sses", U"ss"}, {U"ies", U"i"}, {U"ss", U"ss"}, {U"s", U""}}};
  if (word.size() == 4 && word.ends_with(U"ies"))
    return word.substr(0, 3);
  return with_ending(std::move(word), rules);
}

/// After -ed and -ing.
letters mended(letters word) {
  static constexpr std::array<word_ending, 3> rules{
    {{U"at", U"ate"}, {U"bl", U"ble"}, {U"iz", U"ize"}}};
  for (const auto& x : rules)
    if (word.ends_with(x.from))
      return with_ending(std::move(word), rules);
  if (ends_in_double(word)) {
    constexpr letters_view stay = U"lsz";
    if (stay.find(word.back()) == stay.npos)
      word.pop_back();
    return word;
  }
  if (measure(word) == 1 && ends_short(word))
    word += U'e';
  return word;
}

letters without_past(letters word) {
  if (word.ends_with(U"ied"))
    return word.substr(0, word.size() - (word.size() == 4 ? 1 : 2));
  if (word.ends_with(U"eed")) {
    if (has_measure(letters_view{word}.substr(0, word.size() - 3)))
      word.pop_back();
    return word;
  }
  for (const letters_view past : {U"ed", U"ing"})
    if (word.ends_with(past)) {
      const auto stem = word.substr(0, word.size() - past.size());
      if (has_vowel(stem))
        return mended(stem);
    }
  return word;
}

letters with_i(letters word) {
  if (word.size() > 2 && word.back() == U'y'
      && are_consonants(word)[word.size() - 2])
    word.back() = U'i';
  return word;
}

/// Of -logi: its l belongs to the stem, so that short ones are long enough.
bool has_measure_with_l(letters_view stem) {
  return stem.ends_with(U'l') && has_measure(stem);
}

letters with_one_ending_less(letters word) {
  static constexpr std::array<word_ending, 22> rules{
    {{U"ational", U"ate", has_measure}, {U"tional", U"tion", has_measure},
     {U"enci", U"ence", has_measure},   {U"anci", U"ance", has_measure},
     {U"izer", U"ize", has_measure},    {U"bli", U"ble", has_measure},
     {U"alli", U"al", has_measure},     {U"entli", U"ent", has_measure},
     {U"eli", U"e", has_measure},       {U"ousli", U"ous", has_measure},
     {U"ization", U"ize", has_measure}, {U"ation", U"ate", has_measure},
     {U"ator", U"ate", has_measure},    {U"alism", U"al", has_measure},
     {U"iveness", U"ive", has_measure}, {U"fulness", U"ful", has_measure},
     {U"ousness", U"ous", has_measure}, {U"aliti", U"al", has_measure},
     {U"iviti", U"ive", has_measure},   {U"biliti", U"ble", has_measure},
     {U"fulli", U"ful", has_measure},   {U"ogi", U"og", has_measure_with_l}}};
  if (word.ends_with(U"alli")
      && has_measure(letters_view{word}.substr(0, word.size() - 4)))
    return with_one_ending_less(word.substr(0, word.size() - 2));
  return with_ending(std::move(word), rules);
}

letters with_another_less(letters word) {
  static constexpr std::array<word_ending, 7> rules{
    {{U"icate", U"ic", has_measure},
     {U"ative", U"", has_measure},
     {U"alize", U"al", has_measure},
     {U"iciti", U"ic", has_measure},
     {U"ical", U"ic", has_measure},
     {U"ful", U"", has_measure},
     {U"ness", U"", has_measure}}};
  return with_ending(std::move(word), rules);
}

bool ends_in_s_or_t(letters_view stem) {
  return has_large_measure(stem)
         && (stem.back() == U's' || stem.back() == U't');
}

letters without_last_ending(letters word) {
  static constexpr auto is = has_large_measure;
  static constexpr std::array<word_ending, 19> rules{
    {{U"al", U"", is},
     {U"ance", U"", is},
     {U"ence", U"", is},
     {U"er", U"", is},
     {U"ic", U"", is},
     {U"able", U"", is},
     {U"ible", U"", is},
     {U"ant", U"", is},
     {U"ement", U"", is},
     {U"ment", U"", is},
     {U"ent", U"", is},
     {U"ion", U"", ends_in_s_or_t},
     {U"ou", U"", is},
     {U"ism", U"", is},
     {U"ate", U"", is},
     {U"iti", U"", is},
     {U"ous", U"", is},
     {U"ive", U"", is},
     {U"ize", U"", is}}};
  return with_ending(std::move(word), rules);
}

letters tidied(letters word) {
  if (word.ends_with(U'e')) {
    const auto stem = letters_view{word}.substr(0, word.size() - 1);
    if (has_large_measure(stem) || (has_measure(stem) && !ends_short(stem)))
      word.pop_back();
  }
  if (word.ends_with(U"ll")
      && has_large_measure(letters_view{word}.substr(0, word.size() - 1)))
    word.pop_back();
  return word;
}

std::optional<letters_view> irregular(letters_view word) {
  using pair = std::pair<letters_view, letters_view>;
  static constexpr std::array<pair, 16> known{{{U"sky", U"sky"},
                                               {U"skies", U"sky"},
                                               {U"dying", U"die"},
                                               {U"lying", U"lie"},
                                               {U"tying", U"tie"},
                                               {U"news", U"news"},
                                               {U"innings", U"inning"},
                                               {U"inning", U"inning"},
                                               {U"outings", U"outing"},
                                               {U"outing", U"outing"},
                                               {U"cannings", U"canning"},
                                               {U"canning", U"canning"},
                                               {U"howe", U"howe"},
                                               {U"proceed", U"proceed"},
                                               {U"exceed", U"exceed"},
                                               {U"succeed", U"succeed"}}};
  for (const auto& x : known)
    if (x.first == word)
      return x.second;
  return {};
}

} // namespace

std::u32string word_stem(std::string_view word) {
  auto x = letters_of(word);
  if (const auto known = irregular(x))
    return letters{*known};
  if (x.size() <= 2)
    return x;
  x = with_i(without_past(without_plural(std::move(x))));
  x = with_another_less(with_one_ending_less(std::move(x)));
  return tidied(without_last_ending(std::move(x)));
}

} // namespace troupe::models
