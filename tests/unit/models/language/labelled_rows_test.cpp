#include "models/language/labelled_rows.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace troupe::models::labelled_rows_test {

namespace {

using ::testing::ElementsAre;
using ids = std::vector<std::int32_t>;

struct read_row {
  ids said;
  ids targets;
};

read_row at(const labelled_rows& from, split part, std::uint32_t row) {
  read_row x{ids(from.context(), 77), ids(from.context(), 77)};
  from.read(part, row, x.said, x.targets);
  return x;
}

/// Its letters.
std::string text_of(const labelled_rows& from, split part, std::uint32_t row) {
  std::string text;
  for (const auto id : at(from, part, row).said)
    if (id >= 0 && id < 256)
      text += static_cast<char>(id);
  return text;
}

/// Of each text the parts that have it.
std::map<std::string, std::set<std::string>>
parts_of_texts(const labelled_rows& from) {
  std::map<std::string, std::set<std::string>> parts;
  const auto note = [&](const std::vector<std::vector<std::uint32_t>>& clients,
                        split part, const std::string& name) {
    for (const auto& own : clients)
      for (const auto row : own)
        parts[text_of(from, part, row)].insert(name);
  };
  note(from.clients().train, split::train, "train");
  note(from.clients().own_validation, split::train, "validation");
  note(from.clients().test, split::test, "test");
  return parts;
}

struct labelled_folder : ::testing::Test {
  labelled_folder() {
    how.files.folder = folder.path();
    how.context = 16;
    how.validation_share = 0.2;
    how.test_share = 0.2;
    how.seed = 1;
  }

  void write(const std::string& name, const std::string& lines) const {
    std::ofstream out{folder.path() + "/" + name + ".jsonl", std::ios::binary};
    out << lines;
  }

  /// Of each source two texts that say which it is; `with_0` of ten sources
  /// have label 0.
  void write_sources(const std::string& name, int sources, int with_0) const {
    std::string lines;
    for (int i = 0; i < sources; ++i)
      for (const auto* end : {"a", "b"})
        lines += "{\"text\": \"" + std::to_string(i) + end
                 + "\", \"source\": \"" + std::to_string(i)
                 + "\", \"label\": " + (i % 10 < with_0 ? "0" : "1") + "}\n";
    write(name, lines);
  }

  std::shared_ptr<const labelled_rows> load() const {
    const auto found = labelled_rows::load(how, byte_tokenizer());
    EXPECT_TRUE(found) << found.error().context;
    return found ? *found : nullptr;
  }

  std::string refusal() const {
    const auto found = labelled_rows::load(how, byte_tokenizer());
    return found ? "loaded" : found.error().context;
  }

  /// All are for training.
  void train_alone() {
    how.validation_share = how.test_share = 0;
  }

  test::scratch_folder folder;
  labelled_options how;
};

} // namespace

TEST_F(labelled_folder, has_a_row_of_each_text_and_its_class_first) {
  train_alone();
  how.context = 5;
  write("a", "{\"text\": \"ab\", \"label\": \"y\"}\n"
             "{\"text\": \"abcdefg\", \"label\": \"x\"}\n");
  const auto rows = load();
  ASSERT_TRUE(rows);
  EXPECT_THAT(rows->labels(), ElementsAre("x", "y"));
  EXPECT_EQ(rows->vocabulary(), 257u);
  EXPECT_EQ(rows->size(split::train), 2u);
  EXPECT_EQ(rows->size(split::test), 0u);
  const auto first = at(*rows, split::train, 0);
  EXPECT_THAT(first.said, ElementsAre('a', 'b', 256, -1, -1));
  EXPECT_THAT(first.targets, ElementsAre(1, -1, -1, -1, -1));
  // What ends a text has its place in a long one, too.
  const auto second = at(*rows, split::train, 1);
  EXPECT_THAT(second.said, ElementsAre('a', 'b', 'c', 'd', 256));
  EXPECT_THAT(second.targets, ElementsAre(0, -1, -1, -1, -1));
  EXPECT_EQ(rows->label_of(split::train, 0), 1u);
}

