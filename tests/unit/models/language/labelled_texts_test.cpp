#include "models/language/labelled_texts.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch_folder.hpp"

namespace troupe::models::labelled_texts_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct labelled_lines : ::testing::Test {
  labelled_lines() {
    from.folder = at.path();
  }

  void write(const std::string& name, const std::string& lines) const {
    std::ofstream out{at.path() + "/" + name + ".jsonl", std::ios::binary};
    out << lines;
  }

  std::vector<labelled_user> users() const {
    const auto found = read_labelled(from);
    EXPECT_TRUE(found) << found.error().context;
    return found ? *found : std::vector<labelled_user>{};
  }

  std::string refusal(text_task task, const std::string& lines) {
    write("a", lines);
    from.task = task;
    const auto found = read_labelled(from);
    return found ? "read" : found.error().context;
  }

  test::scratch_folder at;
  labelled_files from;
};

std::string paragraph(const std::string& word) {
  std::string text;
  while (text.size() < 90)
    text += word + ' ';
  return text + "\n\n";
}

} // namespace

TEST_F(labelled_lines, have_a_text_and_its_class) {
  write("b", "{\"text\": \"one\", \"label\": \"x\", \"source\": \"s\"}\n\n"
             "{\"text\": \"two\", \"label\": 7}\n");
  write("a", "{\"text\": \"three\", \"label\": \"y\"}");
  const auto all = users();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "a");
  ASSERT_EQ(all[1].texts.size(), 2u);
  EXPECT_EQ(all[1].texts[0].text, "one");
  EXPECT_EQ(all[1].texts[0].label, "x");
  EXPECT_EQ(all[1].texts[1].label, "7");
  EXPECT_EQ(all[1].texts[0].source, "=s");
  EXPECT_EQ(all[1].texts[1].source, "");
  from.users = {"b"};
  EXPECT_EQ(users().size(), 1u);
}

TEST_F(labelled_lines, say_a_source_by_a_number) {
  struct line {
    text_task task;
    std::string begins;
  };
  const line all[] = {
    {text_task::classify, R"({"text": "a", "label": "x", "source": )"},
    {text_task::span, R"({"text": "a", "question": "q", "source": )"},
    {text_task::describe, R"({"before": "b", "text": "a", "source": )"}};
  for (const auto& x : all) {
    from.task = x.task;
    write("a", x.begins + "7}\n" + x.begins + "\"7\"}\n" + x.begins + "null}");
    const auto found = users();
    ASSERT_EQ(found.size(), 1u);
    ASSERT_EQ(found[0].texts.size(), 3u);
    EXPECT_EQ(found[0].texts[0].source, "=7");
    EXPECT_EQ(found[0].texts[1].source, "=7");
    EXPECT_EQ(found[0].texts[2].source, "");
    for (const std::string wrong : {"1.5", "-1", "true", "[7]"})
      EXPECT_EQ(refusal(x.task, x.begins + wrong + "}"),
                at.path() + "/a.jsonl:1: has " + wrong
                  + " under 'source'; a text or a whole number from 0 to "
                    "18446744073709551615 would do, or no such key");
  }
}

TEST_F(labelled_lines, have_their_class_under_another_key) {
  from.label = "section";
  write("a", "{\"text\": \"one\", \"section\": \"libs\", \"label\": 1}");
  EXPECT_EQ(users()[0].texts[0].label, "libs");
}

TEST_F(labelled_lines, say_what_they_are_for_under_a_key_of_parts) {
  from.part = "split";
  const std::string first = "{\"text\": \"one\", \"label\": 1, \"split\": ";
  write("a", first + "\"train\"}\n" + first + "\"validation\"}\n" + first
               + "\"test\"}\n" + first
               + "null}\n{\"text\": \"two\", \"label\": 1}\n");
  std::vector<std::optional<text_part>> parts;
  const auto all = users();
  for (const auto& x : all[0].texts)
    parts.push_back(x.part);
  EXPECT_THAT(
    parts, ::testing::ElementsAre(text_part::train, text_part::validation,
                                  text_part::test, std::nullopt, std::nullopt));
  // Without the key nobody looks.
  from.part.clear();
  EXPECT_EQ(users()[0].texts[2].part, std::nullopt);
  from.part = "split";
  EXPECT_THAT(refusal(text_task::classify, first + "\"dev\"}\n"),
              ::testing::HasSubstr(
                "a.jsonl:1: has \"dev\" under 'split'; \"train\", "
                "\"validation\" or \"test\" would do, or no such key"));
  EXPECT_THAT(refusal(text_task::classify, "{\"text\": \"a\", \"label\": 1}"),
              ::testing::HasSubstr("has no text that says under 'split' what "
                                   "it is for"));
}

