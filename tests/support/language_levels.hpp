#pragma once

// A client of PF2LoRA over a tiny language model whose queries and values are
// adapted, and the same function in double: of its factors, for torch to
// differentiate.

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/torch/language/network.hpp"
#include "models/torch/language/objective.hpp"
#include "models/torch/language/parts.hpp"
#include "models/torch/language/passes.hpp"
#include "tests/support/adapter_site.hpp"
#include "tests/support/listed_rows.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::test::two_levels {

using floats = std::vector<float>;
using row_list = std::vector<std::uint32_t>;
using test::listed_rows;

constexpr double inner_rate = 2;
inline const row_list inner{0, 1, 2, 3}, outer{4, 5, 6, 7};

/// Eight rows of six of 13 tokens; not all foretell something everywhere.
inline std::shared_ptr<const listed_rows> eight_rows() {
  std::vector<listed_rows::row> rows;
  for (std::int32_t r = 0; r < 8; ++r) {
    listed_rows::row row;
    for (std::int32_t i = 0; i < 6; ++i) {
      row.ids.push_back((3 * i * i + 5 * r + 1) % 13);
      row.targets.push_back(i < r % 3 ? -1 : (7 * i + 3 * r + 2) % 13);
    }
    rows.push_back(std::move(row));
  }
  return std::make_shared<const listed_rows>(6, 13, std::move(rows));
}

/// Queries and values, as each architecture calls them.
inline std::vector<std::string> adapted_of(const models::language_spec& x) {
  switch (x.kind) {
    case models::architecture_kind::gpt2:
      return {"attn.c_attn"};
    case models::architecture_kind::llama:
      return {"q_proj", "v_proj"};
    case models::architecture_kind::deberta:
      return {"query_proj", "value_proj"};
    case models::architecture_kind::bert:
    case models::architecture_kind::roberta:
      break;
  }
  return {"query", "value"};
}

inline double relative_error(const at::Tensor& x, const at::Tensor& y) {
  return ((x - y).norm() / y.norm()).item<double>();
}

inline at::Tensor in_double(std::span<const float> x) {
  auto result = at::empty({static_cast<std::int64_t>(x.size())}, at::kDouble);
  std::ranges::copy(x, result.data_ptr<double>());
  return result;
}

/// A client's visits to a tiny language model whose queries and values are
/// adapted.
struct language_case {
  models::language_spec spec;
  std::shared_ptr<const models::language_base> base;
  std::shared_ptr<const listed_rows> rows = eight_rows();
  models::adapter_plan common_plan, own_plan;
  floats common, own;
  std::uint32_t steps = 1;
  std::uint32_t batch_rows = 4; ///< 0: all at once.

  explicit language_case(std::string_view config)
    : spec(test::tiny_spec(config)),
      base(test::base_by_rule(spec)),
      common_plan(plan_of(2)),
      own_plan(plan_of(1)),
      common(some_values(common_plan, 1)),
      own(some_values(own_plan, 2)) {
    // nop
  }

  models::adapter_plan plan_of(std::size_t rank) const {
    return models::planned(
      base->tensors(),
      {.rank = rank, .bias = false, .layers = adapted_of(spec)});
  }

  static floats some_values(const models::adapter_plan& of,
                            std::uint64_t seed) {
    auto values = models::draw(of.size(), seed);
    for (auto& x : values)
      x *= 0.2f;
    return values;
  }

  /// @param how composed, or inside
  adapter_site site(std::string_view method, const options& more,
                    const models::language_config& how) const {
    return site_of(method, more,
                   models::make_language_objective(how, base, rows).value());
  }

  adapter_site site_of(std::string_view method, const options& more,
                       std::unique_ptr<models::objective> model) const {
    models::training_options training;
    training.local_steps = steps;
    training.batch_size = batch_rows;
    training.shuffle = false;
    training.learning_rate = 0.05;
    training.momentum = 0.9; // Its first moment is what one step is along.
    options said{{"rank", 2}};
    said.insert(more.begin(), more.end());
    row_list all = inner;
    all.insert(all.end(), outer.begin(), outer.end());
    site_options made{.method = method,
                      .how = training,
                      .said = said,
                      .model = std::move(model),
                      .clients = {.train = {all}, .test = {inner}},
                      .common = common_plan};
    if (method == "pf2lora") {
      made.said["own_rank"] = 1;
      made.own = own_plan;
    }
    if (method != "homlora")
      made.said.try_emplace("inner_rate", inner_rate);
    return adapter_site{std::move(made)};
  }

  models::trained trained(const adapter_site& at) const {
    const auto out = at.trainer->train(at.visit(common, keeping(own)));
    EXPECT_TRUE(out) << out.error().context;
    return out ? *out : models::trained{};
  }

  /// What the one step of the common adapter was along.
  static at::Tensor direction_of(const models::trained& x) {
    return in_double(x.next.moments.at("adapter.first").own_view());
  }

  at::Tensor direction(std::string_view method, const options& more,
                       const models::language_config& how) const {
    return direction_of(trained(site(method, more, how)));
  }
};

/// The same model in double, where the adapted weights are functions of the
/// factors.
class unrolled {
public:
  explicit unrolled(const language_case& of)
    : of_(of),
      network_(models::make_language_network(of.spec)),
      tensors_(test::tensors_by_rule(of.spec, at::kDouble)) {
    // nop
  }

  at::Tensor loss(const at::Tensor& x, const at::Tensor& y,
                  const row_list& rows) const {
    auto tensors = tensors_;
    put(of_.common_plan, x, tensors);
    put(of_.own_plan, y, tensors);
    const auto parts = models::parts_of(std::move(tensors));
    const auto pass = models::read_pass(*of_.rows, models::split::train, rows);
    const auto hidden = network_->hidden(*parts, pass.x);
    const auto states =
      hidden.reshape({-1, hidden.size(2)}).index_select(0, pass.places);
    return at::cross_entropy_loss(network_->logits(*parts, states),
                                  pass.targets);
  }

  /// The gradient along `by`, of which more can be taken.
  static at::Tensor slope(const at::Tensor& loss, const at::Tensor& by) {
    return torch::autograd::grad({loss}, {by}, {}, true, true)[0];
  }

private:
  void put(const models::adapter_plan& plan, const at::Tensor& factors,
           std::vector<at::Tensor>& to) const {
    std::size_t at = 0, next = 0;
    for (std::size_t place = 0;
         place < to.size() && next < plan.matrices.size(); ++place) {
      const auto& m = plan.matrices[next];
      if (m.at == at) {
        const auto factor = [&](std::size_t from, std::size_t width) {
          const auto rank = static_cast<std::int64_t>(m.rank);
          const auto columns = static_cast<std::int64_t>(width);
          return factors
            .narrow(0, static_cast<std::int64_t>(from), rank * columns)
            .view({rank, columns});
        };
        to[place] =
          to[place] + factor(m.u_at, m.rows).t().mm(factor(m.v_at, m.columns));
        ++next;
      }
      at += of_.base->tensors()[place].size();
    }
    EXPECT_EQ(next, plan.matrices.size());
  }

  const language_case& of_;
  std::unique_ptr<models::language_network> network_;
  std::vector<at::Tensor> tensors_;
};

} // namespace troupe::test::two_levels
