#pragma once

#include <string>
#include <string_view>

namespace troupe::models {

/// An English word without its endings, by Porter's rules with the changes that
/// `nltk` makes to them: "maintained" and "maintains" have one stem. In lower
/// case; letters beyond ASCII count as consonants.
std::u32string word_stem(std::string_view word);

} // namespace troupe::models
