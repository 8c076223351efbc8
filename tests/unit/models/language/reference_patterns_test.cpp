// Where the reference cuts by patterns of which two libraries differ. What they
// are compared with is made by tests/interop/language/patterns.py.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/language/pipeline_steps.hpp"
#include "tests/support/reference_values.hpp"

namespace troupe::models::reference_patterns_test {

namespace {

using test::list_in;

/// How many bytes each piece of a text has.
std::vector<std::size_t> pieces(const split_step& cut,
                                const std::string& text) {
  const auto found = cut({text});
  EXPECT_TRUE(found) << found.error().context;
  std::vector<std::size_t> sizes;
  if (found)
    for (const auto& x : *found)
      sizes.push_back(x.size());
  return sizes;
}

std::vector<std::size_t> sizes_in(const json& xs) {
  std::vector<std::size_t> sizes;
  for (const auto& x : *xs.items())
    sizes.push_back(x.count().value_or(0));
  return sizes;
}

} // namespace

TEST(reference_patterns, cut_where_the_reference_cuts) {
  const auto all = test::reference_values("patterns.json");
  const auto& texts = list_in(all, "texts");
  ASSERT_GT(texts.size(), 20u);
  ASSERT_GT(list_in(all, "patterns").size(), 100u);
  for (const auto& one : list_in(all, "patterns")) {
    const auto& pattern = *one.find("pattern")->text();
    const auto cut = cut_by(pattern, {.rule = cut_rule::isolated}, "some.json");
    ASSERT_TRUE(cut) << cut.error().context;
    const auto& expected = list_in(one, "pieces");
    ASSERT_EQ(expected.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(pieces(*cut, *texts[i].text()), sizes_in(expected[i]))
        << pattern << " of " << in_quotes(*texts[i].text());
  }
}

TEST(reference_patterns, have_the_letters_that_the_reference_has) {
  const auto all = test::reference_values("patterns.json");
  const auto& letters = *all.find("letters")->text();
  ASSERT_GT(letters.size(), 1'000u);
  ASSERT_GT(list_in(all, "classes").size(), 30u);
  for (const auto& one : list_in(all, "classes")) {
    const auto& pattern = *one.find("pattern")->text();
    const auto cut = cut_by(pattern, {.rule = cut_rule::isolated}, "some.json");
    ASSERT_TRUE(cut) << cut.error().context;
    EXPECT_EQ(pieces(*cut, letters), sizes_in(*one.find("pieces"))) << pattern;
  }
}

} // namespace troupe::models::reference_patterns_test
