// What `troupe export` says that it can write of a run.

#include "node/commands/export_blocks.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/safetensors.hpp"
#include "node/commands/export.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::export_blocks_test {

namespace {

const std::string examples = TROUPE_SOURCE_DIR "/deploy/examples/";

struct row {
  std::string file;                 ///< What the run is of.
  std::vector<std::string> tensors; ///< What it ended with.
  std::string hint;
  std::string asked, why; ///< Of a block that is not there.
  std::string model;      ///< What `eval --model RUN` says behind its name.
};

const std::vector<row> rows{
  {"comigs/languages.toml",
   {"attention/a", "generalist/a"},
   "--block NAME would do, of attention, generalist",
   "specialist",
   "--block: 'specialist' belongs to each client and never leaves it, so it is "
   "not among what the run learned, which is attention, generalist",
   "what it learned in common, attention, generalist, makes none by itself; "
   "summary.json says what its models are worth"},
  {"comigs/languages.toml",
   {"generalist/a"},
   "--block NAME would do, of generalist",
   "model",
   "--block: 'model' is what nobody trains, and not among what the run "
   "learned, which is generalist",
   "what it learned in common, generalist, makes none by itself; "
   "summary.json says what its models are worth"},
  {"comigs/languages.toml",
   {"generalist/a"},
   "--block NAME would do, of generalist",
   "specialist.0",
   "--block: 'specialist.0' belongs to each client and never leaves it, so it "
   "is not among what the run learned, which is generalist",
   "what it learned in common, generalist, makes none by itself; "
   "summary.json says what its models are worth"},
  {"comigs/languages.toml",
   {"generalist/a"},
   "--block NAME would do, of generalist",
   "router.0",
   "--block: there is no 'router.0' among what the run learned, which is "
   "generalist",
   "what it learned in common, generalist, makes none by itself; "
   "summary.json says what its models are worth"},
  {"pf2lora/sections.toml",
   {"adapter/a", "adapter/b", "head/a"},
   "--block NAME would do, of adapter, head",
   "zebra",
   "--block: there is no 'zebra' among what the run learned, which is adapter, "
   "head",
   "what it learned in common, adapter, head, makes none by itself; "
   "summary.json says what its models are worth"},
  {"pf2lora/describe.toml",
   {"adapter/a"},
   "--merged would do, or --block NAME, of adapter",
   "own_adapter",
   "--block: 'own_adapter' belongs to each client and never leaves it, so it "
   "is not among what the run learned, which is adapter",
   "troupe export AT --merged --to FOLDER makes one of it"},
  {"quickstart.toml",
   {"a", "b"},
   "--block NAME would do, of model",
   "model.0",
   "--block: there is no 'model.0' among what the run learned, which is model",
   "it learned none"},
  {"floral/synthetic_linear.toml",
   {"a", "adapter.0/a", "adapter.1/a"},
   "--merged would do, or --block NAME, of model, adapter.0, adapter.1",
   "mixture",
   "--block: 'mixture' belongs to each client and never leaves it, so it is "
   "not among what the run learned, which is model, adapter.0, adapter.1",
   "it learned none"},
};

void end_run(const row& x, const std::string& folder) {
  std::ofstream{folder + "/config.toml"}
    << std::ifstream{examples + x.file}.rdbuf();
  models::tensor_file file;
  for (const auto& name : x.tensors) {
    file.tensors.push_back({name, {1}});
    file.values.push_back(0);
  }
  const auto ok =
    models::write_safetensors(folder + "/model.safetensors", file);
  EXPECT_TRUE(ok) << ok.error().context;
}

} // namespace

TEST(export_blocks, are_named_where_nobody_said_what_to_write) {
  for (const auto& x : rows) {
    const test::scratch_folder at;
    end_run(x, at.path());
    EXPECT_EQ(nothing_to_write(at.path()).hint, x.hint) << x.file;
    EXPECT_EQ(no_block(at.path(), x.asked), x.why) << x.file;
  }
}

TEST(export_blocks, make_a_model_or_none) {
  for (auto x : rows) {
    const test::scratch_folder at;
    end_run(x, at.path());
    if (const auto place = x.model.find("AT"); place != std::string::npos)
      x.model.replace(place, 2, at.path());
    const auto said =
      at.path() + " is a run, and no language model: " + x.model;
    for (const auto* file : {"", "/model.safetensors"})
      EXPECT_EQ(run_for_a_model(at.path() + file), said) << x.file;
    std::ofstream{at.path() + "/config.json"} << "{}";
    EXPECT_EQ(run_for_a_model(at.path()), "");
  }
  const test::scratch_folder several;
  end_run({"comigs/pretrain.toml", {"model.0/a", "model.1/a"}, "", "", "", ""},
          several.path());
  EXPECT_EQ(run_for_a_model(several.path()),
            several.path() + " is a run, and no language model: troupe export "
              + several.path()
              + " --block model.0 --to FOLDER makes one of it");
  const test::scratch_folder at;
  end_run({"comigs/pretrain.toml", {"a"}, "", "", "", ""}, at.path());
  EXPECT_EQ(run_for_a_model(at.path()),
            at.path() + " is a run, and no language model: troupe export "
              + at.path() + " --block model --to FOLDER makes one of it");
  std::filesystem::remove(at.path() + "/model.safetensors");
  EXPECT_EQ(run_for_a_model(at.path()),
            at.path() + " is a run, and no language model: it has not ended");
}

TEST(export_blocks, are_of_a_run_that_has_ended) {
  const test::scratch_folder at;
  end_run(rows.front(), at.path());
  std::ofstream{at.path() + "/common.safetensors"} << '\n';
  EXPECT_EQ(blocks_in(at.path()),
            (std::vector<std::string>{"attention", "generalist", "common"}));
  EXPECT_TRUE(blocks_in(at.path() + "/none").empty());
}

TEST(export_command, says_that_there_is_no_run) {
  const test::scratch_folder at;
  for (const auto* way : {"--merged", "--block=model", ""}) {
    std::vector<std::string> args{at.path() + "/none", "--to", "x"};
    if (*way != '\0')
      args.emplace_back(way);
    std::ostringstream out, err;
    EXPECT_EQ(export_command(args, {out, err}), exit_code::data);
    EXPECT_NE(err.str().find("none: there is no such folder"),
              std::string::npos)
      << err.str();
  }
}

} // namespace troupe::node::export_blocks_test
