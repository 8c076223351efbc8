// What `troupe eval RUN` says where nobody said what to look at.

#include "node/commands/eval_looks.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "node/config/config.hpp"
#include "node/task/recipe_of.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::eval_looks_test {

namespace {

const std::string examples = TROUPE_SOURCE_DIR "/deploy/examples/";

struct row {
  std::string file;
  std::vector<std::string> changes, looks;
};

const std::vector<row> rows{
  {"quickstart.toml", {}, {}},
  {"ddome/domains.toml", {}, {"--matrix"}},
  {"comigs/languages.toml", {}, {"--routing"}},
  {"comigs/languages.toml", {"method=pcl"}, {}},
  {"pf2lora/sections.toml", {}, {}},
  {"pf2lora/fields.toml", {}, {}},
  {"pf2lora/describe.toml", {}, {"--writing"}},
};

} // namespace

TEST(eval_looks, are_those_that_a_run_has) {
  for (const auto& x : rows) {
    const auto config = load_config(examples + x.file, x.changes);
    ASSERT_TRUE(config) << config.error().context;
    const auto method = recipe_of(config->x);
    ASSERT_TRUE(method) << method.error().context;
    EXPECT_EQ(looks_at(config->x, *method), x.looks) << x.file;
  }
}

TEST(eval_looks, are_named_where_nobody_asked) {
  const test::scratch_folder at;
  const auto& folder = at.path();
  const auto none = nothing_asked_of(folder);
  EXPECT_EQ(none.what, "--matrix, --routing or --writing is required");
  EXPECT_TRUE(none.why.starts_with(folder + " holds no run")) << none.why;
  const auto hint = "what its models are worth is in " + folder
                    + "/summary.json, and troupe report " + folder
                    + " shows it";
  const auto put = [&](const std::string& text) {
    std::ofstream{folder + "/config.toml"} << text;
  };
  put("rounds = 1\n[data]\nkind = 'quadratic'\n[model]\nkind = 'quadratic'\n");
  const auto early = nothing_asked_of(folder);
  EXPECT_EQ(early.what, "nothing in this run is for eval yet");
  EXPECT_TRUE(early.why.starts_with(folder + " holds no result")) << early.why;
  EXPECT_TRUE(early.hint.starts_with("troupe run --resume " + folder))
    << early.hint;
  for (const auto* name : {"/model.safetensors", "/summary.json"})
    std::ofstream{folder + name} << "{}";
  const auto nothing = nothing_asked_of(folder);
  EXPECT_EQ(nothing.what, "nothing in this run is for eval");
  EXPECT_EQ(nothing.hint, hint);
  put("rounds = 1\nmethod = 'ddome'\n[data]\nkind = 'modes'\n");
  const auto matrix = nothing_asked_of(folder);
  EXPECT_EQ(matrix.what, "--matrix is required");
  EXPECT_EQ(matrix.hint, hint);
  EXPECT_EQ(nothing_asked_of(folder + "/").hint,
            "what its models are worth is in " + folder
              + "/summary.json, and troupe report " + folder + "/ shows it");
}

// Their stores are where clients are.
TEST(eval_looks, are_none_at_clients_whose_data_is_elsewhere) {
  const test::scratch_folder at;
  const auto& folder = at.path();
  for (const auto* name : {"/model.safetensors", "/summary.json"})
    std::ofstream{folder + name} << "{}";
  std::ofstream{folder + "/config.toml"}
    << "rounds = 1\nmethod = 'comigs'\n[data]\nkind = 'language'\n"
       "brought = true\ntokenizer = 'bytes'\n[model]\nkind = 'language'\n";
  const auto none = nothing_asked_of(folder);
  EXPECT_EQ(none.what, "nothing in this run is for eval here");
  EXPECT_TRUE(none.hint.starts_with("there troupe eval STORE --routing "))
    << none.hint;
}

} // namespace troupe::node::eval_looks_test
