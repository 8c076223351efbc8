#include "node/commands/prediction.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "models/safetensors.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::prediction_test {

namespace {

/// What is said of a run over texts, of which this was to be learned.
std::string refusal_of(models::text_task task) {
  const test::scratch_folder folder;
  const auto path = folder.path() + "/model.safetensors";
  EXPECT_TRUE(models::write_safetensors(path, {}));
  auto values = models::safetensors_file::open(path);
  EXPECT_TRUE(values);
  finished_run run{
    .folder = "runs/1", .x = {}, .work = {}, .values = std::move(*values)};
  run.x.data.kind = data_options::format::language;
  run.x.data.text_task = task;
  const auto ok = check_predicts(run);
  return ok ? "it answers" : ok.error().context;
}

} // namespace

TEST(prediction, of_texts_is_refused_with_what_would_do) {
  const std::string foretold = "the run learned from texts, and no table or "
                               "image is like them; troupe eval --model FOLDER "
                               "--text FILE would do";
  EXPECT_EQ(refusal_of(models::text_task::language), foretold);
  EXPECT_EQ(refusal_of(models::text_task::describe), foretold);
}

TEST(prediction, of_labelled_texts_is_not_there_yet) {
  for (const auto task : {models::text_task::classify, models::text_task::span})
    EXPECT_EQ(refusal_of(task),
              "the run learned what is known of texts, and nothing answers "
              "texts yet; its summary.json says how its models do on those "
              "that it has, and troupe report runs/1 shows it");
}

} // namespace troupe::node::prediction_test
