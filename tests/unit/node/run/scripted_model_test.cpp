// A scripted model is the run's by the digest of its file, whatever its blocks.

#include <fstream>

#include <gmock/gmock.h>

#include "node/join/task.hpp"
#include "node/run/process_book.hpp"
#include "node/task/model_file.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

using ::testing::HasSubstr;
using end = join_summary::end;

class scripted_model : public ::testing::Test {
protected:
  static constexpr auto scripted = model_options::shape::torchscript;

  static experiment with_model(model_options::shape kind,
                               const std::string& path) {
    experiment x;
    x.model.kind = kind;
    x.model.path = path;
    return x;
  }

  std::string file(const std::string& name, const std::string& content) const {
    const auto path = scratch.path() + '/' + name;
    std::ofstream{path} << content;
    return path;
  }

  static messages::terms_given terms_of(const std::string& path) {
    messages::terms_given out;
    out.config = {"rounds = 1",
                  "[data]",
                  "kind = \"synthetic\"",
                  "[model]",
                  "kind = \"torchscript\"",
                  "path = \"elsewhere\""};
    const auto found = digest_of_model(with_model(scripted, path));
    EXPECT_TRUE(found) << (found ? "" : found.error().context);
    out.model = found.value_or(models::digest{});
    return out;
  }

  /// How a process ends that has its model there; nothing: it goes on.
  static std::optional<join_summary> reads(const messages::terms_given& terms,
                                           const std::string& path) {
    join_context in;
    in.model = path;
    experiment x;
    auto wrong = read_terms(in, terms, x);
    if (!wrong) {
      EXPECT_EQ(x.model.path, path);
    }
    return wrong;
  }

  const test::scratch_folder scratch;
};

TEST_F(scripted_model, is_the_runs_wherever_its_file_is) {
  const auto terms = terms_of(file("served", "a module"));
  EXPECT_FALSE(reads(terms, file("copy", "a module")));
}

TEST_F(scripted_model, of_another_content_does_not_fit) {
  const auto other = file("other", "a modulo");
  const auto wrong = reads(terms_of(file("served", "a module")), other);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, end::misfit);
  EXPECT_THAT(wrong->why,
              HasSubstr(other + " is not the model that the run has"));
  EXPECT_THAT(wrong->hint, HasSubstr("--model PATH"));
}

TEST_F(scripted_model, that_is_not_there_does_not_fit) {
  const auto wrong = reads(terms_of(file("served", "a module")), "/nowhere.pt");
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->how, end::misfit);
  EXPECT_THAT(wrong->why, HasSubstr("/nowhere.pt: cannot be read"));
}

TEST_F(scripted_model, of_a_server_that_says_no_digest_is_held_to_its_blocks) {
  auto terms = terms_of(file("served", "a module"));
  terms.model = {};
  EXPECT_FALSE(reads(terms, file("other", "a modulo")));
}

TEST_F(scripted_model, is_the_only_kind_that_has_a_file) {
  const auto found =
    digest_of_model(with_model(model_options::shape::mlp, "/nowhere.pt"));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, models::digest{});
}

TEST_F(scripted_model, is_remembered_with_a_served_run) {
  const auto path = scratch.path() + "/processes.json";
  const actors::leases::room room{
    .clients = 1, .named_above = 1, .named_max = 0};
  process_book book{.run = {1}, .places = actors::leases{room}};
  book.model = {2, 3};
  ASSERT_TRUE(book.keep(path));
  EXPECT_EQ(process_book::read(path, room)->model, book.model);
}

} // namespace
} // namespace troupe::node
