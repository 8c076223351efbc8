// docs/adding-a-method.md adds this method and says that it is enough. The
// page's recipe stands below, word for word, and a test compares the two.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "policies/catalogue.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies::methods {
recipe fedavg_equal();
} // namespace troupe::policies::methods

// The recipe, as on the page:
namespace troupe::policies {

/// As `fedavg`, but each client counts the same, however many examples it has.
recipe methods::fedavg_equal() {
  return {
    .name = "fedavg_equal",
    .summary = "the plain mean of everybody's local SGD",
    .blocks = {{.name = "model", .weight = weight_rule::one},
               {.name = "model.buffers", .weight = weight_rule::one}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"sgd"}}}};
}

} // namespace troupe::policies
// Its end.

namespace troupe::policies::adding_a_method_test {

namespace {

std::string text_of(const std::string& path) {
  std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/" + path};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string between(const std::string& text, const std::string& first,
                    const std::string& last) {
  const auto begin = text.find(first);
  const auto end = text.find(last, begin + first.size());
  if (begin == std::string::npos || end == std::string::npos)
    return {};
  return text.substr(begin + first.size(), end - begin - first.size());
}

} // namespace

TEST(adding_a_method, the_recipe_of_the_page_makes_sense) {
  const auto added = methods::fedavg_equal();
  const auto found = check(added);
  EXPECT_TRUE(found) << found.error().context;
  EXPECT_EQ(standing_of(added, pace_kind::sync), standing::exact);
  EXPECT_EQ(standing_of(added, pace_kind::fedbuff), standing::extension);
  EXPECT_EQ(added.blocks[0].weight, weight_rule::one);
}

TEST(adding_a_method, the_page_shows_what_was_tested) {
  const auto page =
    between(text_of("docs/adding-a-method.md"),
            "#include \"policies/methods/methods.hpp\"\n\n", "```");
  const auto source =
    between(text_of("tests/unit/policies/adding_a_method_test.cpp"),
            "// The recipe, as on the page:\n", "// Its end.");
  ASSERT_FALSE(source.empty());
  EXPECT_EQ(page, source);
}

} // namespace troupe::policies::adding_a_method_test
