// What a report says first of a run whose clients have a part of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "actors/messages/internal.hpp"
#include "node/report/page.hpp"
#include "node/watch/metric_lines.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test::clients_page_test {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view config = R"(name = "texts"
method = "comigs"
rounds = 2
[data]
kind = "language"
path = "texts"
users = ["fr<>", "de"]
tokenizer = "bytes"
[model]
kind = "language"
)";

constexpr std::string_view metrics =
  R"({"at":1,"kind":"version","line":"generalist","version":1,"merged":2,)"
  R"("training_loss":3.5}
{"at":1,"kind":"evaluation","version":1,"loss":6.5,"perplexity":665.1,)"
  R"("clients_perplexity":40.5}
)";

constexpr std::string_view summary =
  R"({"success":true,"reason":"x","versions":2,"accuracy":null,)"
  R"("accuracy_is_of":"a newcomer","loss":5.75,"perplexity":314.5,)"
  R"("clients_perplexity":33.5,"digest":"d1g35t","method_results":{)"
  R"("perplexity_merged":34,"perplexity_merged.1":36,)"
  R"("perplexity_merged.2":32,"perplexity_merged.x":7}})";

class clients_page : public ::testing::Test {
protected:
  clients_page() {
    file("config.toml", config);
    file("metrics.jsonl", metrics);
    file("summary.json", summary);
  }

  void file(const std::string& name, std::string_view text) {
    std::ofstream{scratch_.path() + "/" + name} << text;
  }

  /// With other words in its summary.
  void change(const std::string& from, const std::string& to) {
    std::string text{summary};
    text.replace(text.find(from), from.size(), to);
    file("summary.json", text);
  }

  std::string page() {
    const auto x = node::read_run(scratch_.path());
    return x ? node::page_of(*x) : x.error().context;
  }

  scratch_folder scratch_;
};

std::string tile(const std::string& name, const std::string& value) {
  return "<div class=\"tile\"><span>" + name + "</span><b>" + value + "</b>";
}

} // namespace

TEST_F(clients_page, has_clients_first_and_calls_a_newcomer_so) {
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("<div class=\"tiles\">"
                              + tile("clients&#39; perplexity", "33.5")));
  EXPECT_THAT(text, HasSubstr(tile("perplexity of a newcomer", "314.5")));
  EXPECT_THAT(text, HasSubstr(tile("loss of a newcomer", "5.75")));
  EXPECT_THAT(text, HasSubstr("test data, a newcomer 665.1 at version 1, "));
}

TEST_F(clients_page, has_accuracies_of_clients_first_where_rows_have_labels) {
  file("metrics.jsonl", "");
  file("summary.json",
       R"({"success":true,"accuracy":0.25,"accuracy_is_of":"a newcomer",)"
       R"("loss":2,"per_client":{"mean":0.75,"worst":0.5,"p50":0.7}})");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("<div class=\"tiles\">"
                              + tile("clients&#39; accuracy", "0.75")));
  EXPECT_THAT(text, HasSubstr(tile("accuracy of a newcomer", "0.25")));
}

// Without it an accuracy of sorted labels says nothing.
TEST_F(clients_page, has_the_majority_beside_accuracies_and_in_their_figure) {
  file("metrics.jsonl",
       R"({"at":1,"kind":"evaluation","version":1,"accuracy":0.25,"loss":2,)"
       R"("per_client":{"mean":0.75},"majority_accuracy":0.625})"
       "\n");
  const std::string shown = "who always says a client&#39;s commonest label";
  const auto first =
    "<div class=\"tiles\">" + tile("clients&#39; accuracy", "0.75") + "<small>";
  const auto second =
    "</small></div>" + tile("majority&#39;s accuracy", "0.625") + "<small>";
  file("summary.json", "");
  EXPECT_THAT(page(), HasSubstr(first + "last evaluation" + second));
  EXPECT_THAT(page(), HasSubstr(shown + ", mean 0.625 at version 1"));
  file("summary.json",
       R"({"success":true,"accuracy":0.25,"accuracy_is_of":"a newcomer",)"
       R"("per_client":{"mean":0.75},"method_results":)"
       R"({"majority_accuracy":0.5}})");
  EXPECT_THAT(page(), HasSubstr(tile("majority&#39;s accuracy", "0.5")
                                + "<small>" + shown));
}

// What stands below a key is read as one list, so a figure has a key of its
// own.
TEST(metric_lines, have_the_majority_where_a_report_finds_it) {
  messages::evaluation_finished done{
    .line = {1}, .head = {2}, .scores = {}, .problem = {}};
  done.scores.method_results = {{"majority_accuracy", 0.5}};
  const std::optional<node::spread> none;
  const node::spreads nobody{.clients = none, .zero_shot = none};
  const std::string said = R"("version":2,"majority_accuracy":0.5,"method)";
  EXPECT_THAT(node::record_of(done, true, nobody, {}), HasSubstr(said));
  EXPECT_THAT(node::record_of(done, false, nobody, {}), Not(HasSubstr(said)));
}

