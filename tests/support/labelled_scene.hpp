#pragma once

// Labelled rows of small models, and what their parameters come to by hand.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "models/language/headed_base.hpp"
#include "models/torch/language/text_objective.hpp"
#include "tests/support/listed_rows.hpp"

namespace troupe::test {

/// Of 13 tokens and three classes: a whole row and two that are padded.
inline std::shared_ptr<const listed_rows> classified_rows() {
  using row = listed_rows::row;
  return std::make_shared<const listed_rows>(
    6, 13,
    std::vector<row>{row{.ids = {1, 4, 0, 2, 10, 11}, .targets = {2}},
                     row{.ids = {6, 9, 5, 7}, .targets = {0}},
                     row{.ids = {11, 1}, .targets = {2}}});
}

/// With its first values.
inline std::unique_ptr<models::objective>
labelled_model(std::string_view config, models::row_head head,
               std::shared_ptr<const models::token_rows> rows,
               models::language_config how = {.trained = true}) {
  auto made = models::make_text_objective(
    how, models::with_head(base_by_rule(tiny_spec(config)), head, 3),
    std::move(rows));
  EXPECT_TRUE(made) << made.error().context;
  if (!made)
    return nullptr;
  if (how.trained)
    std::ranges::copy((*made)->initial_parameters(3),
                      (*made)->parameters().begin());
  return std::move(*made);
}

/// The tensors of a model of which all is trained.
inline std::vector<at::Tensor> tensors_in(models::objective& of) {
  std::vector<at::Tensor> all;
  auto* from = of.parameters().data();
  for (const auto& x : of.parameter_list()) {
    all.push_back(at::from_blob(from, x.shape).clone());
    from += x.size();
  }
  return all;
}

/// The hidden states of one row that is not padded: [tokens x width].
inline at::Tensor states_by_hand(std::string_view config,
                                 const std::vector<at::Tensor>& tensors,
                                 const std::vector<std::int32_t>& ids) {
  const auto network = models::make_language_network(tiny_spec(config));
  const auto parts = models::parts_of(tensors);
  const std::vector<std::int64_t> wide(ids.begin(), ids.end());
  return network->hidden(*parts,
                         {.ids = at::tensor(wide, at::kLong).unsqueeze(0)})[0];
}

/// Of a whole batch, from zero.
inline std::vector<float> gradient_of(models::objective& x,
                                      const std::vector<std::uint32_t>& rows) {
  std::ranges::fill(x.gradient(), 0.f);
  const auto loss = x.backward(rows, 1);
  EXPECT_TRUE(loss) << loss.error().context;
  return {x.gradient().begin(), x.gradient().end()};
}

} // namespace troupe::test
