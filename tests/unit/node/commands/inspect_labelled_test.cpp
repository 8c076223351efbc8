// What `troupe data inspect` says of labelled texts.

#include "node/commands/inspect_labelled.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "node/commands/inspect_language.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {

namespace {

using ::testing::HasSubstr;
using parsed = nlohmann::json;

struct inspected_labels : ::testing::Test {
  inspected_labels() {
    x.data.kind = data_options::format::language;
    x.data.text_task = models::text_task::classify;
    x.data.path = at.path();
    x.data.tokenizer = "bytes";
    x.data.context = 8;
    x.data.validation_share = 0;
    x.data.test_share = 0.5;
    x.clients.clients = 2;
    x.partition.kind = partition_options::rule::sorted;
    x.partition.sorted_fraction = 1;
    std::ofstream out{at.path() + "/all.jsonl"};
    for (int i = 0; i < 200; ++i)
      out << "{\"text\": \"t" << i << "\", \"label\": \""
          << (i % 2 == 0 ? "even" : "odd") << "\"}\n";
  }

  std::string said(bool as_json, exit_code wanted = exit_code::ok) const {
    std::ostringstream out, err;
    EXPECT_EQ(inspect_language(x, as_json, {out, err}), wanted);
    return out.str() + err.str();
  }

  const test::scratch_folder at;
  experiment x;
};

} // namespace

TEST_F(inspected_labels, have_the_control_beside_them) {
  const auto all = parsed::parse(said(true));
  EXPECT_EQ(all["success"], true);
  EXPECT_EQ(all["labels"], (parsed{"even", "odd"}));
  EXPECT_EQ(all["rows_left_out"], 0);
  ASSERT_EQ(all["clients"].size(), 2u);
  const auto& first = all["clients"][0];
  const auto& second = all["clients"][1];
  EXPECT_EQ(first["majority"], "even");
  EXPECT_EQ(second["majority"], "odd");
  // Nearly all of what each is tested on is what it has learned.
  EXPECT_GT(first["majority_accuracy"].get<double>(), 0.75);
  EXPECT_GT(second["majority_accuracy"].get<double>(), 0.75);
  EXPECT_EQ(first["rows"].get<int>() + first["test_rows"].get<int>()
              + second["rows"].get<int>() + second["test_rows"].get<int>(),
            200);
  const auto text = said(false);
  EXPECT_THAT(text, HasSubstr("2 clients, 2 labels, rows of 8 tokens out of "
                              "257; 0 repeated paragraphs and 0 rows are left "
                              "out\n\n"));
  EXPECT_THAT(text, HasSubstr("%  even\n"));
  EXPECT_THAT(text, HasSubstr("\nrows by label: 'even' 100, 'odd' 100\n"));
}

TEST_F(inspected_labels, are_listed_the_most_frequent_first_and_cut) {
  std::ofstream more{at.path() + "/more.jsonl"};
  for (int i = 0; i < 30; ++i)
    more << "{\"text\": \"u" << i << "\", \"label\": \"" << 10 + i % 25
         << "\"}\n";
  more.close();
  EXPECT_THAT(said(false),
              HasSubstr("\nrows by label: 'even' 100, 'odd' 100, '10' 2, '11' "
                        "2, '12' 2, '13' 2, '14' 2, '15' 1, "));
  EXPECT_THAT(said(false), HasSubstr("'27' 1, and 7 other labels\n"));
}

TEST_F(inspected_labels, say_how_many_are_of_two_texts) {
  EXPECT_EQ(parsed::parse(said(true))["rows_in_pairs"], 0);
  EXPECT_EQ(said(false).find("two texts"), std::string::npos);
  const auto tokenizer = at.path() + "/.words.json";
  std::ofstream{tokenizer}
    << R"({"model": {"type": "WordPiece", "unk_token": "u", "vocab": {"u": 0,)"
    << R"( "c": 1, "s": 2}}, "decoder": {"type": "WordPiece"},)"
    << R"( "post_processor": {"type": "BertProcessing", "cls": ["c", 1],)"
    << R"( "sep": ["s", 2]}})";
  x.data.tokenizer = tokenizer;
  std::ofstream more{at.path() + "/pairs.jsonl"};
  for (int i = 0; i < 50; ++i)
    more << "{\"text\": \"p\", \"second\": \"" << i
         << "\", \"label\": \"even\"}\n";
  more.close();
  EXPECT_EQ(parsed::parse(said(true))["rows_in_pairs"], 50);
  EXPECT_THAT(said(false), HasSubstr("left out, 50 rows are of two texts\n\n"));
}

