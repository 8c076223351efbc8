// A language model is the run's by the digest of its base and its tokenizer,
// and of a server's files nothing is left.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "models/language/base.hpp"
#include "node/config/config.hpp"
#include "node/join/task.hpp"
#include "node/run/serving_terms.hpp"
#include "node/task/model_file.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::test {
namespace {

using node::experiment;
using node::join_context;
using ::testing::HasSubstr;
using end = node::join_summary::end;

class language_terms : public ::testing::Test {
protected:
  /// A folder with a base that begins as a seed says.
  std::string base(const std::string& name, std::uint64_t seed) const {
    auto path = scratch.path() + '/' + name;
    const auto spec = troupe::test::small_gpt2();
    const auto ok =
      models::write_base(path, spec, models::initial_weights(spec, seed));
    EXPECT_TRUE(ok) << ok.error().context;
    return path;
  }

  static experiment configured(const std::string& model,
                               const std::string& data = "",
                               const std::string& method = "homlora") {
    const auto found =
      node::parse_config({"rounds = 1\nmethod = '" + method
                            + "'\n[data]\nkind = 'language'\n"
                              "path = '/of/the/server'\ncontext = 8\n"
                            + data + "[model]\nkind = 'language'\n" + model,
                          "a.toml"});
    EXPECT_TRUE(found) << found.error().context;
    return found ? found->x : experiment{};
  }

  static experiment over(const std::string& path,
                         const std::string& data = "tokenizer = 'bytes'\n") {
    return configured("path = '" + path + "'\n", data);
  }

  /// What a server says whose model is that.
  static messages::terms_given terms_of(const experiment& x) {
    const actors::leases::room room{
      .clients = 1, .named_above = 1, .named_max = 0};
    node::process_book book{.run = {1}, .places = actors::leases{room}};
    const auto model = node::digest_of_model(x);
    EXPECT_TRUE(model) << (model ? "" : model.error().context);
    book.model = model.value_or(models::digest{});
    node::workload work;
    work.blocks = std::make_shared<const models::layout>();
    work.task = std::make_shared<const models::local_task>();
    return node::terms_of(book, x, work);
  }

  /// A process with such a command line.
  static join_context told(const std::string& model,
                           const std::string& tokenizer = "") {
    join_context in;
    in.data = "texts";
    in.model = model;
    in.tokenizer = tokenizer;
    return in;
  }

  const scratch_folder scratch;
};

} // namespace

TEST_F(language_terms, name_no_file_of_the_server) {
  const auto path = base("served", 1);
  auto x = over(path);
  x.data.cache = "/of/the/server/too";
  const auto terms = terms_of(x);
  for (const auto& line : terms.config) {
    EXPECT_EQ(line.find("/of/the/server"), std::string::npos) << line;
    EXPECT_EQ(line.find(scratch.path()), std::string::npos) << line;
  }
  experiment to;
  const auto wrong = node::read_terms(told(base("copy", 1)), terms, to);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_EQ(to.data.path, "texts");
  EXPECT_EQ(to.data.tokenizer, "bytes");
  EXPECT_EQ(to.data.cache, "");
  EXPECT_EQ(to.model.path, scratch.path() + "/copy");
  EXPECT_EQ(to.init, "") << "a base is no file of first weights";
}

// A base of another digest on one client.
TEST_F(language_terms, are_not_met_by_a_base_of_another_digest) {
  const auto terms = terms_of(over(base("served", 1)));
  const auto other = base("other", 2);
  experiment to;
  const auto wrong = node::read_terms(told(other), terms, to);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, end::misfit);
  EXPECT_THAT(wrong->why, HasSubstr(other
                                    + " is not the model that the run has: "
                                      "its digest is "));
  EXPECT_THAT(wrong->hint, HasSubstr("--model PATH"));
}

TEST_F(language_terms, are_not_met_by_weights_that_are_kept_otherwise) {
  const auto path = base("served", 1);
  auto x = over(path);
  const auto as_f32 = node::digest_of_model(x);
  x.model.storage = node::model_options::storage_rule::bf16;
  const auto as_bf16 = node::digest_of_model(x);
  ASSERT_TRUE(as_f32 && as_bf16);
  EXPECT_NE(*as_f32, *as_bf16);
}

TEST_F(language_terms, need_the_model_where_the_run_has_a_file) {
  const auto terms = terms_of(over(base("served", 1)));
  experiment to;
  const auto wrong = node::read_terms(told(""), terms, to);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, end::misfit);
  EXPECT_EQ(wrong->why, "this run adapts a language model of a file");
  EXPECT_EQ(wrong->hint, "--model PATH says where this machine has it");
  EXPECT_EQ(to.model.path, "");
}

TEST_F(language_terms, take_no_model_where_it_begins_from_the_seed) {
  const auto terms = terms_of(configured(
    "layers = 1\nembedding = 8\nheads = 2\n", "tokenizer = 'bytes'\n"));
  experiment to;
  EXPECT_FALSE(node::read_terms(told(""), terms, to));
  const auto wrong = node::read_terms(told(base("mine", 1)), terms, to);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->why,
            "this run's language model begins from the seed, and has no file");
}

