#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/recipe.hpp"
#include "node/config/config.hpp"
#include "tests/support/config_text.hpp"

namespace troupe::node::language_keys_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string both = "rounds = 1\n[data]\nkind = 'language'\npath = 'x'\n"
                         "tokenizer = 'bytes'\n[model]\nkind = 'language'\n";

/// The same, with keys of data before those of the model.
std::string with(const std::string& data, const std::string& model = "") {
  return "rounds = 1\n[data]\nkind = 'language'\npath = 'x'\n"
         "tokenizer = 'bytes'\n"
         + data + "[model]\nkind = 'language'\n" + model;
}

} // namespace

TEST(language_keys, say_whose_texts_there_are) {
  const auto x = read(with("users = ['nl', 'de', 'fr']\ncontext = 64\n"
                           "tokens = 5000\nmixed = true\ncache = 'kept'\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  const auto& d = x->x.data;
  EXPECT_TRUE(d.is_language());
  EXPECT_THAT(d.users, ElementsAre("nl", "de", "fr"));
  EXPECT_EQ(d.context, 64u);
  EXPECT_EQ(d.tokens, 5000u);
  EXPECT_EQ(d.validation_share, 0.1);
  EXPECT_TRUE(d.mixed);
  EXPECT_EQ(d.cache, "kept");
  // A client is a user.
  EXPECT_EQ(x->x.clients.clients, 3u);
  EXPECT_EQ(x->x.clients.clients_per_round, 3u);
  EXPECT_EQ(x->x.partition.kind, partition_options::rule::natural);
}

TEST(language_keys, say_how_much_text_each_user_has) {
  const std::string two = "users = ['nl', 'de']\n";
  const auto x = read(with(two + "user_tokens = [4000, 1000]\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->x.data.user_tokens, ElementsAre(4000u, 1000u));
  EXPECT_THAT(write_config(x->x), HasSubstr("user_tokens = [4000, 1000]\n"));
  EXPECT_THAT(write_config(read(with(two))->x), Not(HasSubstr("user_tokens")));
  EXPECT_EQ(refusal(with(two + "tokens = 5\nuser_tokens = [4, 1]\n")),
            "a.toml:8: 'tokens' and 'user_tokens' both say how much text a "
            "user has: one of them would do");
  EXPECT_EQ(refusal(with(two + "user_tokens = [4, 1, 2]\n")),
            "a.toml:7: 'user_tokens' has 3 numbers, and 'users' names 2: at "
            "most as many would do");
  EXPECT_EQ(refusal(with("brought = true\nuser_tokens = [4, 1]\n")),
            "a.toml:7: data.brought = true is of texts that are nowhere "
            "together: 'tokens' says how much each has at most");
}

TEST(language_keys, take_fewer_clients_than_users_where_it_is_said) {
  const auto x = read(with("users = ['nl', 'de', 'fr']\n"), {"clients=2"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.clients.clients, 2u);
  EXPECT_EQ(refusal(with("users = ['nl', 'de']\n"), {"clients=3"}),
            "--set clients=3: 'clients' must be at most 2, the users that "
            "'users' names, found 3");
}

TEST(language_keys, give_one_client_the_texts_of_all_users) {
  const auto x = read(with("users = ['nl', 'de', 'fr']\npooled = true\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->x.data.pooled);
  EXPECT_EQ(x->x.clients.clients, 1u);
  EXPECT_EQ(read(with("pooled = true\n"))->x.clients.clients, 1u);
  EXPECT_EQ(refusal(with("pooled = true\n"), {"clients=3"}),
            "--set clients=3: 'data.pooled' gives one client what all users "
            "have: 'clients' must be 1, found 3");
}

TEST(language_keys, may_stop_by_the_perplexity_of_clients) {
  const auto stops = [](const std::string& target) {
    return with("") + "[stop]\nmetric = 'per_client.perplexity'\n" + target;
  };
  const auto x = read(stops("target = 20\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.stop.metric, stop_options::metric_kind::clients_perplexity);
  EXPECT_EQ(refusal(stops("target = 0.9\n")),
            "a.toml:10: a perplexity is at least 1, found 0.900000");
  const std::string why =
    "\"per_client.perplexity\" is of tokens that are foretold: it needs "
    "data.kind = \"language\" and task = \"language\" or \"describe\"";
  EXPECT_THAT(refusal("rounds = 1\n[stop]\nmetric = 'per_client.perplexity'\n"
                      "target = 20\n"),
              HasSubstr("a.toml:3: " + why));
  EXPECT_THAT(refusal(stops("target = 20\n"), {"data.task=classify"}),
              HasSubstr(why));
}

TEST(language_keys, leave_texts_with_the_clients_that_have_them) {
  const std::string own = "rounds = 1\n[data]\nkind = 'language'\n"
                          "brought = true\ntokenizer = 'bytes'\n";
  const std::string model = "[model]\nkind = 'language'\n";
  const auto x = read(own + model, {"clients=3"});
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  EXPECT_TRUE(x->x.data.is_elsewhere());
  EXPECT_GT(x->x.merge.samples_max, 0u) << "a bound before there are clients";
  const auto written = write_config(x->x);
  EXPECT_THAT(written, HasSubstr("brought = true"));
  EXPECT_THAT(written, Not(HasSubstr("path = \"/usr")));
  const auto again = read(written);
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_TRUE(same(x->x, again->x));
  // A path is of texts that are here.
  const auto noted = read(own + "path = 'x'\n" + model);
  ASSERT_TRUE(noted) << noted.error().context;
  EXPECT_EQ(noted->notes.size(), 1u);
  EXPECT_THAT(write_config(read(both)->x), Not(HasSubstr("brought")));
}

TEST(language_keys, of_texts_that_are_nowhere_together_are_few) {
  const std::string why =
    "data.brought = true is of texts that are nowhere together: ";
  EXPECT_EQ(refusal(with("brought = true\nmixed = true\n")),
            "a.toml:7: " + why + "'mixed' must be false");
  EXPECT_EQ(refusal(with("brought = true\npooled = true\n")),
            "a.toml:7: " + why + "'pooled' must be false");
  EXPECT_EQ(refusal(with("brought = true\nusers = ['nl']\n")),
            "a.toml:7: " + why
              + "'users' must not be given; 'clients' says how many may come");
  EXPECT_EQ(refusal(with("task = 'classify'\nbrought = true\n")),
            "a.toml:6: " + why + "task = \"language\" would do");
  EXPECT_EQ(refusal(with("brought = true\n"), {"held_out=2"}),
            "--set held_out=2: data.brought = true has no data for clients "
            "that are held out: 'held_out' must be 0");
}

// Else it would be everybody alone, by another name.
TEST(language_keys, have_all_texts_in_one_place_where_the_method_is_of_that) {
  const recipe together{
    .name = "together", .summary = "all texts", .pooled = true};
  const recipe alone{.name = "alone", .summary = "one's own", .offers = false};
  const method_list two{{&together, &alone}, {}};
  const auto parsed = [&](const std::string& method, const std::string& data) {
    return parse_config(
      {"method = '" + method + "'\n" + with("users = ['nl', 'de']\n" + data),
       "a.toml"},
      {}, two);
  };
  const auto refused = parsed("together", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context,
            "a.toml:1: method 'together' learns from what all users have in "
            "one place, and each of these clients has its own; data.pooled = "
            "true, of 1 client, would do, or method = \"local_lora\"");
  const auto x = parsed("together", "pooled = true\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(parsed("alone", ""));
}

TEST(language_keys, say_how_large_a_model_is_that_begins_from_the_seed) {
  const auto x = read(with("", "architecture = 'llama'\nlayers = 2\n"
                               "embedding = 48\nheads = 6\nkey_heads = 3\n"
                               "inner = 96\n"));
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  const auto& m = x->x.model;
  EXPECT_EQ(m.architecture, model_options::architecture_rule::llama);
  EXPECT_EQ(m.layers, 2u);
  EXPECT_EQ(m.embedding, 48u);
  EXPECT_EQ(m.heads, 6u);
  EXPECT_EQ(m.key_heads, 3u);
  EXPECT_EQ(m.inner, 96u);
}

TEST(language_keys, are_the_files_where_a_model_is_one) {
  const auto x = read("rounds = 1\n[data]\nkind = 'language'\npath = 'x'\n"
                      "[model]\nkind = 'language'\npath = 'm.gguf'\n"
                      "layers = 3\nstorage = 'bf16'\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.model.path, "m.gguf");
  EXPECT_EQ(x->x.model.storage, model_options::storage_rule::bf16);
  EXPECT_THAT(x->notes,
              ElementsAre("a.toml:8: 'model.layers' has no effect: it needs "
                          "kind = \"language\" without a 'path'"));
}

TEST(language_keys, read_back_as_they_were_written) {
  const auto x = read(with("users = ['nl', 'de']\ncontext = 16\n"
                           "test_share = 0.25\n",
                           "layers = 1\n"));
  ASSERT_TRUE(x) << x.error().context;
  const auto text = write_config(x->x);
  const auto again = read(text);
  ASSERT_TRUE(again) << again.error().context << text;
  EXPECT_TRUE(again->notes.empty());
  EXPECT_TRUE(same(x->x, again->x));
  // What others have is as it was.
  const auto plain = read("rounds = 1\n");
  ASSERT_TRUE(plain);
  for (const auto* key : {"context", "users", "architecture", "storage"})
    EXPECT_THAT(write_config(plain->x),
                ::testing::Not(HasSubstr(std::string{key} + " = ")));
}

TEST(language_keys, mean_nothing_to_other_data) {
  const auto x = read("rounds = 1\n[data]\ncontext = 64\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_THAT(x->notes,
              ElementsAre("a.toml:3: 'data.context' has no effect: it needs "
                          "kind = \"language\""));
  const auto y = read(with("label = 'x'\nvalidation = 0.2\n"));
  ASSERT_TRUE(y) << y.error().context;
  EXPECT_THAT(y->notes,
              ElementsAre("a.toml:6: 'data.label' has no effect: it needs kind "
                          "= \"csv\", \"elsewhere\", or \"language\" with "
                          "another 'task' than \"language\"",
                          "a.toml:7: 'data.validation' has no effect: it needs "
                          "another 'kind' than \"language\""));
}

TEST(language_keys, go_in_pairs) {
  EXPECT_EQ(refusal("rounds = 1\n[data]\nkind = 'language'\npath = 'x'\n"
                    "tokenizer = 'bytes'\n[model]\nkind = 'mlp'\n"),
            "a.toml:7: data.kind = \"language\" needs model.kind = "
            "\"language\"");
  EXPECT_EQ(refusal("rounds = 1\n[model]\nkind = 'language'\n"),
            "a.toml:3: model.kind = \"language\" needs data.kind = "
            "\"language\"");
  EXPECT_EQ(refusal("rounds = 1\n[training]\nbatches = 'anywhere'\n"),
            "a.toml:3: batches = \"anywhere\" draws windows of a text: it "
            "needs data.kind = \"language\"");
}

TEST(language_keys, need_a_tokenizer) {
  EXPECT_EQ(refusal("rounds = 1\n[data]\nkind = 'language'\npath = 'x'\n"
                    "[model]\nkind = 'language'\n"),
            "a.toml: 'model.path' must name a model that has a tokenizer or, "
            "where the model begins from the seed, 'data.tokenizer' one: a "
            "folder, a file, or \"bytes\"");
  EXPECT_EQ(refusal("rounds = 1\n[data]\nkind = 'language'\npath = ''\n"
                    "tokenizer = 'bytes'\n[model]\nkind = 'language'\n"),
            "a.toml:4: 'data.path' must name a file or a folder, found \"\"");
}

// What a method leaves as it is says nothing where nobody trained it before.
TEST(language_keys, note_that_a_frozen_model_begins_from_the_seed) {
  const auto notes = [](const std::string& method, const std::string& model) {
    const auto x = parse_config(
      {"method = '" + method + "'\n" + with("users = ['nl', 'de']\n", model),
       "a.toml"});
    EXPECT_TRUE(x) << x.error().context;
    return x ? x->notes : std::vector<std::string>{};
  };
  for (const std::string method : {"comigs", "homlora", "pretrained"}) {
    EXPECT_THAT(notes(method, ""),
                ElementsAre("'model.path' is not given: the model that method '"
                            + method
                            + "' leaves as it is begins from the seed, and has "
                              "learned nothing; the path of a pretrained one "
                              "would do"));
    EXPECT_THAT(notes(method, "path = 'base'\n"), ElementsAre());
  }
  EXPECT_THAT(notes("fedavg", ""), ElementsAre());
  const auto no_text =
    parse_config({"method = 'homlora'\nrounds = 1\n", "a.toml"});
  ASSERT_TRUE(no_text) << no_text.error().context;
  EXPECT_THAT(no_text->notes, ElementsAre());
}

TEST(language_keys, leave_something_to_train_on) {
  EXPECT_EQ(refusal(with("validation_share = 0.5\ntest_share = 0.45\n")),
            "a.toml:7: 'validation_share' and 'test_share' leave too little to "
            "train on: together at most 0.9 would do");
  EXPECT_TRUE(read(with("validation_share = 0.6\ntest_share = 0.3\n")));
  EXPECT_EQ(refusal(with("context = 0\n")),
            "a.toml:6: 'data.context' must be an integer from 1 to 1048576, "
            "found 0");
}

TEST(language_keys, name_each_user_once) {
  EXPECT_EQ(refusal(with("users = ['nl', 'de', 'nl']\n")),
            "a.toml:6: 'users' names 'nl' twice, and a client is a user: once "
            "would do");
}

TEST(language_keys, are_of_models_that_can_be) {
  EXPECT_EQ(refusal(with("", "embedding = 10\nheads = 4\n")),
            "a.toml:9: 'heads' must divide 'embedding', which is 10, found 4");
  EXPECT_EQ(refusal(with("", "architecture = 'llama'\nkey_heads = 3\n")),
            "a.toml:9: 'key_heads' must divide 'heads', which is 4, found 3");
  EXPECT_EQ(refusal(with("", "key_heads = 2\n")),
            "a.toml:8: 'key_heads' are shared by heads in architecture = "
            "\"llama\" alone: 0 would do");
}

TEST(language_keys, are_for_methods_over_one_model) {
  static const recipe adapted{
    .name = "with_adapters", .summary = {}, .blocks = {{.name = "adapter"}}};
  static const recipe frozen{
    .name = "with_a_still_one",
    .summary = "",
    .blocks = {{.name = "model", .where = scope::frozen}, {.name = "adapter"}}};
  static const recipe beside{
    .name = "with_two",
    .summary = "",
    .blocks = {{.name = "common", .where = scope::frozen}, {.name = "model"}}};
  const method_list methods{{&adapted, &frozen, &beside}, {}};
  const auto refused = [&](const std::string& method) {
    const auto text = "method = '" + method + "'\n" + both;
    const auto x = parse_config({text, "a.toml"}, {}, methods);
    return x ? std::string{} : x.error().context;
  };
  EXPECT_EQ(refused("with_adapters"),
            "a.toml:1: method 'with_adapters' composes adapters into weights "
            "that are trained, and a language model's stand inside the layers "
            "of one that is not; a method over a frozen model, or one without "
            "adapters, would do");
  EXPECT_EQ(refused("with_a_still_one"), "");
  EXPECT_EQ(refused("with_two"),
            "a.toml:1: method 'with_two' has a common model beside the one "
            "that is trained, which a language model is not; a method without "
            "one would do");
}

TEST(language_keys, say_how_many_experts_clients_have) {
  const auto of_all = [](const std::string& text) {
    return parse_config({text, "a.toml"});
  };
  const auto x = of_all("rounds = 1\nmethod = 'comigs'\n[training]\n"
                        "experts = [2, 4, 1]\noptimiser = 'adamw'\n"
                        "beta2 = 0.95\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.training.experts, (std::vector<std::uint32_t>{2, 4, 1}));
  EXPECT_EQ(x->x.training.beta1, 0.9);
  EXPECT_EQ(x->x.training.beta2, 0.95);
  const auto text = write_config(x->x);
  EXPECT_THAT(text, Not(HasSubstr("\nexpert_memory")));
  const auto again = of_all(text);
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_TRUE(same(again->x, x->x));
  EXPECT_EQ(again->x.training.beta2, 0.95);
  EXPECT_THAT(write_config(read("rounds = 1")->x), Not(HasSubstr("experts =")));
  EXPECT_EQ(refusal("rounds = 1\n[training]\nexperts = [2]\n"),
            "a.toml:3: 'training.experts' must not be given: clients of method "
            "'fedavg' have no number of experts of their own");
  // Ranks may follow from their number, and no memory is theirs.
  const std::string of_ranks = "rounds = 1\nmethod = 'hetlora'\n[training]\n";
  const auto with_experts = of_all(of_ranks + "experts = [2]\n");
  EXPECT_TRUE(with_experts) << with_experts.error().context;
  const auto with_memory = of_all(of_ranks + "expert_memory = [1]\n");
  ASSERT_FALSE(with_memory);
  EXPECT_EQ(with_memory.error().context,
            "a.toml:4: 'training.expert_memory' must not be given: clients of "
            "method 'hetlora' have no number of experts of their own");
  const auto both_said = of_all("rounds = 1\nmethod = 'comigs'\n[training]\n"
                                "experts = [2]\nexpert_memory = [1.5]\n");
  ASSERT_FALSE(both_said);
  EXPECT_EQ(both_said.error().context,
            "a.toml:5: 'experts' and 'expert_memory' both say how many experts "
            "a client has: one of them would do");
}

TEST(language_keys, say_no_experts_of_clients_that_are_not_there) {
  const auto of_three = [](const std::string& more) {
    return parse_config({"rounds = 1\nmethod = 'comigs'\nclients = 3\n"
                         "[training]\n"
                           + more,
                         "a.toml"});
  };
  for (const std::string key : {"experts", "expert_memory"}) {
    EXPECT_TRUE(of_three(key + " = [2, 2, 8]\n"));
    const auto x = of_three(key + " = [2, 2, 2, 8]\n");
    ASSERT_FALSE(x) << "at most as many";
    EXPECT_EQ(x.error().context,
              "a.toml:5: 'training." + key
                + "' has 4 numbers, and 'clients' is 3: at most as many would "
                  "do");
  }
}

} // namespace troupe::node::language_keys_test
