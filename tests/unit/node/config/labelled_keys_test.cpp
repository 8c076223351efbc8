// Keys of texts about which something is known.

#include <gmock/gmock.h>

#include <string>

#include "node/config/config.hpp"
#include "tests/support/config_text.hpp"

namespace troupe::node::labelled_keys_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string with(const std::string& data, const std::string& others = "") {
  return "rounds = 1\n[data]\nkind = 'language'\npath = 'x'\n"
         "tokenizer = 'bytes'\n"
         + data + "[model]\nkind = 'language'\n" + others;
}

} // namespace

TEST(labelled_keys, say_what_is_asked_of_texts) {
  const auto x = read(with("task = 'classify'\nlabel = 'section'\n"
                           "users = ['a', 'b']\n",
                           "architecture = 'bert'\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  EXPECT_EQ(x->x.data.text_task, models::text_task::classify);
  EXPECT_TRUE(x->x.data.is_labelled_text());
  EXPECT_FALSE(x->x.data.foretells_tokens());
  EXPECT_EQ(x->x.data.label, "section");
  EXPECT_EQ(x->x.clients.clients, 2u);
  const auto described = read(with("task = 'describe'\n"));
  ASSERT_TRUE(described) << described.error().context;
  EXPECT_TRUE(described->x.data.foretells_tokens());
  const auto pooled = read(with("task = 'classify'\npooled = true\n"));
  ASSERT_TRUE(pooled) << pooled.error().context;
  EXPECT_EQ(pooled->x.clients.clients, 1u);
  // Streams have none, and say nothing of it.
  const auto streams = read(with(""));
  ASSERT_TRUE(streams) << streams.error().context;
  EXPECT_THAT(write_config(streams->x), ::testing::Not(HasSubstr("task = ")));
  EXPECT_THAT(refusal(with("task = 'translate'\n")),
              HasSubstr("a.toml:6: 'data.task' must be "));
}

TEST(labelled_keys, say_which_windows_overlap_and_which_are_drawn) {
  const auto spans = read(with("task = 'span'\ncontext = 384\nstride = 128\n"));
  ASSERT_TRUE(spans) << spans.error().context;
  EXPECT_EQ(spans->x.data.stride, 128u);
  EXPECT_THAT(write_config(spans->x), HasSubstr("stride = 128"));
  const auto streams = read(with("test_windows = 6400\n"));
  ASSERT_TRUE(streams) << streams.error().context;
  EXPECT_EQ(streams->x.data.test_windows, 6400u);
  EXPECT_THAT(write_config(streams->x), HasSubstr("test_windows = 6400"));
  for (const auto* name : {"stride", "test_windows"})
    EXPECT_THAT(write_config(read(with(""))->x),
                ::testing::Not(HasSubstr(name)));
  EXPECT_THAT(refusal(with("stride = 8\n")),
              HasSubstr("'stride' is of windows of a text in which an answer "
                        "is looked for: it needs task = \"span\""));
  EXPECT_THAT(refusal(with("task = 'span'\ncontext = 8\nstride = 8\n")),
              HasSubstr("'stride' must be below 'context', which is 8, found "
                        "8"));
  EXPECT_THAT(
    refusal(with("task = 'span'\ntest_windows = 8\n")),
    HasSubstr("'test_windows' draws windows of a stream, and labelled "
              "texts are rows"));
  EXPECT_THAT(refusal(with("test_share = 0\ntest_windows = 8\n")),
              HasSubstr("'test_windows' draws from a user's test text, and "
                        "there is none"));
}

TEST(labelled_keys, of_a_cluster_are_as_they_were) {
  const auto x =
    read("rounds = 1\n[data]\nkind = 'clusters'\ntask = 'mlp'\n[model]\nkind "
         "= 'regression'\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.data.task, data_options::cluster_task::mlp);
}

TEST(labelled_keys, deal_texts_sorted_by_label) {
  const auto x = read(with("task = 'classify'\nusers = ['a', 'b']\n",
                           "[partition]\nkind = 'sorted'\n"
                           "sorted_fraction = 0.6\nsamples_per_client = 9\n"
                           "[clients]\nclients = 8\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  // Users are not the clients.
  EXPECT_EQ(x->x.clients.clients, 8u);
  EXPECT_EQ(x->x.partition.sorted_rows(), 0.6);
  const auto literal =
    read(with("task = 'span'\n", "[partition]\nkind = 'sorted'\n"),
         {"sorted_fraction=0.75", "reading=iid"});
  ASSERT_TRUE(literal) << literal.error().context;
  EXPECT_EQ(literal->x.partition.sorted_rows(), 0.25);
  const auto again = read(write_config(literal->x));
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_TRUE(same(literal->x, again->x));
}

TEST(labelled_keys, deal_texts_by_label) {
  using rule = partition_options::rule;
  const auto x = read(with("task = 'classify'\nusers = ['a', 'b']\n",
                           "[partition]\nkind = 'labels'\n"
                           "labels_per_client = 4\nsamples_per_client = 9\n"
                           "[clients]\nclients = 8\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  EXPECT_EQ(x->x.clients.clients, 8u);
  EXPECT_EQ(x->x.partition.kind, rule::labels);
  EXPECT_EQ(x->x.partition.labels_per_client, 4u);
  const auto again = read(write_config(x->x));
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_TRUE(same(x->x, again->x));
  // A number means its rule.
  const auto drawn = read(with("task = 'span'\n"), {"partition.alpha=0.1"});
  ASSERT_TRUE(drawn) << drawn.error().context;
  EXPECT_EQ(drawn->x.partition.kind, rule::dirichlet);
  EXPECT_THAT(refusal(with("", "[partition]\nkind = 'labels'\n")),
              HasSubstr("data.kind = \"language\" deals nothing"));
}

TEST(labelled_keys, name_the_key_that_says_what_a_text_is_for) {
  const auto x = read(with("task = 'classify'\npart = 'split'\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  EXPECT_EQ(x->x.data.part, "split");
  EXPECT_THAT(write_config(x->x), HasSubstr("part = \"split\""));
  EXPECT_THAT(write_config(read(with("task = 'classify'\n"))->x),
              ::testing::Not(HasSubstr("part = ")));
  const auto streams = read(with("part = 'split'\n"));
  ASSERT_TRUE(streams) << streams.error().context;
  EXPECT_THAT(
    streams->notes,
    ElementsAre("a.toml:6: 'data.part' has no effect: it needs kind = "
                "\"language\" with another 'task' than "
                "\"language\""));
}

TEST(labelled_keys, say_that_tests_are_even) {
  using tests = partition_options::test_rule;
  for (const std::string kind : {"sorted", "labels", "dirichlet"}) {
    const auto x =
      read(with("task = 'classify'\n", "[partition]\nkind = '" + kind + "'\n"),
           {"tests=even"});
    ASSERT_TRUE(x) << x.error().context;
    EXPECT_TRUE(x->notes.empty());
    EXPECT_EQ(x->x.partition.tests, tests::even);
    const auto again = read(write_config(x->x));
    ASSERT_TRUE(again) << again.error().context;
    EXPECT_EQ(again->x.partition.tests, tests::even);
  }
  const auto otherwise =
    read(with("task = 'classify'\n", "[partition]\nkind = 'sorted'\n"));
  EXPECT_EQ(otherwise->x.partition.tests, tests::as_training);
  EXPECT_THAT(write_config(otherwise->x),
              ::testing::Not(HasSubstr("tests = ")));
  const auto natural =
    read(with("task = 'classify'\n", "[partition]\ntests = 'even'\n"));
  ASSERT_TRUE(natural) << natural.error().context;
  EXPECT_THAT(
    natural->notes,
    ElementsAre("a.toml:10: 'partition.tests' has no effect: it needs "
                "kind = \"sorted\", \"labels\" or \"dirichlet\""));
  EXPECT_THAT(refusal("rounds = 1\n[partition]\nkind = 'dirichlet'\n"
                      "tests = 'even'\n"),
              HasSubstr("a.toml:4: tests = \"even\" deals labelled texts, and "
                        "test rows of other data follow the training rows"));
}

TEST(labelled_keys, are_refused_where_they_mean_nothing) {
  EXPECT_EQ(refusal("rounds = 1\n[partition]\nkind = 'sorted'\n"),
            "a.toml:3: kind = \"sorted\" deals labelled texts: it needs "
            "data.kind = \"language\" and task = \"classify\", \"span\" or "
            "\"describe\"");
  EXPECT_THAT(refusal(with("", "[partition]\nkind = 'sorted'\n")),
              HasSubstr("kind = \"sorted\" deals labelled texts"));
  EXPECT_EQ(
    refusal(with("task = 'classify'\n", "[partition]\nkind = 'shards'\n")),
    "a.toml:10: labelled texts are dealt by user, by label or sorted by label: "
    "kind = \"natural\", \"labels\", \"dirichlet\" or \"sorted\" would do");
  EXPECT_EQ(
    refusal(with("task = 'classify'\n", "[partition]\ntrain_share = 0.5\n")),
    "a.toml:10: 'train_share' has no use for labelled texts; "
    "'samples_per_client' says how many rows each client has");
  EXPECT_EQ(refusal(with("task = 'classify'\ncontext = 1\n")),
            "a.toml:7: 'context' must be at least 2 for labelled texts, found "
            "1");
  EXPECT_EQ(
    refusal(with("task = 'classify'\n", "[training]\nbatches = 'anywhere'\n")),
    "a.toml:10: batches = \"anywhere\" draws windows of a stream, and "
    "labelled texts are rows: \"epochs\" or \"drawn\" would do");
  const auto x = read(with("task = 'classify'\ntokens = 5\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->notes,
              ElementsAre("a.toml:7: 'data.tokens' has no effect: it needs "
                          "kind = \"language\" with task = \"language\""));
}

TEST(labelled_keys, have_a_common_model_of_their_own) {
  static const recipe seeing{
    .name = "seeing",
    .summary = "",
    .blocks = {{.name = "common", .where = scope::frozen}}};
  const method_list methods{{&seeing}, {}};
  const auto refused = [&](const std::string& text) {
    const auto x =
      parse_config({"method = 'seeing'\n" + text, "a.toml"}, {}, methods);
    return x ? std::string{} : x.error().context;
  };
  const std::string common = "[common_model]\nkind = 'language'\n";
  EXPECT_THAT(refused("rounds = 1\n" + common),
              HasSubstr("a.toml:4: what all look through sees the same rows: "
                        "data.kind = \"language\" and common_model.kind = "
                        "\"language\" need each other"));
  EXPECT_THAT(
    refused(with("task = 'classify'\n", "[common_model]\nkind = 'mlp'\n")),
    HasSubstr("need each other"));
  EXPECT_THAT(refused(with("", common + "path = 'm'\n")),
              HasSubstr("a common language model looks at texts that are "
                        "classified; task = \"classify\", or a method without "
                        "a common model, would do"));
  EXPECT_THAT(refused(with("task = 'classify'\n", common)),
              HasSubstr("a common language model has no sizes of its own; the "
                        "'path' of one would do"));
  const auto whole = "method = 'seeing'\n"
                     + with("task = 'classify'\n", common + "path = 'm'\n");
  const auto x = parse_config({whole, "a.toml"}, {}, methods);
  ASSERT_TRUE(x) << x.error().context;
  // Its file has values of its own.
  EXPECT_THAT(x->notes,
              ::testing::Not(::testing::Contains(HasSubstr("'common'"))));
}

TEST(labelled_keys, have_a_head_that_experts_do_not_learn) {
  const auto refused = [](const std::string& method, const std::string& text) {
    const std::vector<std::string> changes{"method=" + method};
    const auto x = parse_config({text, "a.toml"}, changes);
    return x ? std::string{} : x.error().context;
  };
  // What else would do for the pooled one would be refused next.
  for (const std::string method : {"comigs", "local_lora", "centralised_lora"})
    for (const auto* task : {"task = 'classify'\n", "task = 'span'\n"})
      EXPECT_THAT(refused(method, with(task)),
                  HasSubstr("--set method=" + method + ": method '" + method
                            + "' learns nothing of the layer that says what a "
                              "row is; data.task = \"language\" or "
                              "\"describe\", or a method without experts, "
                              "would do"));
  EXPECT_THAT(refused("centralised_lora", with("task = 'classify'\n")),
              ::testing::Not(HasSubstr("data.pooled = true")));
  const auto no_head = ::testing::Not(HasSubstr("says what a row is"));
  EXPECT_THAT(refused("comigs", with("task = 'describe'\n")), no_head);
  EXPECT_THAT(refused("pf2lora", with("task = 'classify'\n")), no_head);
}

TEST(labelled_keys, are_stopped_by_scores_that_clients_have) {
  const auto refused = [](const std::string& method, const std::string& data) {
    const std::vector<std::string> changes{
      "method=" + method, "stop.metric=accuracy", "stop.target=0.5"};
    const auto x = parse_config({with(data), "a.toml"}, changes);
    return x ? std::string{} : x.error().context;
  };
  EXPECT_THAT(refused("comigs", ""),
              HasSubstr("since each has a part of its own: "
                        "\"per_client.perplexity\" would do"));
  EXPECT_THAT(refused("fedavg", "brought = true\n"),
              HasSubstr("no data here to stop by: "
                        "\"per_client.perplexity\" would do"));
  EXPECT_THAT(refused("pf2lora", "task = 'classify'\n"),
              HasSubstr("\"per_client.mean\" or \"per_client.worst\" would "
                        "do"));
}

} // namespace troupe::node::labelled_keys_test
