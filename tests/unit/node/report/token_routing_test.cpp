// Where tokens go, as a run's folder says it.

#include "node/report/token_routing.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "node/report/page.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test::token_routing_test {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view routing =
  R"({"first_expert":"generalist","layers":2,"looks":[)"
  R"({"version":2,"clients":1,"steps":8,"scores":[0.25,0.75]},)"
  R"({"version":4,"clients":1,"steps":16,"scores":[0.5,0.625]}],)"
  R"("clients":[{"client":3,"experts":3,"layers":[1,2],)"
  R"("window":[[0,1,2],[2,2,0]]}]})";

class token_report : public ::testing::Test {
protected:
  token_report() {
    file("config.toml", "name = \"r\"\nrounds = 4\n");
  }

  void file(const std::string& name, std::string_view text) {
    std::ofstream{scratch_.path() + "/" + name} << text;
  }

  std::string page() {
    const auto x = node::read_run(scratch_.path());
    return x ? node::page_of(*x) : x.error().context;
  }

  scratch_folder scratch_;
};

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_F(token_report, says_that_no_router_has_learned) {
  file("routing.json", routing);
  EXPECT_THAT(page(), Not(HasSubstr("<b>Note</b>")));
  auto noted = std::string{routing};
  noted.back() = ',';
  file("routing.json", noted + R"("note":"no router has <learned> yet"})");
  EXPECT_THAT(page(),
              HasSubstr("<b>Note</b>: no router has &lt;learned&gt; yet."));
}

// Of clients that joined from here, and whom nobody serves.
TEST_F(token_report, has_a_page_without_a_run) {
  file("routing.json",
       R"({"first_expert":"generalist","layers":1,"looks":[)"
       R"({"clients":1,"steps":8,"scores":[0.25]}],"clients":[{"client":3,)"
       R"("experts":2,"layers":[1],"window":[[0,1]]}]})");
  const auto text = node::page_of_tokens("Clients of <a>", scratch_.path());
  EXPECT_THAT(text, HasSubstr("<title>Clients of &lt;a&gt; – troupe</title>"));
  EXPECT_THAT(text, HasSubstr("<h1>Clients of &lt;a&gt;</h1>"));
  EXPECT_THAT(text, HasSubstr("Mean score of the generalist"));
  EXPECT_THAT(text, HasSubstr("Tokens of client 3"));
  EXPECT_THAT(text, HasSubstr("after 8 steps"));
  EXPECT_THAT(text, Not(HasSubstr("version")));
}

TEST_F(token_report, has_a_line_for_each_layer) {
  file("routing.json", routing);
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("<h2>Where tokens go</h2>"));
  EXPECT_THAT(text, HasSubstr("Mean score of the generalist"));
  EXPECT_THAT(text, HasSubstr("layer 1: 0.25 after 8 steps, version 2"));
  EXPECT_THAT(text, HasSubstr("layer 2: 0.625 after 16 steps, version 4"));
}

TEST_F(token_report, has_a_map_for_each_client) {
  file("routing.json", routing);
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("Tokens of client 3"));
  EXPECT_THAT(text, HasSubstr("Layers 1, 2, from above."));
  // The generalist's are darkest; the last of three is white.
  const auto at = text.find("token 1, layer 1: the generalist");
  ASSERT_NE(at, text.npos);
  EXPECT_THAT(text.substr(at, 200), HasSubstr("fill-opacity=\"1\""));
  const auto next = text.find("token 2, layer 1: expert 1");
  ASSERT_NE(next, text.npos);
  EXPECT_THAT(text.substr(next, 200), HasSubstr("fill-opacity=\"0.5\""));
  EXPECT_THAT(text, HasSubstr("token 3, layer 2: the generalist"));
  EXPECT_THAT(text, Not(HasSubstr("expert 2<")));
}

// All of the last layer goes to the last expert, which is white.
TEST_F(token_report, has_rows_that_one_sees_where_nothing_is_dark) {
  file("routing.json",
       R"({"first_expert":"generalist","layers":12,"looks":[{"scores":[1]}],)"
       R"("clients":[{"client":1,"experts":2,"layers":[1,12],)"
       R"("window":[[0,1],[1,1]]}]})");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("text-anchor=\"end\">12</text>"));
  EXPECT_THAT(text, HasSubstr("<path class=\"grid\" d=\"M48 30H548\"/>"));
  EXPECT_THAT(text,
              HasSubstr("<path class=\"axis\" d=\"M48 14H548V46H48Z\"/>"));
}

TEST_F(token_report, names_users_where_the_run_does) {
  file("routing.json", routing);
  const std::string language = "name = \"r\"\nmethod = \"comigs\"\nrounds = 4\n"
                               "[data]\nkind = \"language\"\npath = \"x\"\n"
                               "tokenizer = \"bytes\"\n";
  file("config.toml", language
                        + "users = [\"de\", \"fr\", \"a<b\"]\n"
                          "[model]\nkind = \"language\"\n");
  EXPECT_THAT(page(), HasSubstr("<h3>Tokens of client 3, a&lt;b</h3>"));
  file("config.toml", language + "[model]\nkind = \"language\"\n");
  EXPECT_THAT(page(), HasSubstr("<h3>Tokens of client 3</h3>"));
}

TEST_F(token_report, shows_eight_clients_and_says_so) {
  std::string all{routing};
  const auto from = all.find(R"({"client":3)");
  const auto one = all.substr(from, all.find("]}", from) - from) + "]}";
  for (int i = 0; i < 9; ++i)
    all.insert(from, one + ",");
  file("routing.json", all);
  const auto text = page();
  EXPECT_EQ(count_of(text, "<h3>Tokens of client"), 8u);
  EXPECT_THAT(text, HasSubstr("The first 8 of 10 clients."));
}

TEST_F(token_report, is_none_where_nobody_looked) {
  EXPECT_THAT(page(), Not(HasSubstr("Where tokens go")));
  for (const auto* text : {"", "[]", "{}", R"({"looks":[]})",
                           R"({"first_expert":7,"looks":[{}]})"}) {
    file("routing.json", text);
    EXPECT_THAT(page(), Not(HasSubstr("Where tokens go"))) << text;
  }
}

TEST(layers_shown, are_the_first_the_middle_and_the_last) {
  using places = std::vector<std::size_t>;
  EXPECT_EQ(node::layers_shown(1), places{0});
  EXPECT_EQ(node::layers_shown(2), (places{0, 1}));
  EXPECT_EQ(node::layers_shown(3), (places{0, 1, 2}));
  EXPECT_EQ(node::layers_shown(12), (places{0, 5, 11}));
}

} // namespace troupe::test::token_routing_test
