// Networks against the reference: tests/interop/language/logits.py has it say
// what it makes of weights that stand in a rule, and both have the rule.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/language/row_maker.hpp"
#include "models/torch/language/objective.hpp"
#include "models/torch/language/passes.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/reference_values.hpp"

namespace troupe::models::vectors_test {

namespace {

using test::expect_near_reference;
using test::numbers_in;

using id_rows = std::vector<std::vector<std::int64_t>>;

/// Of a float's last digits nothing is asked; the two GELUs are 4e-4 apart.
constexpr double share = 2e-5;

/// Rows of ids, as far as they go: what lacks is padding.
token_batch batch_of(const id_rows& rows) {
  std::size_t tokens = 0;
  for (const auto& row : rows)
    tokens = std::max(tokens, row.size());
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto width = static_cast<std::int64_t>(tokens);
  token_batch x{.ids = at::zeros({count, width}, at::kLong),
                .there = at::zeros({count, width}, at::kBool)};
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      x.ids.data_ptr<std::int64_t>()[i * tokens + j] = rows[i][j];
      x.there.data_ptr<bool>()[i * tokens + j] = true;
    }
  return x;
}

std::vector<double> first_of(const at::Tensor& x, std::size_t count) {
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(x[static_cast<std::int64_t>(i)].item<double>());
  return all;
}

/// What the file has: of each row the last token, and of that the first values.
void check_values(const json& x, const at::Tensor& said, const id_rows& rows) {
  const auto expected = numbers_in(*x.find("values"));
  ASSERT_EQ(expected.size(), 64u);
  std::vector<double> ours;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto last = static_cast<std::int64_t>(rows[i].size()) - 1;
    const auto values = first_of(said[static_cast<std::int64_t>(i)][last],
                                 expected.size() / rows.size());
    ours.insert(ours.end(), values.begin(), values.end());
  }
  expect_near_reference(ours, expected, share);
}

/// MiniLM's kind of embedding.
void check_embeddings(const json& x, const at::Tensor& hidden,
                      const at::Tensor& there) {
  const auto& expected = *x.find("embeddings")->items();
  const auto ours = mean_of_tokens(hidden, there);
  ASSERT_EQ(static_cast<std::size_t>(ours.size(0)), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto theirs = numbers_in(expected[i]);
    expect_near_reference(
      first_of(ours[static_cast<std::int64_t>(i)], theirs.size()), theirs,
      share);
  }
}

/// Each token foretells the next, by what trains and scores.
void check_loss(const json& x, const language_spec& spec, const id_rows& rows) {
  std::vector<test::listed_rows::row> listed;
  std::vector<std::uint32_t> all;
  std::size_t context = 0, targets = 0;
  for (const auto& row : rows) {
    all.push_back(static_cast<std::uint32_t>(listed.size()));
    auto& to = listed.emplace_back();
    to.ids.assign(row.begin(), row.end());
    to.targets.assign(row.begin() + 1, row.end());
    context = std::max(context, row.size());
    targets += row.size() - 1;
  }
  auto model =
    make_language_objective({}, test::base_by_rule(spec),
                            std::make_shared<const test::listed_rows>(
                              context, spec.vocabulary, std::move(listed)));
  ASSERT_TRUE(model) << model.error().context;
  const auto found = (*model)->evaluate(split::test, all);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->count, targets);
  const auto expected = *x.find("loss")->number();
  EXPECT_NEAR(found->mean_loss(), expected, share * expected);
}

id_rows rows_in(const json& x, std::string_view key) {
  id_rows rows;
  for (const auto& row : test::list_in(x, key))
    rows.push_back(test::ids_in(row));
  return rows;
}

/// @param batch undefined: the rows of the case
void check(const json& x, token_batch batch = {}) {
  SCOPED_TRACE(*x.find("name")->text());
  const auto parsed = parse_spec(*x.find("config"), "here");
  ASSERT_TRUE(parsed) << parsed.error().context;
  auto spec = *parsed;
  spec.has_head = *x.find("head")->flag();
  const auto rows = rows_in(x, "ids");
  const auto network = make_language_network(spec);
  const auto of = parts_of(test::tensors_by_rule(spec, at::kFloat));
  if (!batch.ids.defined())
    batch = batch_of(rows);
  const auto said = test::said_of(*network, *of, batch);
  check_values(x, said, rows);
  if (!spec.has_head)
    check_embeddings(x, said, batch.there);
  if (spec.is_causal())
    check_loss(x, spec, rows);
}

/// Tokens that are there, of each row.
id_rows rows_in(const at::Tensor& x, const at::Tensor& there) {
  id_rows rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    auto& row = rows.emplace_back();
    for (std::int64_t j = 0; j < x.size(1); ++j)
      if (there[i][j].item<bool>())
        row.push_back(x[i][j].item<std::int64_t>());
  }
  return rows;
}

/// Two texts in each row, as clients read them.
token_batch batch_of_pairs(const json& all) {
  constexpr std::size_t context = 18; // What the longest takes.
  const auto by = parse_tokenizer(*all.find("tokenizer"), "some.json");
  EXPECT_TRUE(by) << by.error().context;
  std::vector<test::listed_rows::row> rows;
  for (const auto& texts : test::list_in(all, "texts")) {
    const auto& two = *texts.items();
    const auto made =
      row_maker{text_task::classify, context, 0, **by}
        .make({.text = *two[0].text(), .second = *two[1].text()}, true)
        .value()
        .value();
    rows.push_back({.ids = {made.ids.begin(), made.ids.end()},
                    .targets = {0},
                    .second_from = made.second_from});
  }
  std::vector<std::uint32_t> numbers(rows.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  return read_pass(test::listed_rows{context, 40, std::move(rows)}, split::test,
                   numbers)
    .x;
}

} // namespace

TEST(networks_of_language, say_what_the_reference_says) {
  const auto all = test::reference_values("logits.json");
  const auto& cases = test::list_in(all, "cases");
  EXPECT_EQ(cases.size(), 33u);
  for (const auto& x : cases)
    check(x);
}

TEST(networks_of_language, say_what_the_reference_says_of_two_texts) {
  const auto all = test::reference_values("pair_logits.json");
  const auto batch = batch_of_pairs(all);
  ASSERT_TRUE(batch.types.defined());
  EXPECT_EQ(rows_in(batch.types, batch.there), rows_in(all, "types"));
  const auto& cases = test::list_in(all, "cases");
  EXPECT_EQ(cases.size(), 3u);
  for (const auto& x : cases) {
    EXPECT_EQ(rows_in(batch.ids, batch.there), rows_in(x, "ids"));
    check(x, batch);
  }
}

} // namespace troupe::models::vectors_test
