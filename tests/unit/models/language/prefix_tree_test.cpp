#include "models/language/prefix_tree.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random.hpp"

namespace troupe::models {

TEST(prefix_tree, finds_what_a_map_finds) {
  random_stream draw{3};
  constexpr std::string_view bytes = "a\xfe\xff";
  const auto text = [&] {
    std::string x;
    for (auto n = draw.below(6); n > 0; --n)
      x += bytes[draw.below(bytes.size())];
    return x;
  };
  std::map<std::string, token_id> all;
  std::vector<std::string> texts;
  for (token_id i = 0; i < 100; ++i) {
    texts.push_back(text());
    all[texts.back()] = i;
  }
  std::vector<std::pair<std::string_view, token_id>> said;
  for (token_id i = 0; i < 100; ++i)
    said.emplace_back(texts[i], i);
  const prefix_tree x{said};
  for (int i = 0; i < 1000; ++i) {
    const auto wanted = text();
    const auto known = all.find(wanted);
    EXPECT_EQ(x.find(wanted),
              known == all.end() ? std::nullopt : std::optional{known->second});
  }
}

TEST(prefix_tree, ends_where_a_text_ends) {
  const prefix_tree x{{{"ab", 1}, {"abcd", 2}, {"b", 3}}};
  const auto ab = x.after("ab");
  EXPECT_EQ(x.ends(ab), 1u);
  EXPECT_FALSE(x.ends(x.next(ab, 'c')));
  EXPECT_EQ(x.ends(x.after("abcd")), 2u);
  EXPECT_EQ(x.next(ab, 'd'), prefix_tree::nowhere);
  EXPECT_EQ(x.after("ba"), prefix_tree::nowhere);
  EXPECT_EQ(x.after(""), prefix_tree::root);
  EXPECT_FALSE(prefix_tree{}.find("a"));
}

TEST(prefix_tree, finds_the_longest_that_a_text_begins_with) {
  const prefix_tree x{{{"ab", 1}, {"abcd", 2}, {"b", 3}}};
  const auto longest = [&](std::string_view text) {
    const auto found = x.longest(prefix_tree::root, text);
    return std::pair{found.bytes, found.id};
  };
  EXPECT_EQ(longest("abcde"), (std::pair{std::size_t{4}, token_id{2}}));
  EXPECT_EQ(longest("abce"), (std::pair{std::size_t{2}, token_id{1}}));
  EXPECT_EQ(longest("a").first, 0U);
  EXPECT_EQ(longest("").first, 0U);
  EXPECT_EQ(x.longest(x.after("ab"), "cd").bytes, 2U);
  EXPECT_EQ(x.longest(prefix_tree::nowhere, "a").bytes, 0U);
  const prefix_tree none{std::vector<std::pair<std::string_view, token_id>>{}};
  EXPECT_EQ(none.longest(prefix_tree::root, "a").bytes, 0U);
}

} // namespace troupe::models
