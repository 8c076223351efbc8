// What `troupe eval` refuses before anything is computed.

#include "node/commands/eval.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "models/continuations.hpp"
#include "models/language/base.hpp"
#include "models/objective.hpp"
#include "node/commands/eval_prompts.hpp"
#include "node/commands/eval_routing.hpp"
#include "node/commands/eval_text.hpp"
#include "node/commands/eval_writing.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/small_tokenizers.hpp"

namespace troupe::test {

namespace {

using ::testing::HasSubstr;

std::string misuse(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  const auto how = node::eval_command({}, args, {out, err});
  EXPECT_EQ(how, node::exit_code::usage);
  EXPECT_EQ(out.str(), "");
  return err.str();
}

result<std::unique_ptr<models::objective>>
no_torch(const models::language_config&,
         std::shared_ptr<const models::language_base>,
         std::shared_ptr<const models::token_rows>) {
  return fail(errc::unsupported, "there is no torch here");
}

using prompt_list = std::vector<std::vector<std::uint32_t>>;

/// Writes nothing, and notes after what. Scores by looking at rows.
class noting_writer final : public models::objective,
                            public models::model_continuations {
public:
  noting_writer(prompt_list& to, std::shared_ptr<const models::token_rows> rows)
    : to_(to),
      rows_(std::move(rows)) {
    // nop
  }

  const models::tensor_list& parameter_list() const noexcept override {
    return none_;
  }

  const models::tensor_list& buffer_list() const noexcept override {
    return none_;
  }

  std::span<float> parameters() noexcept override {
    return {};
  }

  std::span<float> gradient() noexcept override {
    return {};
  }

  std::span<float> buffers() noexcept override {
    return {};
  }

  result<double> backward(std::span<const std::uint32_t>,
                          std::uint64_t) override {
    return 0.0;
  }

  result<models::scores>
  evaluate(models::split part, std::span<const std::uint32_t> which) override {
    std::vector<std::int32_t> ids(rows_->context()), targets(ids.size());
    for (const auto row : which)
      rows_->read(part, row, ids, targets);
    return models::scores{.count = which.size()};
  }

  std::vector<float> initial_parameters(std::uint64_t) override {
    return {};
  }

  std::vector<float> initial_buffers() override {
    return {};
  }

  models::model_continuations* continuations() noexcept override {
    return this;
  }

  std::size_t tokens_max() const noexcept override {
    return 16;
  }

  result<models::continuation>
  go_on(std::span<const std::uint32_t> prompt,
        const models::continuation_rule&) override {
    to_.emplace_back(prompt.begin(), prompt.end());
    return models::continuation{};
  }

private:
  prompt_list& to_;
  std::shared_ptr<const models::token_rows> rows_;
  models::tensor_list none_;
};

node::language_maker noting(prompt_list& to) {
  return [&to](const models::language_config&,
               std::shared_ptr<const models::language_base>,
               std::shared_ptr<const models::token_rows> rows)
           -> result<std::unique_ptr<models::objective>> {
    return std::make_unique<noting_writer>(to, std::move(rows));
  };
}

struct eval_of_a_text : ::testing::Test {
  std::string model(const models::language_spec& x) const {
    const auto folder = at.path() + "/model";
    const auto ok =
      models::write_base(folder, x, models::initial_weights(x, 1));
    EXPECT_TRUE(ok) << ok.error().context;
    return folder;
  }

  std::string file(const std::string& text) const {
    const auto path = at.path() + "/text";
    std::ofstream{path} << text;
    return path;
  }

  std::string refusal(const node::text_question& x) const {
    const auto found = node::worth_of(x, no_torch);
    return found ? "scored" : found.error().context;
  }