TEST_F(labelled_lines, say_where_an_answer_stands) {
  from.task = text_task::span;
  write("a", "{\"text\": \"a ä b a\", \"question\": \"q\", \"answer\": "
             "\"a\"}\n"
             "{\"text\": \"a ä b a\", \"question\": \"q\", \"answer\": \"a\", "
             "\"begin\": 6}\n"
             "{\"text\": \"a ä b a\", \"question\": \"q\"}\n");
  const auto all = users();
  ASSERT_EQ(all[0].texts.size(), 3u);
  EXPECT_EQ(all[0].texts[0].begin, 0u);
  EXPECT_EQ(all[0].texts[0].end, 1u);
  // Six letters stand before it, in seven bytes.
  EXPECT_EQ(all[0].texts[1].begin, 7u);
  EXPECT_EQ(all[0].texts[1].before, "q");
  EXPECT_EQ(all[0].texts[2].begin, all[0].texts[2].end);
}

TEST_F(labelled_lines, are_refused_with_the_place_that_they_say) {
  const auto said = [&](const std::string& begin) {
    return refusal(
      text_task::span,
      "{\"text\": \"ä b\", \"question\": \"q\", \"answer\": \"b\", "
      "\"begin\": "
        + begin + "}");
  };
  const auto at_line = at.path() + "/a.jsonl:1: ";
  for (const std::string begin : {"\"2\"", "1.5", "-1", "true", "[2]"})
    EXPECT_EQ(said(begin), at_line + "has " + begin
                             + " under 'begin'; how many letters of the text "
                               "stand before its answer, a whole number, or no "
                               "such key would do");
  const std::pair<std::string, std::string> elsewhere[] = {
    {"0", "0 letters"},
    {"1", "1 letter"},
    {"3", "3 letters"},
    {"99", "99 letters"}};
  for (const auto& [begin, told] : elsewhere)
    EXPECT_EQ(said(begin),
              at_line
                + "has the answer 'b', which its text has elsewhere than "
                  "behind "
                + told + ", as its 'begin' says; 2, or no 'begin', would do");
  for (const std::string begin : {"2", "null"})
    EXPECT_EQ(said(begin), "read");
}

TEST_F(labelled_lines, have_all_answers_that_would_do) {
  from.task = text_task::span;
  write("a", "{\"text\": \"a b\", \"question\": \"q\", \"answer\": \"b\", "
             "\"answers\": [\"a b\", \"bee\"]}\n"
             "{\"text\": \"a b\", \"question\": \"q\", \"answer\": \"a\"}\n"
             "{\"text\": \"a b\", \"question\": \"q\", \"answers\": []}\n");
  const auto all = users();
  ASSERT_EQ(all[0].texts.size(), 3u);
  EXPECT_THAT(all[0].texts[0].meant, ElementsAre("b", "a b", "bee"));
  EXPECT_THAT(all[0].texts[1].meant, ElementsAre("a"));
  EXPECT_TRUE(all[0].texts[2].meant.empty());
  const std::string asked = "{\"text\": \"a b\", \"question\": \"q\", ";
  const auto at_line = at.path() + "/a.jsonl:1: ";
  for (const std::string wrong : {"\"a\"", "[\"a\", 1]"})
    EXPECT_EQ(refusal(text_task::span,
                      asked + "\"answer\": \"a\", \"answers\": " + wrong + "}"),
              at_line
                + "has 'answers' that are no list of texts; [\"…\", \"…\"], or "
                  "none, would do");
  EXPECT_EQ(refusal(text_task::span, asked + "\"answers\": [\"a\"]}"),
            at_line
              + "has 'answers' and no 'answer', which is learned; one of them "
                "that its text has would do");
}

TEST_F(labelled_lines, have_what_they_describe) {
  from.task = text_task::describe;
  write("a", "{\"before\": \"name: x\", \"text\": \"It is x.\"}");
  const auto all = users();
  EXPECT_EQ(all[0].texts[0].before, "name: x");
  EXPECT_EQ(all[0].texts[0].text, "It is x.");
  EXPECT_EQ(all[0].texts[0].label, "");
}