TEST_F(language_terms, need_a_tokenizer_that_is_a_file_of_its_own) {
  auto terms = terms_of(over(base("served", 1)));
  // As of a server whose configuration names one.
  const auto bytes = std::ranges::find(terms.config, "tokenizer = \"bytes\"");
  ASSERT_NE(bytes, terms.config.end());
  *bytes = "tokenizer = \"elsewhere\"";
  experiment to;
  const auto model = base("mine", 1);
  auto wrong = node::read_terms(told(model), terms, to);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->why, "this run's tokenizer is a file of its own");
  EXPECT_EQ(wrong->hint, "--tokenizer PATH says where this machine has it");
  // And one that is there is held to the run's.
  EXPECT_FALSE(node::read_terms(told(model, "bytes"), terms, to));
  EXPECT_EQ(to.data.tokenizer, "bytes");
  wrong = node::read_terms(told(model, "/nowhere"), terms, to);
  ASSERT_TRUE(wrong);
  EXPECT_THAT(wrong->why, HasSubstr("/nowhere"));
}

TEST_F(language_terms, take_no_tokenizer_where_the_model_has_its_own) {
  const auto path = base("served", 1);
  std::ofstream{path + "/tokenizer.json"}
    << byte_level_json({{"h", "e"}}).dump();
  const auto terms = terms_of(over(path, ""));
  experiment to;
  EXPECT_FALSE(node::read_terms(told(path), terms, to));
  const auto wrong = node::read_terms(told(path, "words"), terms, to);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, end::misfit);
  EXPECT_EQ(wrong->why, "this run's tokenizer is in its model's files");
  EXPECT_EQ(wrong->hint, "without --tokenizer it would do");
}

TEST_F(language_terms, say_where_a_copy_lacks_the_tokenizer_of_its_model) {
  const auto path = base("served", 1);
  std::ofstream{path + "/tokenizer.json"}
    << byte_level_json({{"h", "e"}}).dump();
  const auto terms = terms_of(over(path, ""));
  const auto copy = base("mine", 1);
  for (const std::string tokenizer : {"", "bytes"}) {
    experiment to;
    const auto wrong = node::read_terms(told(copy, tokenizer), terms, to);
    ASSERT_TRUE(wrong) << tokenizer;
    EXPECT_EQ(wrong->how, end::misfit);
    EXPECT_EQ(wrong->why, "this run uses its model's own tokenizer, and "
                            + copy + " has none");
    EXPECT_EQ(wrong->hint,
              "--model PATH of a copy with the tokenizer that the server's "
              "has; --tokenizer is of runs that name another one");
  }
}

// What a server says of it is not taken for those who say it themselves.
TEST_F(language_terms, let_clients_say_at_home_how_many_experts_they_have) {
  const std::string model = "layers = 1\nembedding = 8\nheads = 2\n";
  auto x = configured(model, "tokenizer = 'bytes'\n", "comigs");
  const auto terms = terms_of(x);
  for (const auto& line : terms.config)
    EXPECT_EQ(line.find("expert"), std::string::npos) << line;
  x.training.expert_memory = {16};
  experiment to;
  auto in = told("");
  for (const auto& y : {terms, terms_of(x)}) {
    in.experts = 4;
    in.expert_memory = 0;
    auto wrong = node::read_terms(in, y, to);
    ASSERT_FALSE(wrong) << wrong->why;
    EXPECT_EQ(to.training.experts, (std::vector<std::uint32_t>{4}));
    EXPECT_TRUE(to.training.expert_memory.empty());
    EXPECT_EQ(to.places.of("training.experts"), "--experts: ");
    in.experts = 0;
    in.expert_memory = 0.5;
    wrong = node::read_terms(in, y, to);
    ASSERT_FALSE(wrong) << wrong->why;
    EXPECT_TRUE(to.training.experts.empty());
    EXPECT_EQ(to.training.expert_memory, std::vector<double>{0.5});
    EXPECT_EQ(to.places.of("training.expert_memory"), "--expert-memory: ");
  }
}

TEST_F(language_terms, have_as_many_experts_as_the_method_has) {
  const std::string model = "layers = 1\nembedding = 8\nheads = 2\n";
  const auto terms =
    terms_of(configured(model, "tokenizer = 'bytes'\n", "comigs"));
  experiment to;
  auto in = told("");
  in.experts = 9;
  auto wrong = node::read_terms(in, terms, to);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, end::misfit);
  EXPECT_EQ(wrong->why, "a client of this run's method, comigs, has 1 to 8 "
                        "experts, and --experts says 9");
  EXPECT_EQ(wrong->hint, "--experts 8 would do");
  wrong = node::read_terms(
    in, terms_of(configured(model, "tokenizer = 'bytes'\n")), to);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, end::misfit);
  EXPECT_EQ(wrong->why, "clients of this run's method, homlora, have no number "
                        "of experts of their own");
  EXPECT_EQ(wrong->hint, "without --experts it would do");
}

TEST_F(language_terms, leave_texts_with_whom_they_are_of) {
  const auto terms =
    terms_of(configured("layers = 1\nembedding = 8\nheads = 2\n",
                        "tokenizer = 'bytes'\nbrought = true\n"));
  experiment to;
  auto in = told("");
  const auto wrong = node::read_terms(in, terms, to);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, end::data);
  EXPECT_EQ(wrong->why,
            "this run has no data of its own: its clients bring theirs");
  in.name = "north";
  EXPECT_FALSE(node::read_terms(in, terms, to));
  EXPECT_TRUE(to.data.is_elsewhere());
  EXPECT_EQ(to.data.path, "texts");
}

} // namespace troupe::test