  scratch_folder at;
};

} // namespace

TEST(eval_command, scores_a_run_or_a_model) {
  EXPECT_THAT(misuse({}), HasSubstr("nothing is said to be scored"));
  EXPECT_THAT(misuse({"runs/1"}),
              HasSubstr("--matrix, --routing or --writing is required"));
  for (const auto* option : {"--matrix", "--routing", "--writing"})
    EXPECT_THAT(misuse({option}), HasSubstr("RUN is required"));
  for (const auto* option : {"--matrix", "--writing"})
    EXPECT_THAT(misuse({"runs/1", "--routing", option}),
                HasSubstr("models are compared, routers looked at, or texts "
                          "written"));
  EXPECT_THAT(misuse({"--writing", "--tokens", "8"}),
              HasSubstr("RUN is required"));
  for (const auto* option : {"--beam", "--tokens"}) {
    EXPECT_THAT(misuse({option, "2"}),
                HasSubstr("nothing is said to be scored"));
    EXPECT_THAT(misuse({"runs/1", "--routing", option, "2"}),
                HasSubstr("--beam and --tokens are of texts that are written"));
  }
  EXPECT_THAT(misuse({"runs/1", "--routing", "--model", "m"}),
              HasSubstr("a run is scored, or a model by itself"));
  EXPECT_THAT(misuse({"--model", "m"}),
              HasSubstr("--text or --prompts is required"));
  EXPECT_THAT(misuse({"--model", "m", "--context", "8"}),
              HasSubstr("--text is required"));
  EXPECT_THAT(misuse({"--text", "t"}), HasSubstr("--model is required"));
  EXPECT_THAT(misuse({"--context", "8"}), HasSubstr("--model is required"));
  EXPECT_THAT(misuse({"--prompts", "p"}), HasSubstr("--model is required"));
  for (const auto* option : {"--beam", "--tokens"})
    EXPECT_THAT(misuse({"--model", "m", option, "2"}),
                HasSubstr("--prompts is required"));
  EXPECT_THAT(misuse({"--model", "m", "--text", "t", "--prompts", "p"}),
              HasSubstr("a model foretells a text, or goes on with prompts"));
  EXPECT_THAT(misuse({"--model", "m", "--text", "t", "--beam", "2"}),
              HasSubstr("a model foretells a text, or goes on with prompts"));
  EXPECT_THAT(misuse({"--model", "m", "--prompts", "p", "--context", "8"}),
              HasSubstr("a model foretells a text, or goes on with prompts"));
  for (const auto* option : {"--model", "--text", "--prompts", "--tokenizer"})
    EXPECT_THAT(misuse({"runs/1", "--matrix", option, "x"}),
                HasSubstr("a run is scored, or a model by itself"));
}

TEST(eval_routing, counts_each_client_the_same) {
  const std::map<client_id, models::token_routes> clients{
    {{1},
     {.experts = 2,
      .steps = 10,
      .mean_of_first = {0.25, 1},
      .first_places = {0, 1},
      .window = {0, 0}}},
    {{4},
     {.experts = 3,
      .steps = 30,
      .mean_of_first = {0.75, 0.5},
      .first_places = {1, 0.5},
      .window = {0, 2}}}};
  const auto found = node::look_at(version{7}, clients);
  EXPECT_EQ(found.head, version{7});
  EXPECT_EQ(found.clients, 2u);
  EXPECT_EQ(found.steps, 20);
  EXPECT_EQ(found.scores, (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ(found.first_places, (std::vector<double>{0.5, 0.75}));
}

TEST(eval_routing, is_of_a_run_with_routers) {
  scratch_folder at;
  auto x = configured(quadratic_run, {"events=true"}, at.path());
  const auto run = finished(x);
  const auto found = node::routing_of(run.folder, no_model);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_config);
  EXPECT_EQ(found.error().context,
            "method 'fedavg' has no routers; one that chooses experts by token "
            "would do");
}

TEST(eval_writing, counts_each_client_the_same) {
  const std::vector<node::client_writing> clients{
    {.client = {1}, .scores = {.bleu = 10, .ter = 80, .f1 = 1}},
    {.client = {4}, .scores = {.bleu = 20, .rouge_l = 0.5, .ter = 40}}};
  const auto found = node::mean_of(clients);
  EXPECT_EQ(found.bleu, 15);
  EXPECT_EQ(found.rouge_l, 0.25);
  EXPECT_EQ(found.ter, 60);
  EXPECT_EQ(found.f1, 0.5);
  EXPECT_EQ(found.cider, 0);
}

TEST(eval_writing, is_of_a_run_whose_clients_describe) {
  scratch_folder at;
  auto x = configured(quadratic_run, {"events=true"}, at.path());
  const auto run = finished(x);
  const auto found = node::writing_of({.folder = run.folder}, no_model);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_config);
  EXPECT_EQ(found.error().context,
            "clients of this run describe nothing; a run with data.task = "
            "\"describe\" would do, or --model with --prompts");
}

TEST_F(eval_of_a_text, needs_a_whole_window) {
  const auto folder = model(troupe::test::small_gpt2());
  EXPECT_EQ(refusal({.model = folder,
                     .text = file("12345678"),
                     .tokenizer = "bytes",
                     .context = 8}),
            at.path()
              + "/text: has 8 tokens, and a window of 8 has one more to "
                "foretell; more text or a smaller --context would do");
  EXPECT_EQ(refusal({.model = folder,
                     .text = file("123456789"),
                     .tokenizer = "bytes",
                     .context = 8}),
            folder + ": there is no torch here");
}

TEST_F(eval_of_a_text, is_of_what_lines_say_and_of_utf8) {
  const auto folder = model(troupe::test::small_gpt2());
  EXPECT_THAT(
    refusal({.model = folder, .text = file("caf\xe9"), .tokenizer = "bytes"}),
    HasSubstr("/text:1: byte 3 of the file, "));
  const auto lines = at.path() + "/x.jsonl";
  std::ofstream{lines} << R"({"text": "1234567"})";
  EXPECT_THAT(refusal({folder, lines, "bytes", 7}), HasSubstr("7 tokens"));
}

// As long as the model takes, and as the text is, where nothing is said.
TEST_F(eval_of_a_text, has_windows_no_longer_than_the_text) {
  struct row {
    std::string text;
    std::size_t said, context;
  };
  const std::vector<row> rows{{"12", 0, 1},
                              {"123456789", 0, 8},
                              {"123456789", 4, 4},
                              {std::string(16, 'x'), 0, 15},
                              {std::string(17, 'x'), 0, 16},
                              {std::string(40, 'x'), 0, 16}};
  const auto folder = model(troupe::test::small_gpt2());
  prompt_list none;
  for (const auto& x : rows) {
    const auto found = node::worth_of({.model = folder,
                                       .text = file(x.text),
                                       .tokenizer = "bytes",
                                       .context = x.said},
                                      noting(none));
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->context, x.context) << x.text << ' ' << x.said;
  }
  for (const auto& [text, tokens] :
       {std::pair{"", "0 tokens"}, std::pair{"1", "1 token"}})
    EXPECT_EQ(
      refusal({.model = folder, .text = file(text), .tokenizer = "bytes"}),
      at.path() + "/text: has " + tokens
        + ", and none is foretold but from one before it; more text would do");
}

