// Labelled texts as what a run learns from.

#include "node/task/labelled.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/language/headed_base.hpp"
#include "node/task/language.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test {

namespace {

using models::head_kind;
using models::row_head;
using node::experiment;

struct labelled_task : ::testing::Test {
  labelled_task() {
    x.data.kind = node::data_options::format::language;
    x.data.text_task = models::text_task::classify;
    x.data.path = at.path() + "/users";
    x.data.tokenizer = "bytes";
    x.data.context = 8;
    x.data.validation_share = x.data.test_share = 0.25;
    x.model.kind = node::model_options::shape::language;
    x.model.architecture = node::model_options::architecture_rule::bert;
    x.model.layers = 1;
    x.model.embedding = 8;
    x.model.heads = 2;
    x.clients.clients = 2;
    x.partition.kind = node::partition_options::rule::natural;
    x.method = "fedavg";
    std::filesystem::create_directories(x.data.path);
    for (const auto* name : {"a", "b", "c"}) {
      std::ofstream out{x.data.path + "/" + name + ".jsonl"};
      for (int i = 0; i < 60; ++i)
        out << "{\"text\": \"" << name << i << "\", \"question\": \"?\", "
            << "\"before\": \"-\", \"label\": " << i % 3 << "}\n";
    }
  }

  /// What the model is made of.
  node::materials made() {
    const auto make = [this](const models::language_config& how,
                             std::shared_ptr<const models::language_base> base,
                             std::shared_ptr<const models::token_rows> rows)
      -> result<std::unique_ptr<models::objective>> {
      trained = how.trained;
      head = models::head_of(*base);
      context = rows->context();
      return fail(errc::unsupported, "there is no torch here");
    };
    auto found = node::language_of(x, make);
    EXPECT_TRUE(found) << found.error().context;
    if (!found)
      return {};
    const auto none = found->make_objective();
    EXPECT_FALSE(none);
    if (!none)
      not_made = none.error().context;
    return std::move(*found);
  }

  scratch_folder at;
  experiment x;
  bool trained = false;
  std::size_t context = 0;
  std::optional<row_head> head;
  std::string not_made; ///< Why there is no model.
};

} // namespace

TEST_F(labelled_task, has_a_head_for_its_classes) {
  const auto m = made();
  EXPECT_TRUE(trained);
  EXPECT_EQ(context, 8u);
  EXPECT_EQ(head, (row_head{head_kind::classes, 3}));
  EXPECT_EQ(m.label_names, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_TRUE(m.has_labels);
  EXPECT_FALSE(m.counts_tokens);
  EXPECT_EQ(m.clients.train.size(), 2u);
  EXPECT_EQ(m.test_size, m.clients.test[0].size() + m.clients.test[1].size());
  EXPECT_FALSE(m.clients.own_validation[0].empty());
  EXPECT_EQ(m.data_digest(), (*node::load_labelled(x))->content());
  EXPECT_FALSE(m.make_common);
  EXPECT_EQ(not_made, "[model]: there is no torch here");
  EXPECT_EQ(m.user_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(m.users, (std::vector<std::string>{"user 'a' of " + x.data.path,
                                               "user 'b' of " + x.data.path}));
}

TEST_F(labelled_task, says_where_nearly_each_text_has_a_label_of_its_own) {
  EXPECT_EQ(made().remark, "");
  x.data.label = "text";
  EXPECT_THAT(made().remark,
              ::testing::HasSubstr("texts are learned from, and 'data.label' = "
                                   "'text' has 120 different labels"));
  // Many labels, each of several texts.
  x.data.label = "kind";
  for (const auto* name : {"a", "b", "c"}) {
    std::ofstream out{x.data.path + "/" + name + ".jsonl"};
    for (int i = 0; i < 60; ++i)
      out << "{\"text\": \"" << name << i << "\", \"kind\": " << i % 12
          << "}\n";
  }
  EXPECT_EQ(made().remark, "");
}

TEST_F(labelled_task, has_a_head_for_ends_or_none) {
  x.data.text_task = models::text_task::span;
  EXPECT_TRUE(made().label_names.empty());
  EXPECT_EQ(head, (row_head{head_kind::ends, 2}));
  x.data.text_task = models::text_task::describe;
  x.model.architecture = node::model_options::architecture_rule::gpt2;
  const auto m = made();
  EXPECT_FALSE(head);
  EXPECT_TRUE(m.counts_tokens);
  EXPECT_FALSE(m.has_labels);
}

TEST_F(labelled_task, describes_by_a_model_that_sees_what_was_said_alone) {
  x.data.text_task = models::text_task::describe;
  const auto found = node::labelled_of(x, {});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().context,
              ::testing::HasSubstr("which sees the tokens that it should "
                                   "foretell"));
}

TEST_F(labelled_task, is_shared_by_any_number_of_clients) {
  x.partition.kind = node::partition_options::rule::sorted;
  x.clients.clients = 7;
  const auto m = made();
  ASSERT_EQ(m.clients.train.size(), 7u);
  EXPECT_TRUE(m.user_names.empty()) << "no client is a user";
  std::size_t all = 0;
  for (const auto* part :
       {&m.clients.train, &m.clients.own_validation, &m.clients.test})
    for (const auto& own : *part)
      all += own.size();
  EXPECT_EQ(all, 180u);
  x.partition.kind = node::partition_options::rule::natural;
  const auto refused = node::load_labelled(x);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().context,
              ::testing::HasSubstr("has 3 users, and there are 7 clients"));
}

TEST_F(labelled_task, is_dealt_by_label) {
  const auto labels_of = [this](std::size_t most) {
    const auto rows = node::load_labelled(x);
    EXPECT_TRUE(rows) << rows.error().context;
    if (!rows)
      return;
    const auto& clients = (*rows)->clients();
    EXPECT_EQ(clients.train.size(), 6u);
    for (std::size_t k = 0; k < clients.train.size(); ++k) {
      std::set<std::size_t> labels;
      for (const auto row : clients.train[k])
        labels.insert((*rows)->label_of(models::split::train, row));
      for (const auto row : clients.test[k])
        labels.insert((*rows)->label_of(models::split::test, row));
      EXPECT_EQ(labels.size(), most) << k;
    }
  };
  x.clients.clients = 6;
  x.partition.kind = node::partition_options::rule::labels;
  x.partition.labels_per_client = 1;
  labels_of(1);
  x.partition.labels_per_client = 2;
  labels_of(2);
  x.partition.kind = node::partition_options::rule::dirichlet;
  x.partition.alpha = 1000;
  labels_of(3);
}

TEST_F(labelled_task, may_all_be_one_clients) {
  x.data.pooled = true;
  x.clients.clients = 1;
  const auto m = made();
  ASSERT_EQ(m.clients.train.size(), 1u);
  EXPECT_EQ(m.clients.train[0].size() + m.clients.own_validation[0].size()
              + m.clients.test[0].size(),
            180u);
}

TEST_F(labelled_task, has_a_common_model_over_the_same_rows) {
  x.method = "ddome";
  const auto m = made();
  ASSERT_TRUE(m.make_common);
  trained = false;
  EXPECT_FALSE(m.make_common());
  // Its values are of the run, not of a file of its own.
  EXPECT_TRUE(trained);
  EXPECT_EQ(head, (row_head{head_kind::classes, 3}));
}

} // namespace troupe::test
