// Published models against the reference, where they are: what is compared with
// is made by tests/interop/language/published.py.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "models/language/base.hpp"
#include "models/language/tokenizer.hpp"
#include "models/torch/frozen_parts.hpp"
#include "models/torch/language/network.hpp"
#include "models/torch/language/objective.hpp"
#include "node/commands/eval_text.hpp"
#include "tests/support/reference_values.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::models::published_test {

namespace {

using test::expect_near_reference;
using test::numbers_in;

/// Of one text, with what its template puts around it.
std::vector<std::int64_t> ids_of(const tokenizer& by, const std::string& text) {
  auto ids = by.before();
  const auto ok = by.encode(text, special_rule::as_text, ids);
  EXPECT_TRUE(ok) << ok.error().context;
  for (const auto x : by.after())
    ids.push_back(x);
  return {ids.begin(), ids.end()};
}

/// A model, its weights as f32, and its tokenizer.
class published_models : public ::testing::Test {
protected:
  void SetUp() override {
    const auto* folder = std::getenv("TROUPE_LANGUAGE");
    if (folder == nullptr)
      GTEST_SKIP() << "TROUPE_LANGUAGE says where texts and models are";
    folder_ = folder;
    all_ = test::reference_values("published.json");
  }

  std::string path_of(const json& x) const {
    return (folder_ / *x.find("path")->text()).string();
  }

  void open(const json& x) {
    auto base = open_base(path_of(x), base_storage::f32);
    ASSERT_TRUE(base) << base.error().context;
    base_ = *base;
    auto by = load_tokenizer(path_of(x));
    ASSERT_TRUE(by) << by.error().context;
    by_ = *by;
  }

  /// Of one row: [tokens x values].
  at::Tensor said_of(const std::vector<std::int64_t>& ids) const {
    const auto network = make_language_network(base_->spec());
    frozen_parts of{base_};
    const token_batch row{.ids = at::tensor(ids, at::kLong).unsqueeze(0)};
    return test::said_of(*network, of, row)[0];
  }

  std::filesystem::path folder_;
  json all_;
  std::shared_ptr<const language_base> base_;
  std::shared_ptr<const tokenizer> by_;
};

std::vector<double> doubles_in(const at::Tensor& x) {
  const auto flat = x.to(at::kDouble).contiguous();
  const auto* first = flat.data_ptr<double>();
  return {first, first + flat.numel()};
}

} // namespace

TEST_F(published_models, say_what_the_reference_says_of_the_same_weights) {
  const auto& x = *all_.find("causal");
  ASSERT_NO_FATAL_FAILURE(open(x));
  const auto ids = test::ids_in(*x.find("ids"));
  EXPECT_EQ(ids_of(*by_, *x.find("text")->text()), ids);
  const auto said = said_of(ids);
  const auto apart = static_cast<std::int64_t>(*x.find("apart")->count());
  const auto& expected = *x.find("logits")->items();
  ASSERT_EQ(expected.size(), 3u);
  for (const auto& place : expected) {
    const auto at = static_cast<std::int64_t>(*place.find("place")->count());
    SCOPED_TRACE("token " + std::to_string(at));
    expect_near_reference(doubles_in(said[at].slice(0, 0, said.size(1), apart)),
                          numbers_in(*place.find("values")), 1e-3);
  }
}

TEST_F(published_models, find_a_page_as_likely_as_the_reference_does) {
  const auto& x = *all_.find("causal");
  const auto& page = *x.find("page");
  const troupe::test::scratch_folder at;
  const auto file = at.path() + "/page";
  std::ofstream{file, std::ios::binary} << *page.find("text")->text();
  const auto found = node::worth_of(
    {.model = path_of(x),
     .text = file,
     .context = static_cast<std::size_t>(*page.find("context")->count())},
    make_language_objective);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->tokens, *page.find("tokens")->count());
  const auto expected = *page.find("perplexity")->number();
  EXPECT_NEAR(std::exp(found->scores.mean_loss()), expected, 1e-3 * expected);
}

TEST_F(published_models, embed_texts_as_the_reference_does) {
  const auto& x = *all_.find("encoder");
  ASSERT_NO_FATAL_FAILURE(open(x));
  EXPECT_FALSE(base_->spec().has_head);
  const auto& rows = *x.find("rows")->items();
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) {
    const auto& text = *row.find("text")->text();
    SCOPED_TRACE(text);
    const auto ids = test::ids_in(*row.find("ids"));
    EXPECT_EQ(ids_of(*by_, text), ids);
    const auto ours = mean_of_tokens(said_of(ids).unsqueeze(0), {});
    expect_near_reference(doubles_in(ours[0]),
                          numbers_in(*row.find("embedding")), 1e-4);
  }
}

} // namespace troupe::models::published_test