// Its ids are below the model's, so figures would come out.
TEST_F(eval_of_a_text, refuses_a_tokenizer_of_another_model) {
  const auto folder = model(troupe::test::small_gpt2());
  std::ofstream{folder + "/tokenizer.json"}
    << byte_level_json({{"h", "e"}}).dump();
  const auto wanted = "bytes: is not the tokenizer of " + folder;
  EXPECT_THAT(
    refusal({.model = folder, .text = file("123456789"), .tokenizer = "bytes"}),
    HasSubstr(wanted));
  const auto written = node::texts_of(
    {.model = folder, .prompts = file("h"), .tokenizer = "bytes"}, no_torch);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().context, HasSubstr(wanted));
}

TEST_F(eval_of_a_text, needs_a_model_that_does_not_look_ahead) {
  const auto folder = model(troupe::test::small_bert());
  EXPECT_EQ(refusal({.model = folder,
                     .text = file("123456789"),
                     .tokenizer = "bytes",
                     .context = 8}),
            folder
              + ": is bert, 2 layers of 8, 2 heads, 11 tokens, which sees the "
                "tokens that it should foretell; a gpt2 or a llama would do");
}

TEST_F(eval_of_a_text, names_what_is_not_there) {
  EXPECT_THAT(refusal({.model = at.path() + "/none", .text = file("1")}),
              HasSubstr(at.path() + "/none"));
  const auto folder = model(troupe::test::small_gpt2());
  EXPECT_THAT(refusal({.model = folder, .text = file("1")}),
              HasSubstr("tokenizer"));
  EXPECT_THAT(
    refusal(
      {.model = folder, .text = at.path() + "/no text", .tokenizer = "bytes"}),
    HasSubstr("/no text"));
}

TEST_F(eval_of_a_text, goes_on_behind_what_its_tokenizer_puts_before) {
  auto tokenizer = byte_level_json({{"h", "e"}});
  add_token(tokenizer, "<s>", 257, true);
  add_token(tokenizer, "</s>", 258, true);
  tokenizer.add("post_processor",
                json::parse(R"({"type": "BertProcessing", "cls": ["<s>", 257],)"
                            R"( "sep": ["</s>", 258]})")
                  .value());
  const auto path = at.path() + "/tokenizer.json";
  std::ofstream{path} << tokenizer.dump();
  prompt_list prompts;
  const auto found = node::texts_of({.model = model(troupe::test::small_gpt2()),
                                     .prompts = file("hey\na"),
                                     .tokenizer = path},
                                    noting(prompts));
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(prompts, (prompt_list{{257, 256, 'y'}, {257, 'a'}}));
}

TEST_F(eval_of_a_text, says_what_it_is_at) {
  prompt_list prompts;
  std::vector<std::string> said;
  const auto now = [&](const std::string& what) { said.push_back(what); };
  const auto folder = model(troupe::test::small_gpt2());
  EXPECT_TRUE(node::worth_of({.model = folder,
                              .text = file("12345678901"),
                              .tokenizer = "bytes",
                              .context = 4},
                             noting(prompts), now));
  EXPECT_EQ(said, (std::vector<std::string>{"foretelling window 1 of 3",
                                            "foretelling window 2 of 3",
                                            "foretelling window 3 of 3"}));
  said.clear();
  EXPECT_TRUE(node::texts_of(
    {.model = folder, .prompts = file("a\nb\n"), .tokenizer = "bytes"},
    noting(prompts), now));
  EXPECT_EQ(said, (std::vector<std::string>{"writing after prompt 1 of 2",
                                            "writing after prompt 2 of 2"}));
}

TEST_F(eval_of_a_text, looks_at_prompts_before_a_model) {
  const auto found = node::texts_of(
    {.model = at.path() + "/none", .prompts = file("\n")}, no_torch);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().context, HasSubstr("/text: has no prompt"));
}

} // namespace troupe::test
