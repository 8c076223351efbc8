// Of a server's terms a process keeps no path, whether or not it would be read.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "node/join/task.hpp"

namespace troupe::node {
namespace {

constexpr const char* theirs = "/etc/passwd";

messages::terms_given naming_files() {
  const auto path = std::string{"path = \""} + theirs + '"';
  messages::terms_given out;
  out.config = {"rounds = 1",
                std::string{"init = \""} + theirs + '"',
                "[data]",
                "kind = \"synthetic\"",
                path,
                "[model]",
                "kind = \"mlp\"",
                path};
  return out;
}

/// Of a method that looks through a common model.
messages::terms_given with_common(const std::string& kind) {
  messages::terms_given out;
  out.config = {"rounds = 1",
                "method = \"ddome\"",
                std::string{"common = \""} + theirs + '"',
                "[data]",
                "kind = \"synthetic\"",
                "[model]",
                "kind = \"mlp\"",
                "[common_model]",
                "kind = \"" + kind + '"'};
  if (kind == "torchscript")
    out.config.push_back(std::string{"path = \""} + theirs + '"');
  return out;
}

TEST(read_terms, leaves_no_path_of_a_server) {
  experiment x;
  const auto wrong = read_terms({}, naming_files(), x);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_EQ(x.data.path, "");
  EXPECT_EQ(x.model.path, "") << "nothing of " << theirs;
  EXPECT_EQ(x.init, "");
}

TEST(read_terms, takes_the_paths_of_its_own_command_line) {
  join_context in;
  in.data = "here";
  in.model = "weights";
  auto terms = naming_files();
  terms.frozen = {{"model", {}}};
  experiment x;
  const auto wrong = read_terms(in, terms, x);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_EQ(x.data.path, "here");
  EXPECT_EQ(x.model.path, "");
  EXPECT_EQ(x.init, "weights");
}

TEST(read_terms, have_no_place_for_weights_where_nothing_is_frozen) {
  join_context in;
  in.model = "weights";
  experiment x;
  const auto wrong = read_terms(in, naming_files(), x);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, join_summary::end::misfit);
  EXPECT_EQ(wrong->why,
            "nothing in this run is frozen, and its values come from the "
            "server");
  EXPECT_EQ(wrong->hint, "without --model it would do");
}

TEST(read_terms, leave_no_path_of_a_common_model) {
  experiment x;
  const auto wrong = read_terms({}, with_common("softmax"), x);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_EQ(x.common, "");
  ASSERT_TRUE(x.common_model);
  EXPECT_EQ(x.common_model->path, "");
}

TEST(read_terms, leave_no_file_of_texts) {
  const auto key = [](const std::string& name) {
    return name + " = \"" + theirs + '"';
  };
  messages::terms_given terms;
  terms.config = {
    "rounds = 1", "method = \"homlora\"", "[data]",     "kind = \"language\"",
    key("path"),  key("tokenizer"),       key("cache"), "context = 8",
    "[model]",    "kind = \"language\"",  key("path")};
  experiment x;
  const auto wrong = read_terms({}, terms, x);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->why, "this run adapts a language model of a file");
  EXPECT_EQ(x.data.path, "");
  EXPECT_EQ(x.data.tokenizer, "");
  EXPECT_EQ(x.data.cache, "");
  EXPECT_EQ(x.model.path, "");
}

TEST(read_terms, take_a_common_model_of_their_own_command_line) {
  join_context in;
  in.common = "weights";
  experiment x;
  auto wrong = read_terms(in, with_common("softmax"), x);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_EQ(x.common, "weights");
  // A module is code: it has weights of its own until the run's are there.
  wrong = read_terms(in, with_common("torchscript"), x);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_EQ(x.common, "");
  EXPECT_EQ(x.common_model->path, "weights");
}

TEST(read_terms, have_no_place_for_a_common_model_that_no_method_has) {
  join_context in;
  in.common = "weights";
  messages::terms_given terms;
  terms.config = {"rounds = 1", "method = \"fedavg\""};
  experiment x;
  const auto wrong = read_terms(in, terms, x);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, join_summary::end::misfit);
  EXPECT_EQ(wrong->why, "this run's method, fedavg, has no common model");
  EXPECT_EQ(wrong->hint, "without --common it would do");
  EXPECT_EQ(x.common, "");
}

/// What a process with a tokenizer hears of a run with these lines.
std::optional<join_summary> told_a_tokenizer(std::vector<std::string> lines) {
  join_context in;
  in.tokenizer = "words";
  messages::terms_given terms;
  terms.config = std::move(lines);
  experiment x;
  return read_terms(in, terms, x);
}

TEST(read_terms, have_no_place_for_a_tokenizer_where_nothing_is_text) {
  const auto wrong = told_a_tokenizer({"rounds = 1", "method = \"fedavg\""});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, join_summary::end::misfit);
  EXPECT_EQ(wrong->why, "this run learns from no text, and has no tokenizer");
  EXPECT_EQ(wrong->hint, "without --tokenizer it would do");
}

TEST(read_terms, have_no_place_for_a_tokenizer_where_tokens_are_bytes) {
  const auto wrong = told_a_tokenizer(
    {"rounds = 1", "method = \"homlora\"", "[data]", "kind = \"language\"",
     "path = \"elsewhere\"", "tokenizer = \"bytes\"", "context = 8", "[model]",
     "kind = \"language\"", "layers = 1", "embedding = 8", "heads = 2"});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, join_summary::end::misfit);
  EXPECT_EQ(wrong->why, "this run's tokens are bytes, and no file says them");
  EXPECT_EQ(wrong->hint, "without --tokenizer it would do");
}

TEST(read_terms, need_the_module_of_a_common_model) {
  experiment x;
  const auto wrong = read_terms({}, with_common("torchscript"), x);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, join_summary::end::misfit);
  EXPECT_EQ(wrong->why, "this run has a scripted common model");
  EXPECT_EQ(wrong->hint, "--common PATH says where this machine has it");
}

} // namespace
} // namespace troupe::node