TEST_F(labelled_folder, has_both_ends_of_an_answer_first) {
  train_alone();
  how.context = 24;
  how.files.task = text_task::span;
  write("a", "{\"text\": \"it is me now\", \"question\": \"who\", "
             "\"answer\": \"me\"}\n"
             "{\"text\": \"it is me now\", \"question\": \"why\"}\n"
             "{\"text\": \"it is far behind all that fits, here\", "
             "\"question\": \"?\", \"answer\": \"here\"}\n");
  const auto rows = load();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(split::train), 2u);
  EXPECT_EQ(rows->left_out(), 1u);
  const auto first = at(*rows, split::train, 0);
  // who, an end, it is; with the blank before it.
  EXPECT_EQ(first.targets[0], 9);
  EXPECT_EQ(first.targets[1], 11);
  EXPECT_EQ(first.said[9], ' ');
  EXPECT_EQ(first.said[11], 'e');
  EXPECT_EQ(std::ranges::count(first.targets, -1), 22);
  const auto second = at(*rows, split::train, 1);
  EXPECT_EQ(second.targets[0], 0);
  EXPECT_EQ(second.targets[1], 0);
}

TEST_F(labelled_folder, is_judged_by_answers_that_are_beyond_the_context) {
  how.context = 24;
  how.files.task = text_task::span;
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    const auto number = std::to_string(i);
    lines += "{\"text\": \"" + number
             + (i % 2 == 0 ? " is me" : " is far behind all that fits, me")
             + "\", \"question\": \"who\", \"answer\": \"me\"}\n";
  }
  write("a", lines);
  const auto rows = load();
  ASSERT_TRUE(rows);
  const auto& clients = rows->clients();
  const auto beyond = [&](split part, const std::vector<std::uint32_t>& own) {
    return std::ranges::count_if(own, [&](std::uint32_t row) {
      const auto x = at(*rows, part, row);
      const bool is = rows->asked_of(part, row).is_beyond();
      EXPECT_EQ(is, x.targets[0] == 1 && x.targets[1] == 0);
      EXPECT_EQ(is, rows->is_cut(part, row));
      return is;
    });
  };
  EXPECT_EQ(beyond(split::train, clients.train[0]), 0);
  EXPECT_GT(beyond(split::train, clients.own_validation[0]), 0);
  EXPECT_GT(beyond(split::test, clients.test[0]), 0);
  EXPECT_GT(rows->left_out(), 0u);
  // Nobody learns from those that are left out, and all others are there.
  EXPECT_EQ(clients.train[0].size() + clients.own_validation[0].size()
              + clients.test[0].size() + rows->left_out(),
            40u);
}

TEST_F(labelled_folder, knows_answers_as_texts) {
  how.context = 24;
  how.files.task = text_task::span;
  std::string lines;
  for (int i = 0; i < 80; ++i)
    lines +=
      "{\"text\": \"" + std::to_string(i) + " is Me\", \"question\": \"who\""
      + (i % 2 == 0 ? ", \"answer\": \"Me\", \"answers\": [\"I\"]}\n" : "}\n");
  write("a", lines);
  const auto rows = load();
  ASSERT_TRUE(rows);
  const auto* answers = rows->answers();
  ASSERT_TRUE(answers);
  std::size_t none = 0;
  for (const auto row : rows->clients().test[0]) {
    const auto meant = answers->meant(row);
    const auto is = rows->asked_of(split::test, row);
    ASSERT_FALSE(meant.empty());
    EXPECT_EQ(answers->said(row, is), meant.front());
    EXPECT_EQ(answers->said(row, {1, 2}), "ho");
    EXPECT_EQ(meant.size(), is.is_none() ? 1u : 2u);
    none += is.is_none();
  }
  EXPECT_GT(none, 0u);
  EXPECT_LT(none, rows->size(split::test));
  how.files.task = text_task::classify;
  write_sources("a", 60, 5);
  EXPECT_FALSE(load()->answers());
}