// Then nothing says whose the scores are but the method.
TEST_F(clients_page, has_clients_first_while_a_run_goes_on) {
  file("summary.json", "");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("<div class=\"tiles\">"
                              + tile("clients&#39; perplexity", "40.5")));
  EXPECT_THAT(text, HasSubstr(tile("loss of a newcomer", "6.5")));
  EXPECT_THAT(text, Not(HasSubstr("Perplexity of the clients")));
}

TEST_F(clients_page, has_clients_last_where_all_use_one_model) {
  change("a newcomer", "every client");
  const auto text = page();
  EXPECT_THAT(text,
              HasSubstr("<div class=\"tiles\">" + tile("perplexity", "314.5")));
  EXPECT_THAT(text, HasSubstr(tile("loss", "5.75")));
  EXPECT_THAT(text, HasSubstr(tile("clients&#39; perplexity", "33.5")));
}

TEST_F(clients_page, has_the_perplexity_of_each_by_its_name) {
  auto text = page();
  EXPECT_THAT(text, HasSubstr("<h3>Perplexity of the clients</h3>"));
  EXPECT_THAT(text, HasSubstr("<title>client 2, de: 32</title>"));
  EXPECT_THAT(text, HasSubstr("with what was merged since its last visit. "
                              "client 2, de: <b>32</b>; "
                              "client 1, fr&lt;&gt;: <b>36</b>."));
  EXPECT_THAT(text, Not(HasSubstr("Accuracy of the clients")));
  change(R"("perplexity_merged.1":36)", R"("perplexity_left.1":36)");
  text = page();
  EXPECT_THAT(text, Not(HasSubstr("client 1, fr")));
  file("summary.json", R"({"success":true,"method_results":)"
                       R"({"perplexity_left.1":36}})");
  EXPECT_THAT(page(), HasSubstr("as its last visit left it. client 1, fr"));
}

// Of users that a run found in its folder the end alone says who was who.
TEST_F(clients_page, has_the_names_that_were_found_where_none_are_said) {
  std::string nameless{config};
  nameless.replace(nameless.find(R"(users = ["fr<>", "de"])"), 22, "");
  file("config.toml", nameless);
  EXPECT_THAT(page(), HasSubstr("<title>client 2: 32</title>"));
  change(R"("success":true)", R"("success":true,"users":["ana","ben"])");
  EXPECT_THAT(page(), HasSubstr("<title>client 2, ben: 32</title>"));
  change(R"("perplexity_merged.2":32)", R"("clients_perplexity.2":32)");
  EXPECT_THAT(page(), HasSubstr("<th scope=\"row\">clients_perplexity.2</th>"
                                "<td>32 <small>client 2</small>"));
  change(R"("perplexity_merged.2":32)",
         R"("clients_perplexity.2":32},"users":["ana","ben"],"x":{"y":1)");
  EXPECT_THAT(page(), HasSubstr("<td>32 <small>client 2, ben</small>"));
}

// What a client uses is what the mean is of, and Local has no other.
TEST_F(clients_page, has_first_the_perplexity_of_what_each_uses_itself) {
  change(R"("perplexity_merged.1":36)", R"("clients_perplexity.1":31)");
  EXPECT_THAT(page(), HasSubstr("test rows of its own, with what it uses "
                                "itself. client 1, fr&lt;&gt;: <b>31</b>."));
}

TEST_F(clients_page, says_three_where_there_are_many) {
  std::string all;
  for (int k = 1; k <= 500; ++k)
    all += (k > 1 ? ",\"" : "\"") + ("perplexity_merged." + std::to_string(k))
           + "\":" + std::to_string(1000 - k);
  file("summary.json", R"({"success":true,"method_results":{)" + all + "}}");
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("client 500: <b>500</b>; client 250: <b>750</b>; "
                              "client 1, fr&lt;&gt;: <b>999</b>, which are"));
  EXPECT_THAT(text, HasSubstr("<title>4 clients, mean: 501.5</title>"));
}

TEST_F(clients_page, leaves_out_what_the_run_does_not_keep) {
  file("summary.json", R"({"success":true,"clients_perplexity":33.5})");
  const auto text = page();
  EXPECT_THAT(text, Not(HasSubstr("Perplexity of the clients")));
  EXPECT_THAT(text, Not(HasSubstr("Accuracy of the clients")));
  EXPECT_THAT(text, HasSubstr("Participation"));
}

TEST_F(clients_page, says_that_a_digest_is_of_where_all_begin) {
  EXPECT_THAT(page(), Not(HasSubstr("where all begin")));
  change(R"("versions":2)", R"("versions":0)");
  EXPECT_THAT(page(),
              HasSubstr("<code>d1g35t</code> <small>of where all begin; "
                        "nothing is merged</small>"));
}

} // namespace troupe::test::clients_page_test