TEST_F(inspected_labels, count_texts_of_which_nothing_is_left) {
  EXPECT_EQ(parsed::parse(said(true))["texts_emptied"], parsed::object());
  std::ofstream out{at.path() + "/all.jsonl", std::ios::app};
  const std::string repeated(100, 'x');
  for (const auto& text : {std::string{}, std::string{" "}, repeated, repeated})
    out << "{\"text\": \"" << text << "\", \"label\": \"odd\"}\n";
  out.close();
  EXPECT_EQ(parsed::parse(said(true))["texts_emptied"], (parsed{{"all", 3}}));
  EXPECT_THAT(said(false), HasSubstr("; of user 'all' 3 texts are blank, or "
                                     "repeated as a whole, and left out\n\n"));
}

TEST_F(inspected_labels, have_the_control_where_they_are_dealt_by_label) {
  x.partition.kind = partition_options::rule::labels;
  x.partition.labels_per_client = 1;
  const auto all = parsed::parse(said(true));
  ASSERT_EQ(all["clients"].size(), 2u);
  std::set<std::string> majorities;
  for (const auto& client : all["clients"]) {
    majorities.insert(client["majority"].get<std::string>());
    EXPECT_EQ(client["majority_accuracy"], 1);
  }
  EXPECT_THAT(majorities, ::testing::ElementsAre("even", "odd"));
  x.partition.labels_per_client = 3;
  EXPECT_THAT(said(false, exit_code::configuration),
              HasSubstr("labels_per_client is 3; 1 to 2 would do"));
}

// One user, two rows of each part, by their sources.
TEST_F(inspected_labels, of_spans_have_answers_and_how_long_they_are) {
  x.data.text_task = models::text_task::span;
  x.data.context = 16;
  x.clients.clients = 1;
  x.partition.kind = partition_options::rule::natural;
  std::ofstream out{at.path() + "/all.jsonl"};
  for (int i = 0; i < 60; ++i) {
    const auto number = std::to_string(10 + i);
    out << "{\"text\": \"" << number
        << (i % 3 == 0 ? " is me" : " is far behind all, me")
        << "\", \"question\": \"who\""
        << (i % 3 == 2 ? "" : ", \"answer\": \"me\"") << "}\n";
  }
  out.close();
  const auto all = parsed::parse(said(true));
  const auto& asked = all["clients"][0]["asked"];
  const auto& learned = asked["training"];
  const auto& tested = asked["test"];
  // " me" is three tokens.
  EXPECT_GT(learned["answered"], 0);
  EXPECT_EQ(learned["tokens_mean"], 3);
  EXPECT_EQ(learned["tokens_most"], 3);
  EXPECT_EQ(learned["answers_beyond"], 0);
  EXPECT_GT(all["rows_beyond_context"], 0);
  EXPECT_GT(tested["answers_beyond"], 0);
  EXPECT_EQ(learned["answered"].get<int>() + tested["answered"].get<int>(), 20);
  EXPECT_EQ(learned["without_answer"].get<int>()
              + tested["without_answer"].get<int>(),
            20);
  EXPECT_EQ(all["rows_beyond_context"].get<int>()
              + tested["answers_beyond"].get<int>(),
            20);
  const auto text = said(false);
  EXPECT_THAT(text,
              HasSubstr(" of them with an answer that is not wholly within "
                        "the context, or no token of the text there\n\n"));
  EXPECT_THAT(text,
              HasSubstr("\nclient  rows of     answered  without  beyond  "
                        "tokens, mean  most  cut off\n     1  training  "));
}

TEST_F(inspected_labels, of_descriptions_have_texts_of_each_thing) {
  x.data.text_task = models::text_task::describe;
  x.data.context = 12;
  x.clients.clients = 1;
  x.partition.kind = partition_options::rule::natural;
  x.data.test_share = 0;
  std::ofstream out{at.path() + "/all.jsonl"};
  out << R"({"before": "a: ", "text": "one"})" << '\n'
      << R"({"before": "a: ", "text": "two"})" << '\n'
      << R"({"before": "b: ", "text": "three of it all"})" << '\n';
  out.close();
  const auto all = parsed::parse(said(true));
  const auto& learned = all["clients"][0]["asked"]["training"];
  EXPECT_EQ(learned["rows"], 3);
  EXPECT_EQ(learned["described"], 2);
  EXPECT_EQ(learned["texts_mean"], 1.5);
  EXPECT_EQ(learned["texts_most"], 2);
  // With the end of a text 4, 4 and, of 16, the 9 that there is room for.
  EXPECT_EQ(learned["tokens_most"], 9);
  EXPECT_EQ(learned["cut_off"], 1);
  EXPECT_THAT(said(false),
              HasSubstr("\nclient  rows of     described  texts, mean  most  "
                        "tokens, mean  most  cut off\n     1  training  "));
}

TEST_F(inspected_labels, are_refused_with_what_would_do) {
  x.data.label = "kind";
  EXPECT_THAT(said(false, exit_code::data),
              HasSubstr("all.jsonl:1: has no 'kind' that is a text or a whole "
                        "number"));
}

} // namespace troupe::node
