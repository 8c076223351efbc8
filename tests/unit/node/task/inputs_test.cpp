// What a run is made of is what it was when somebody comes back to it.

#include "node/task/inputs.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/language/base.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::test::inputs_test {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A run over a language model of a file, whose data is said to be what `texts`
/// is.
struct run_of_files : ::testing::Test {
  run_of_files() {
    x.data.kind = node::data_options::format::language;
    x.data.path = "/texts";
    x.data.tokenizer = "bytes";
    x.model.kind = node::model_options::shape::language;
    x.model.path = at.path() + "/base";
    write_base(1);
    work.blocks = std::make_shared<const models::layout>();
    work.task = std::make_shared<const models::local_task>();
    work.data_digest = [this] {
      return models::digest_of(std::as_bytes(std::span{texts}));
    };
    fs::create_directory(at.path() + "/logs");
  }

  void write_base(std::uint64_t seed) {
    auto spec = small_gpt2();
    spec.vocabulary = 257;
    const auto done = models::write_base(x.model.path, spec,
                                         models::initial_weights(spec, seed));
    EXPECT_TRUE(done) << done.error().context;
  }

  std::string said() const {
    std::ifstream in{at.path() + "/" + node::inputs_file};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  /// Of whoever goes on, and of whoever only looks.
  std::string refusal() const {
    const auto before = said();
    const auto held = node::hold_inputs(at.path(), x, work);
    const auto seen = node::check_inputs(at.path(), x, work);
    EXPECT_EQ(said(), before);
    EXPECT_EQ(bool{held}, bool{seen});
    if (held || seen)
      return "taken";
    EXPECT_EQ(held.error().code, errc::invalid_data);
    EXPECT_EQ(held.error().context, seen.error().context);
    return held.error().context;
  }

  scratch_folder at;
  node::experiment x;
  node::workload work;
  std::string texts = "as they were";
};

} // namespace

TEST_F(run_of_files, goes_on_over_what_it_began_with) {
  const auto looked = node::check_inputs(at.path(), x, work);
  EXPECT_TRUE(looked) << looked.error().context;
  EXPECT_EQ(said(), "") << "who looks writes nothing";
  const auto begun = node::hold_inputs(at.path(), x, work);
  ASSERT_TRUE(begun) << begun.error().context;
  EXPECT_THAT(said(), ::testing::MatchesRegex("tokenizer [0-9a-f]+\n"
                                              "base [0-9a-f]+\n"
                                              "data [0-9a-f]+\n"));
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(run_of_files, does_not_go_on_over_another_base_or_other_texts) {
  ASSERT_TRUE(node::hold_inputs(at.path(), x, work));
  write_base(2);
  EXPECT_THAT(refusal(), HasSubstr(x.model.path
                                   + " is not the 'base' that the run began "
                                     "with: its digest is "));
  EXPECT_THAT(refusal(),
              HasSubstr("; a copy of it, or of config.toml, which says what of "
                        "it is taken, as it was would do"));
  EXPECT_FALSE(node::check_models(at.path(), x));
  write_base(1);
  texts = "other ones";
  EXPECT_THAT(refusal(),
              HasSubstr("/texts is not the 'data' that the run began with"));
  EXPECT_TRUE(node::check_models(at.path(), x)) << "it has the same models";
}

// What a base computes is in its description as well.
TEST_F(run_of_files, does_not_go_on_with_another_description_or_tokenizer) {
  ASSERT_TRUE(node::hold_inputs(at.path(), x, work));
  const auto path = x.model.path + "/config.json";
  std::ifstream in{path};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto place = text.find("1e-05");
  ASSERT_NE(place, std::string::npos) << text;
  std::ofstream{path} << text.replace(place, 5, "1e-04");
  EXPECT_THAT(refusal(), HasSubstr(" is not the 'base' that"));
  write_base(1);
  x.data.tokenizer = at.path() + "/vocab.txt";
  std::ofstream words{x.data.tokenizer};
  for (int i = 0; i < 257; ++i)
    words << (i == 0 ? "[UNK]" : "w" + std::to_string(i)) << '\n';
  words.close();
  texts = "cut in another way";
  EXPECT_THAT(refusal(), HasSubstr("/vocab.txt is not the 'tokenizer' that"));
}

TEST_F(run_of_files, does_not_begin_again_with_other_first_values) {
  x.init = at.path() + "/first.safetensors";
  std::ofstream{x.init} << "some";
  ASSERT_TRUE(node::hold_inputs(at.path(), x, work));
  EXPECT_EQ(refusal(), "taken");
  std::ofstream{x.init} << "others";
  EXPECT_THAT(refusal(), HasSubstr("first.safetensors is not the 'init' that"));
  EXPECT_THAT(refusal(), HasSubstr("; a copy of it as it was would do"));
}

TEST_F(run_of_files, is_refused_where_its_folder_says_nothing_sound) {
  ASSERT_TRUE(node::hold_inputs(at.path(), x, work));
  EXPECT_TRUE(node::check_inputs_file(at.path()));
  std::ofstream{at.path() + "/" + node::inputs_file} << "base 12\n";
  EXPECT_THAT(refusal(), HasSubstr("logs/inputs is damaged: it says 'base 12', "
                                   "and a line of it has a name and 64 hex"));
  EXPECT_FALSE(node::check_inputs_file(at.path()));
  std::ofstream{at.path() + "/" + node::inputs_file} << std::string(64, 'a');
  EXPECT_THAT(refusal(), HasSubstr("logs/inputs is damaged: it says 'aaa"))
    << "nothing says what that is";
  std::ofstream{at.path() + "/" + node::inputs_file} << "";
  EXPECT_THAT(refusal(), HasSubstr("logs/inputs is damaged: it says nothing"));
}

} // namespace troupe::test::inputs_test
