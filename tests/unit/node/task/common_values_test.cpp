// The values of a model that nobody trains: of a seed, of a file, of a run.

#include "node/task/common_values.hpp"

#include <filesystem>
#include <limits>
#include <utility>

#include <gmock/gmock.h>

#include "models/tasks/regression.hpp"
#include "tests/support/moving_statistics.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test {

namespace {

namespace fs = std::filesystem;
using models::tensor_file;

std::unique_ptr<models::regression>
model_of(const std::vector<std::size_t>& hidden) {
  return std::make_unique<models::regression>(models::make_cluster_problem({}),
                                              hidden);
}

class common_values : public ::testing::Test {
protected:
  /// As a run leaves what it trained, with names of its own or `within`.
  std::string file(const std::string& name, models::objective& model,
                   std::uint64_t seed, const std::string& within = {}) const {
    tensor_file x{model.parameter_list(), model.initial_parameters(seed), {}};
    for (auto& tensor : x.tensors)
      tensor.name = within + tensor.name;
    return written(name, x);
  }

  std::string written(const std::string& name, const tensor_file& x) const {
    const auto path = fs::path{scratch_.path()} / name;
    fs::create_directories(path.parent_path());
    const auto done = models::write_safetensors(path, x);
    EXPECT_TRUE(done) << done.error().context;
    return path.string();
  }

  static result<std::map<std::string, shared_values>>
  values(const std::string& common, models::objective& model) {
    node::experiment x;
    x.common = common;
    return node::common_values(x, model);
  }

  std::string refusal(const std::string& common, models::objective& model,
                      errc code) const {
    const auto found = values(common, model);
    if (found)
      return "taken";
    EXPECT_EQ(found.error().code, code);
    return found.error().context;
  }

  scratch_folder scratch_;
};

} // namespace

TEST_F(common_values, are_of_the_seed_where_no_file_is_said) {
  const auto model = model_of({4});
  const auto of = [&](std::uint64_t seed) {
    node::experiment x;
    x.seed = seed;
    return node::common_values(x, *model)->at("common").copy();
  };
  EXPECT_EQ(of(1), of(1));
  EXPECT_NE(of(1), of(2));
}

TEST_F(common_values, are_of_a_file_or_of_what_a_run_trained) {
  const auto model = model_of({4});
  const auto wanted = model->initial_parameters(7);
  for (const auto& common : {file("plain.safetensors", *model, 7),
                             file("named.safetensors", *model, 7, "common/")}) {
    const auto found = values(common, *model);
    ASSERT_TRUE(found) << found.error().context;
    EXPECT_EQ(found->size(), 1u) << "it has no buffers";
    EXPECT_EQ(found->at("common").copy(), wanted) << common;
  }
  (void)file("run/model.safetensors", *model, 7);
  const auto run = scratch_.path() + "/run";
  const auto trained = values(run, *model);
  ASSERT_TRUE(trained) << trained.error().context;
  EXPECT_EQ(trained->at("common").copy(), wanted);
  // Of a run that had one itself it is that one.
  (void)file("run/common.safetensors", *model, 8, "common/");
  EXPECT_EQ(values(run, *model)->at("common").copy(),
            model->initial_parameters(8));
}

TEST_F(common_values, have_the_buffers_of_the_model) {
  moving_statistics model{models::make_quadratic_problem({.dimension = 4})};
  const auto fresh = values({}, model);
  ASSERT_TRUE(fresh) << fresh.error().context;
  EXPECT_EQ(fresh->at("common.buffers").copy(), model.initial_buffers());
  tensor_file x{model.parameter_list(), {1, 2, 3, 4}, {}};
  x.tensors.push_back({"statistics", {2}});
  x.values.insert(x.values.end(), {5, 6});
  const auto found = values(written("both.safetensors", x), model);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_THAT(found->at("common").copy(), ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(found->at("common.buffers").copy(), ::testing::ElementsAre(5, 6));
}

TEST_F(common_values, of_another_shape_are_refused) {
  const auto model = model_of({4});
  const auto other = model_of({5});
  const auto path = file("other.safetensors", *other, 7);
  EXPECT_EQ(refusal(path, *model, errc::invalid_config),
            "common '" + path
              + "': tensor 'hidden1.weight' has shape 5 x 10, and the common "
                "model 4 x 10; 'common_model' says its shape");
  const auto deeper = model_of({5, 5});
  EXPECT_EQ(refusal(path, *deeper, errc::invalid_config),
            "common '" + path
              + "': there is no tensor 'hidden2.weight', which the common "
                "model has, of 5 x 5; 'common_model' says its shape");
}

TEST_F(common_values, that_cannot_be_read_are_refused) {
  const auto model = model_of({4});
  EXPECT_THAT(refusal(scratch_.path() + "/none", *model, errc::invalid_data),
              ::testing::HasSubstr("/none: cannot be read"));
}

TEST_F(common_values, that_are_not_finite_are_refused) {
  const auto model = model_of({4});
  constexpr auto infinite = std::numeric_limits<float>::infinity();
  constexpr auto no_number = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [bad, said] :
       {std::pair{infinite, "infinite"}, std::pair{no_number, "no number"}}) {
    tensor_file x{model->parameter_list(), model->initial_parameters(7), {}};
    x.values[x.tensors.front().size() + 1] = bad;
    const auto path = written("bad.safetensors", x);
    EXPECT_EQ(refusal(path, *model, errc::invalid_data),
              "common '" + path + "': tensor '" + x.tensors[1].name
                + "' is not finite: value 2 is " + said
                + "; a model that was trained to its end would do");
  }
}

TEST_F(common_values, are_as_a_run_kept_them) {
  const auto model = model_of({4});
  tensor_file x{model->parameter_list(), model->initial_parameters(7), {}};
  for (auto& tensor : x.tensors)
    tensor.name = "common/" + tensor.name;
  const auto was = models::to_hex(node::digest_of(x));
  x.metadata["digest"] = was;
  const auto path = written("common.safetensors", x);
  EXPECT_TRUE(values(path, *model));
  x.values.front() += 1;
  const auto now = models::to_hex(node::digest_of(x));
  (void)written("common.safetensors", x);
  EXPECT_EQ(refusal(path, *model, errc::invalid_data),
            path + " is damaged: the digest of its values is "
              + now.substr(0, 8) + ", and it says " + was.substr(0, 8)
              + "; a copy of it as it was would do");
}

} // namespace troupe::test