TEST_F(labelled_folder, asks_for_a_description_and_not_for_what_it_is_of) {
  train_alone();
  how.context = 7;
  how.files.task = text_task::describe;
  write("a", "{\"before\": \"n: \", \"text\": \"ab\"}\n"
             "{\"before\": \"far too long\", \"text\": \"x\"}\n"
             "{\"before\": \"\", \"text\": \"x\"}\n");
  const auto rows = load();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(split::train), 2u);
  EXPECT_EQ(rows->left_out(), 1u);
  const auto first = at(*rows, split::train, 0);
  EXPECT_THAT(first.said, ElementsAre('n', ':', ' ', 'a', 'b', 256, -1));
  EXPECT_THAT(first.targets, ElementsAre(-1, -1, 'a', 'b', 256, -1, -1));
  // Nothing foretells the first of all.
  EXPECT_THAT(at(*rows, split::train, 1).targets,
              ElementsAre(256, -1, -1, -1, -1, -1, -1));
}

TEST_F(labelled_folder, has_no_source_in_two_parts) {
  write_sources("a", 60, 5);
  write_sources("b", 60, 5); // The same sources.
  const auto rows = load();
  ASSERT_TRUE(rows);
  const auto& clients = rows->clients();
  ASSERT_EQ(clients.train.size(), 2u);
  std::map<std::string, std::set<std::string>> parts;
  for (const auto& [text, of] : parts_of_texts(*rows))
    parts[text.substr(0, text.size() - 1)].insert(of.begin(), of.end());
  EXPECT_EQ(parts.size(), 60u);
  std::map<std::string, int> counts;
  for (const auto& [source, of] : parts) {
    EXPECT_EQ(of.size(), 1u) << source;
    ++counts[*of.begin()];
  }
  EXPECT_NEAR(counts["test"], 12, 9);
  EXPECT_NEAR(counts["validation"], 12, 9);
  // A client's rows are the user's, and all of them are somebody's.
  std::size_t all = 0;
  for (const auto* part :
       {&clients.train, &clients.own_validation, &clients.test})
    for (const auto& own : *part)
      all += own.size();
  EXPECT_EQ(all, 240u);
}

TEST_F(labelled_folder, has_no_text_in_two_parts) {
  const auto lines = [](int texts, const std::string& source) {
    std::string all;
    for (int i = 0; i < texts; ++i) {
      const auto number = std::to_string(i);
      all +=
        "{\"text\": \"" + number + "\", \"label\": \""
        + (i % 2 == 0 ? "even" : "odd") + "\""
        + (source.empty() ? "" : ", \"source\": \"" + source + number + "\"")
        + "}\n";
    }
    return all;
  };
  // Without sources equal ones are drawn alike, and none is lost.
  write("a", lines(60, ""));
  write("b", lines(60, ""));
  const auto alike = load();
  ASSERT_TRUE(alike);
  EXPECT_EQ(alike->left_out(), 0u);
  EXPECT_EQ(alike->size(split::train) + alike->size(split::test), 120u);
  for (const auto& [text, of] : parts_of_texts(*alike))
    EXPECT_EQ(of.size(), 1u) << text;
  // Of two sources one may lose what the other has.
  write("a", lines(300, "a"));
  write("b", lines(300, "b"));
  how.clients = 1;
  const auto apart = load();
  ASSERT_TRUE(apart);
  EXPECT_GT(apart->left_out(), 0u);
  const auto parts = parts_of_texts(*apart);
  EXPECT_EQ(parts.size(), 300u);
  for (const auto& [text, of] : parts)
    EXPECT_EQ(of.size(), 1u) << text;
}

