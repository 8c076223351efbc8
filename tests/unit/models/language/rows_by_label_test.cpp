// Labelled texts of clients who each have some of the labels.

#include "models/language/labelled_rows.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/language/label_deal.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::models::rows_by_label_test {

namespace {

struct rows_by_label : ::testing::Test {
  rows_by_label() {
    how.files.folder = folder.path();
    how.context = 16;
    how.validation_share = how.test_share = 0.2;
    how.clients = 4;
    how.seed = 1;
  }

  /// 800 texts; one in so many has label 0, the others label 1.
  void write(int one_in) const {
    std::ofstream out{folder.path() + "/a.jsonl", std::ios::binary};
    for (int i = 0; i < 800; ++i)
      out << "{\"text\": \"" << i
          << "\", \"label\": " << (i % one_in == 0 ? 0 : 1) << "}\n";
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

  test::scratch_folder folder;
  labelled_options how;
};

} // namespace

TEST_F(rows_by_label, are_refused_where_no_text_has_the_label) {
  how.files.task = text_task::describe;
  how.files.label = "kind";
  std::ofstream out{folder.path() + "/a.jsonl", std::ios::binary};
  for (int i = 0; i < 200; ++i)
    out << "{\"before\": \"" << i << "\", \"text\": \"x\", \"label\": 1}\n";
  out.close();
  for (const auto& scheme : std::vector<std::optional<partitioner>>{
         std::nullopt, labels_partition{1}, dirichlet_partition{0.5}}) {
    how.scheme = scheme;
    EXPECT_THAT(refusal(), ::testing::HasSubstr("no text has 'kind', by which "
                                                "they are dealt"));
  }
  how.scheme.reset();
  how.sorted_fraction = 0;
  EXPECT_EQ(refusal(), "loaded");
  how.sorted_fraction = 0.9;
  how.files.label = "label";
  EXPECT_EQ(refusal(), "loaded");
}

TEST_F(rows_by_label, tests_on_the_labels_that_a_client_has) {
  write(2);
  how.scheme = labels_partition{1};
  const auto rows = load();
  ASSERT_TRUE(rows);
  const auto& clients = rows->clients();
  ASSERT_EQ(clients.train.size(), 4u);
  std::size_t all = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    std::set<std::size_t> labels;
    for (const auto* own : {&clients.train[k], &clients.own_validation[k]})
      for (const auto row : *own)
        labels.insert(rows->label_of(split::train, row));
    for (const auto row : clients.test[k])
      labels.insert(rows->label_of(split::test, row));
    EXPECT_EQ(labels.size(), 1u) << k;
    all += clients.train[k].size() + clients.own_validation[k].size()
           + clients.test[k].size();
  }
  EXPECT_EQ(all, 800u);
  const auto first = rows->content();
  how.scheme = dirichlet_partition{5};
  EXPECT_NE(load()->content(), first);
}

// A split of one's own: 6 of 30 test, and of the others none validates.
TEST_F(rows_by_label, test_on_the_texts_that_say_so) {
  std::string lines;
  for (int i = 0; i < 30; ++i)
    lines += "{\"text\": \"" + std::string(i % 5 == 0 ? "t" : "l")
             + std::to_string(i) + "\", \"label\": " + std::to_string(i % 2)
             + (i % 5 == 0 ? ", \"part\": \"test\"}\n" : "}\n");
  std::ofstream{folder.path() + "/a.jsonl"} << lines;
  how.files.part = "part";
  how.validation_share = how.test_share = 0;
  how.clients = 2;
  how.scheme = std::nullopt;
  how.sorted_fraction = 0;
  const auto rows = load();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->size(split::train), 24u);
  ASSERT_EQ(rows->size(split::test), 6u);
  for (std::uint32_t row = 0; row < 6; ++row) {
    std::vector<std::int32_t> said(rows->context()), targets(rows->context());
    rows->read(split::test, row, said, targets);
    EXPECT_EQ(said[0], 't') << row;
  }
  for (const auto& own : rows->clients().test)
    EXPECT_EQ(own.size(), 3u);
  // With seven clients one would have none, which a share of 0 allows of
  // texts that are drawn.
  how.clients = 7;
  EXPECT_THAT(refusal(), ::testing::MatchesRegex(
                           ".*6 rows for test.*, or lines that 'data.part' has "
                           "for it, would do"));
}

TEST_F(rows_by_label, names_the_key_that_gives_more_labels_to_each_client) {
  EXPECT_EQ(more_labels(labels_partition{1}), "a larger 'labels_per_client'");
  EXPECT_EQ(more_labels(dirichlet_partition{0.1}), "a larger 'alpha'");
  EXPECT_EQ(more_labels(std::nullopt), "more labels for each client");
}

TEST_F(rows_by_label, is_refused_where_a_client_has_too_few_of_its_label) {
  write(800);
  how.validation_share = how.test_share = 0;
  how.scheme = labels_partition{1};
  // Two clients have the label that one row has.
  EXPECT_THAT(
    refusal(),
    ::testing::MatchesRegex(
      ".*: client [1-4] of 4 has none of 800 rows for training, as "
      "its labels have few; a larger 'labels_per_client', fewer clients, or "
      "smaller shares of the others, would do"));
  how.scheme = labels_partition{2};
  EXPECT_EQ(refusal(), "loaded");
  how.scheme = labels_partition{3};
  EXPECT_EQ(refusal(), "partition: labels_per_client is 3; 1 to 2 would do");
}

} // namespace troupe::models::rows_by_label_test
