// Texts of users as what a run learns from.

#include "node/task/language.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "node/task/language_model.hpp"
#include "node/task/workload.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::test {

namespace {

using node::experiment;
using ::testing::ElementsAre;

struct language_task : ::testing::Test {
  language_task() {
    x.data.kind = node::data_options::format::language;
    x.data.path = at.path() + "/users";
    x.data.tokenizer = "bytes";
    x.data.context = 8;
    x.model.kind = node::model_options::shape::language;
    x.model.layers = 1;
    x.model.embedding = 8;
    x.model.heads = 2;
    x.clients.clients = 2;
    std::filesystem::create_directories(x.data.path);
    for (const auto* name : {"de", "fr", "nl"}) {
      std::ofstream out{x.data.path + "/" + name + ".txt"};
      for (int i = 0; i < 20; ++i)
        out << name << " has line " << i << '\f';
    }
  }

  std::string refusal() const {
    const auto found = node::load_language(x);
    return found ? "loaded" : found.error().context;
  }

  scratch_folder at;
  experiment x;
};

} // namespace

TEST_F(language_task, has_a_client_for_each_user) {
  x.data.users = {"nl", "fr", "de"};
  const auto named = node::load_language(x);
  ASSERT_TRUE(named) << named.error().context;
  EXPECT_THAT((*named)->users(), ElementsAre("nl", "fr"));
  x.data.users.clear();
  const auto all = node::load_language(x);
  ASSERT_TRUE(all) << all.error().context;
  EXPECT_THAT((*all)->users(), ElementsAre("de", "fr"));
  EXPECT_EQ((*all)->vocabulary(), 257u);
  EXPECT_EQ((*all)->context(), 8u);
}

TEST_F(language_task, has_no_client_without_a_user) {
  x.clients.clients = 4;
  EXPECT_EQ(refusal(), x.data.path
                         + ": has 3 users, and there are 4 clients, each of "
                           "which is one; 'clients' = 3 would do");
  x.data.users = {"de"};
  EXPECT_EQ(refusal(), x.data.path
                         + ": has 1 user, and there are 4 clients, each of "
                           "which is one; 'clients' = 1 would do");
}

TEST_F(language_task, says_which_path_leads_nowhere) {
  const auto none = at.path() + "/none";
  x.data.path = none;
  EXPECT_EQ(refusal(), "data.path = '" + none
                         + "': there is nothing there; another path would do");
  // Not the folder of the examples.
  const auto other = at.path() + "/build/languages/none";
  x.data.path = other;
  EXPECT_EQ(refusal(), "data.path = '" + other
                         + "': there is nothing there; another path would do");
}

TEST_F(language_task, says_what_brings_the_files_of_the_examples) {
  const auto missing = [&](const std::string& key, const std::string& path) {
    return key + " = '" + path
           + "': there is nothing there; ./dev data language brings what the "
             "examples learn from into build/language";
  };
  const auto none = at.path() + "/build/language/none";
  const auto texts = x.data.path;
  x.data.path = none;
  EXPECT_THAT(refusal(), ::testing::StartsWith(missing("data.path", none)));
  x.data.path = texts;
  x.data.tokenizer = none;
  EXPECT_THAT(refusal(),
              ::testing::StartsWith(missing("data.tokenizer", none)));
  x.data.tokenizer.clear();
  x.model.path = none;
  EXPECT_THAT(refusal(), ::testing::StartsWith(missing("model.path", none)));
  x.data.tokenizer = "bytes";
  EXPECT_EQ(refusal(), "loaded") << "texts can be looked at without a model";
  const auto base = node::base_of(x, 257);
  ASSERT_FALSE(base);
  EXPECT_THAT(base.error().context,
              ::testing::StartsWith(missing("model.path", none)));
}

TEST_F(language_task, has_nobodys_text_where_each_client_brings_its_own) {
  x.data.brought = true;
  x.data.path.clear();
  const auto none = node::load_language(x);
  ASSERT_TRUE(none) << none.error().context;
  EXPECT_TRUE((*none)->users().empty());
  EXPECT_EQ((*none)->size(models::split::test), 0u);
  EXPECT_EQ((*none)->vocabulary(), 257u);
  const auto make = [](const auto&, auto,
                       auto) -> result<std::unique_ptr<models::objective>> {
    return fail(errc::unsupported, "there is no torch here");
  };
  const auto found = node::language_of(x, make);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_FALSE(found->data_digest);
  EXPECT_THAT(found->shape.inputs, ElementsAre(8u)) << "they may come";
  EXPECT_EQ(found->shape.classes, 257u);
}