TEST_F(labelled_lines, are_refused_by_their_number) {
  const auto path = at.path() + "/a.jsonl";
  EXPECT_EQ(refusal(text_task::classify, "{\"text\": \"x\"}"),
            path
              + ":1: has no 'label' that is a text or a whole number, and has "
                "'text'; 'data.label' says which key has the class");
  EXPECT_EQ(refusal(text_task::classify, "\n{\"label\": \"x\"}"),
            path
              + ":2: is no labelled text: it has no 'text', and has 'label'; "
                "{\"text\": \"…\", \"label\": \"…\"} would do");
  EXPECT_EQ(refusal(text_task::classify, std::string(65, '[')),
            path
              + ":1: is no labelled text: it has more than 64 levels; "
                "{\"text\": \"…\", \"label\": \"…\"} a line, and no list "
                "around them, would do");
  for (const std::string other :
       {"-3", "1.5", "1e+30", "true", "null", "[\"a\"]"})
    EXPECT_EQ(refusal(text_task::classify,
                      "{\"text\": \"x\", \"label\": " + other + "}"),
              path + ":1: has " + other
                + " under 'label'; a text or a whole number from 0 to "
                  "18446744073709551615 would do; 'data.label' says which key "
                  "has the class");
  EXPECT_EQ(refusal(text_task::span, "{\"text\": \"x\"}"),
            path
              + ":1: is no labelled text: it has no 'question', and has "
                "'text'; {\"text\": \"…\", \"question\": \"…\", \"answer\": "
                "\"…\"} would do");
  EXPECT_EQ(refusal(text_task::span, "{\"text\": \"x\", \"question\": \"q\", "
                                     "\"answer\": \"y\"}"),
            path
              + ":1: has the answer 'y', which its text does not have "
                "there; words of the text, or no answer, would do");
  for (const auto* answer :
       {"5", "[\"x\"]", "false", "{\"text\": [\"x\"], \"answer_start\": [0]}"})
    EXPECT_EQ(refusal(text_task::span,
                      std::string{"{\"text\": \"x\", \"question\": \"q\", "
                                  "\"answer\": "}
                        + answer + "}"),
              path
                + ":1: has an 'answer' that is no text; \"…\", words of the "
                  "text, would do, or without the key no answer");
  EXPECT_EQ(refusal(text_task::describe, "{\"text\": \"x\"}"),
            path
              + ":1: is no labelled text: it has no 'before', and has 'text'; "
                "{\"before\": \"…\", \"text\": \"…\"} would do");
  EXPECT_EQ(refusal(text_task::describe, " \n"),
            path
              + ": has no text; {\"before\": \"…\", \"text\": \"…\"} "
                "would do");
  from.users = {"z"};
  EXPECT_THAT(refusal(text_task::classify, ""),
              HasSubstr("/z.jsonl: cannot be read, and texts that are labelled "
                        "are lines of it"));
}

TEST_F(labelled_lines, have_no_blank_class) {
  for (const std::string blank : {"\"\"", "\" \""})
    EXPECT_EQ(refusal(text_task::classify,
                      "{\"text\": \"x\", \"label\": " + blank + "}"),
              at.path() + "/a.jsonl:1: has " + blank
                + " under 'label'; a text that says something or a whole "
                  "number from 0 to 18446744073709551615 would do; "
                  "'data.label' says which key has the class");
  // Others have no class, however that is said.
  from.task = text_task::span;
  write("a", "{\"text\": \"a\", \"question\": \"q\", \"label\": \"\"}\n");
  EXPECT_EQ(users()[0].texts.size(), 1u);
}

TEST_F(labelled_lines, are_refused_with_what_is_there) {
  const std::string line = "{\"sentence\": \"x\", \"class\": 1}";
  const auto found = at.path()
                     + "/a.jsonl:1: is no labelled text: it has no 'text', and "
                       "has 'sentence', 'class'; {\"text\": \"…\", ";
  EXPECT_EQ(refusal(text_task::classify, line),
            found + "\"label\": \"…\"} would do");
  from.label = "class";
  EXPECT_EQ(refusal(text_task::classify, line),
            found + "\"class\": \"…\"} would do");
  EXPECT_THAT(refusal(text_task::classify, "{\"text\": 5}"),
              HasSubstr("is no labelled text: its 'text' is no text; "));
  EXPECT_THAT(refusal(text_task::classify, "[1]"),
              HasSubstr("is no labelled text: it is no object; "));
  EXPECT_THAT(refusal(text_task::classify, "{\"text\": \"x\", \"k\": 1}"),
              HasSubstr("has no 'class' that is a text or a whole number, and "
                        "has 'text', 'k'; 'data.label' says"));
}

TEST_F(labelled_lines, are_no_other_files_of_a_user) {
  std::filesystem::create_directories(at.path() + "/folders/anna");
  const auto why = [&](const std::string& folder, const std::string& what) {
    from.folder = at.path() + folder;
    const auto found = read_labelled(from);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().context,
              at.path() + folder + ": user 'anna' has " + what
                + ", and texts that are labelled are lines of 'anna.jsonl': "
                  "{\"text\": \"…\", \"label\": \"…\"} would do");
  };
  why("/folders", "a folder 'anna'");
  std::filesystem::create_directories(at.path() + "/texts");
  std::ofstream{at.path() + "/texts/anna.txt"} << "a text";
  why("/texts", "'anna.txt'");
}

TEST_F(labelled_lines, lose_what_stands_in_several) {
  std::vector<labelled_user> all{
    {.name = "a",
     .texts = {{.text = paragraph("one") + paragraph("two"), .label = "x"},
               {.text = paragraph("one"), .label = "y"}}},
    {.name = "b",
     .texts = {{.text = paragraph("two") + paragraph("three"), .label = "z"}}}};
  EXPECT_EQ(drop_repeated(all), 2u);
  ASSERT_EQ(all[0].texts.size(), 1u);
  EXPECT_EQ(all[0].texts[0].label, "x");
  ASSERT_EQ(all[1].texts.size(), 1u);
  EXPECT_EQ(all[1].texts[0].label, "z");
  EXPECT_EQ(all[1].texts[0].text, paragraph("three"));
}

} // namespace troupe::models::labelled_texts_test