TEST_F(labelled_folder, tests_on_rows_with_the_skew_of_training_rows) {
  write_sources("a", 400, 5);
  how.clients = 4;
  how.sorted_fraction = 1;
  const auto rows = load();
  ASSERT_TRUE(rows);
  const auto& clients = rows->clients();
  ASSERT_EQ(clients.train.size(), 4u);
  const auto share = [&](split part, const std::vector<std::uint32_t>& own) {
    double zeros = 0;
    for (const auto row : own)
      zeros += rows->label_of(part, row) == 0;
    return zeros / static_cast<double>(own.size());
  };
  for (std::size_t k = 0; k < 4; ++k) {
    const auto learned = share(split::train, clients.train[k]);
    EXPECT_NEAR(share(split::test, clients.test[k]), learned, 0.65) << k;
    EXPECT_NEAR(share(split::train, clients.own_validation[k]), learned, 0.65)
      << k;
  }
  EXPECT_EQ(share(split::test, clients.test[0]), 1);
  EXPECT_EQ(share(split::test, clients.test[3]), 0);
}

TEST_F(labelled_folder, leaves_out_what_a_client_may_not_have) {
  write_sources("a", 60, 5);
  how.rows_max = 10;
  const auto rows = load();
  ASSERT_TRUE(rows);
  const auto& own = rows->clients().train[0];
  EXPECT_EQ(own.size(), 10u);
  EXPECT_TRUE(std::ranges::is_sorted(own));
}

TEST_F(labelled_folder, is_another_where_anything_is) {
  write_sources("a", 60, 5);
  const auto content = [this] { return load()->content(); };
  const auto first = content();
  EXPECT_EQ(content(), first);
  how.seed = 2;
  EXPECT_NE(content(), first);
  how.seed = 1;
  how.context = 17;
  EXPECT_NE(content(), first);
  how.context = 16;
  how.clients = 3;
  EXPECT_NE(content(), first);
  how.clients = 0;
  write_sources("a", 60, 6);
  EXPECT_NE(content(), first);
}

TEST_F(labelled_folder, says_that_rows_are_beyond_the_context) {
  train_alone();
  how.files.task = text_task::describe;
  const std::string line =
    "{\"before\": \"0123456789abcdef\", \"text\": \"x\"}\n";
  write("a", line + line);
  const std::string beyond =
    "; 2 more have what is asked for beyond 'context', which is 16: a larger "
    "one, more texts, ";
  EXPECT_EQ(refusal(), folder.path() + ": user 'a' has no rows for training"
                         + beyond
                         + "or smaller shares of the others, would do");
  how.clients = 2;
  how.sorted_fraction = 0;
  EXPECT_EQ(refusal(), folder.path()
                         + ": there are 0 rows for training, and 2 clients who "
                           "share them"
                         + beyond
                         + "fewer clients, or smaller shares of the others, "
                           "would do");
  how.context = 17;
  how.clients = 0;
  EXPECT_EQ(refusal(), "loaded");
}

TEST_F(labelled_folder, is_refused_where_a_client_would_have_nothing) {
  const auto path = folder.path();
  write("a", "{\"text\": \"x\", \"label\": 1}\n"
             "{\"text\": \"y\", \"label\": 2}\n");
  how.test_share = 1;
  how.validation_share = 0;
  EXPECT_EQ(refusal(), path
                         + ": user 'a' has no rows for training; more texts, "
                           "or smaller shares of the others, would do");
  how.test_share = 1e-9;
  EXPECT_EQ(refusal(), path
                         + ": user 'a' has no rows for test; more texts, or "
                           "a larger 'test_share', would do");
  how.test_share = 0;
  how.clients = 3;
  EXPECT_EQ(refusal(),
            path
              + ": there are 2 rows for training, and 3 clients who share "
                "them; more texts, fewer clients, or smaller shares of the "
                "others, would do");
  how.clients = 0;
  write("a", "{\"text\": \"x\", \"label\": 1}\n");
  EXPECT_EQ(refusal(), path
                         + ": all texts have one label, '1', which nothing "
                           "tells apart; two would do");
}

} // namespace troupe::models::labelled_rows_test