TEST_F(language_task, is_cut_by_the_tokenizer_of_its_model) {
  x.model.path = at.path() + "/model";
  std::filesystem::create_directories(x.model.path);
  EXPECT_EQ(refusal(), "loaded") << "the model has none";
  std::ofstream{x.model.path + "/tokenizer.json"}
    << byte_level_json({{"h", "e"}}).dump();
  EXPECT_THAT(refusal(), ::testing::HasSubstr("bytes: is not the tokenizer of "
                                              + x.model.path));
  x.data.tokenizer = x.model.path + "/tokenizer.json";
  EXPECT_EQ(refusal(), "loaded");
}

// What looks at the rows reads the same ids.
TEST_F(language_task, says_which_key_names_a_tokenizer_that_its_model_lacks) {
  x.data.tokenizer.clear();
  x.model.path = at.path() + "/model";
  std::filesystem::create_directories(x.model.path);
  EXPECT_EQ(refusal(),
            x.model.path
              + ": has no tokenizer; the model's own tokenizer.json, a folder "
                "with it, with vocab.json and merges.txt, or with vocab.txt, a "
                ".gguf, or 'bytes' would do; 'data.tokenizer' names one that "
                "is elsewhere");
}

TEST_F(language_task, has_no_tokenizer_that_is_not_the_common_models) {
  x.method = "ddome";
  x.common_model = x.model;
  x.common_model->path = at.path() + "/common";
  std::filesystem::create_directories(x.common_model->path);
  EXPECT_EQ(refusal(), "loaded") << "the model has none";
  std::ofstream{x.common_model->path + "/tokenizer.json"}
    << byte_level_json({{"h", "e"}}).dump();
  EXPECT_THAT(refusal(), ::testing::HasSubstr("bytes: is not the tokenizer of "
                                              + x.common_model->path));
  EXPECT_THAT(refusal(),
              ::testing::HasSubstr("; that of 'common_model' would do"));
  x.data.tokenizer = x.common_model->path;
  EXPECT_EQ(refusal(), "loaded");
}

TEST_F(language_task, has_another_deal_with_another_seed) {
  const auto one = node::load_language(x);
  x.seed = 2;
  const auto other = node::load_language(x);
  ASSERT_TRUE(one && other);
  EXPECT_NE((*one)->content(), (*other)->content());
}

TEST_F(language_task, is_materials_of_a_run) {
  std::size_t context = 0;
  bool trained = false;
  const auto make = [&](const models::language_config& how,
                        std::shared_ptr<const models::language_base> base,
                        std::shared_ptr<const models::token_rows> rows)
    -> result<std::unique_ptr<models::objective>> {
    context = rows->context();
    trained = how.trained && base != nullptr;
    return fail(errc::unsupported, "there is no torch here");
  };
  x.clients.held_out = 1;
  const auto found = node::language_of(x, make);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_TRUE(found->counts_tokens);
  EXPECT_FALSE(found->has_labels);
  EXPECT_EQ(found->clients.train.size(), 2u);
  EXPECT_EQ(found->clients.held_out, 1u);
  EXPECT_EQ(found->test_size,
            found->clients.test[0].size() + found->clients.test[1].size());
  EXPECT_TRUE(found->clients.validation.empty());
  EXPECT_FALSE(found->clients.own_validation[1].empty());
  const auto data = node::load_language(x);
  ASSERT_TRUE(data);
  EXPECT_EQ(found->data_digest(), (*data)->content());
  EXPECT_FALSE(found->make_objective());
  EXPECT_EQ(context, 8u);
  EXPECT_TRUE(trained);
  EXPECT_THAT(found->users, ElementsAre("user 'de' of " + x.data.path,
                                        "user 'fr' of " + x.data.path));
}

TEST_F(language_task, speaks_of_a_model_by_its_file_and_whose_tokens_it_has) {
  const auto said = [this] {
    return node::spoken_of(x, x.model)({errc::invalid_config, "no"}).context;
  };
  EXPECT_EQ(said(), "[model]: no");
  x.model.path = "base.gguf";
  EXPECT_EQ(said(), "base.gguf over tokens of 'bytes': no");
  x.data.tokenizer.clear();
  EXPECT_EQ(said(), "base.gguf: no");
}

} // namespace troupe::test
