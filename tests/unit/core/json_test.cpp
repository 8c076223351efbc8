#include "core/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

namespace troupe {

TEST(json, says_what_it_holds_in_the_order_in_which_it_came) {
  json x{{"b", 1}, {"a", {1, -2, 0.5}}, {"c", nullptr}};
  x["d"]["e"] = true;
  x["b"] = "two";
  EXPECT_EQ(x.dump(), R"({"b":"two","a":[1,-2,0.5],"c":null,"d":{"e":true}})");
}

TEST(json, says_a_key_that_is_there_twice_once) {
  auto twice = json::object();
  twice.add("a", 1);
  twice.add("b", 2);
  twice.add("a", 3);
  EXPECT_EQ(twice.dump(), R"({"a":3,"b":2})");
}

TEST(json,
     takes_pairs_that_begin_with_a_text_for_an_object_and_all_else_for_a_list) {
  EXPECT_EQ((json{{"a", 1}}).dump(), R"({"a":1})");
  EXPECT_EQ((json{{"a", "b"}, {"c", "d"}}).dump(), R"({"a":"b","c":"d"})");
  EXPECT_EQ((json{{1, 2}, {3, 4}}).dump(), "[[1,2],[3,4]]");
  EXPECT_EQ((json{"a", 1, 2}).dump(), R"(["a",1,2])");
  EXPECT_EQ(json::array().dump() + json::object().dump(), "[]{}");
}

TEST(json, begins_as_null_and_becomes_what_is_put_into_it) {
  json list;
  EXPECT_EQ(list.dump(), "null");
  list.push_back({{"a", 1}});
  list.push_back({});
  EXPECT_EQ(list.dump(), R"([{"a":1},null])");
  EXPECT_EQ(json(std::vector<std::string>{"x", "y"}).dump(), R"(["x","y"])");
  EXPECT_EQ(json(std::map<std::string, std::uint64_t>{{"x", 1}}).dump(),
            R"({"x":1})");
}

TEST(json, has_the_text_of_the_library) {
  const auto most = std::numeric_limits<std::uint64_t>::max();
  const auto least = std::numeric_limits<std::int64_t>::min();
  for (const double x :
       {0.1, -0.0, 1e300, 1.0 / 3, 5e-324, 100.0, std::nan("")})
    EXPECT_EQ(json(x).dump(), nlohmann::json(x).dump());
  const json ours{{"most", most}, {"least", least}, {"text", "\"\\\n\u20ac"}};
  const nlohmann::ordered_json theirs{
    {"most", most}, {"least", least}, {"text", "\"\\\n\u20ac"}};
  EXPECT_EQ(ours.dump(), theirs.dump());
  EXPECT_EQ(ours.dump(2), theirs.dump(2));
  EXPECT_EQ(json("cut \xe2\x82").dump(), "\"cut \ufffd\"");
}

TEST(json, is_read_as_it_is_written) {
  const std::string text =
    R"({"b":[1,-2,0.5,"x",true,null,[]],"a":{"c":{}},"n":18446744073709551615})";
  const auto x = json::parse(text);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->dump(), text);
  EXPECT_EQ(x->fields()->front().first, "b");
  const auto& items = *x->find("b")->items();
  EXPECT_EQ(items[0].count(), 1u);
  EXPECT_EQ(items[0].number(), 1.0);
  EXPECT_FALSE(items[1].count());
  EXPECT_EQ(items[1].number(), -2.0);
  EXPECT_FALSE(items[2].count());
  EXPECT_EQ(*items[3].text(), "x");
  EXPECT_EQ(items[4].flag(), true);
  EXPECT_EQ(x->find("n")->count(), std::numeric_limits<std::uint64_t>::max());
  // What it is not is nothing, and never another thing.
  for (const auto& y : items) {
    EXPECT_EQ(y.find("b"), nullptr);
    EXPECT_LE(y.number().has_value() + (y.text() != nullptr)
                + y.flag().has_value() + (y.items() != nullptr),
              1);
  }
  EXPECT_EQ(x->find("c"), nullptr);
  EXPECT_EQ(*json::parse(R"({"a":1,"a":2})")->find("a")->count(), 2u);
}

TEST(json, says_why_a_text_is_none) {
  for (const auto* text :
       {"", "{", "[1,]", "{\"a\":}", "1 2", "nul", "{1:2}"}) {
    const auto x = json::parse(text);
    ASSERT_FALSE(x) << text;
    EXPECT_FALSE(x.error().context.empty()) << text;
  }
  const auto nested = [](std::size_t levels) {
    return json::parse(std::string(levels, '[') + std::string(levels, ']'));
  };
  EXPECT_TRUE(nested(64));
  ASSERT_FALSE(nested(65));
  EXPECT_NE(nested(1'000'000).error().context.find("64 levels"),
            std::string::npos);
}

TEST(json, of_a_line_says_what_is_wrong_in_words_of_ours) {
  const auto refused = [](std::string_view line) {
    const auto x = json::parse_line(line);
    return x ? "read " + x->dump() : x.error().context;
  };
  EXPECT_EQ(refused("{\"a\": 1}"), "read {\"a\":1}");
  EXPECT_EQ(refused("{\"a\": nul}"), "it is no JSON from byte 10 on");
  EXPECT_EQ(refused("{\"a\": 1"), "it is no JSON from byte 8 on");
  EXPECT_EQ(refused("{\"a\": \"caf\xe9\"}"), "it is no UTF-8");
  EXPECT_EQ(refused(std::string(65, '[')), "it has more than 64 levels");
  for (const std::string line :
       {R"({"b": 1, "a": 2, "b": 1})", R"([{"b": {}}, {"b": 1, "b": 2}])"})
    EXPECT_EQ(refused(line), "it has 'b' twice");
  EXPECT_EQ(refused(R"({"a": {"b": 1}, "b": 2})"),
            R"(read {"a":{"b":1},"b":2})");
}

} // namespace troupe
