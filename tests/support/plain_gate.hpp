#pragma once

// A gate over the centres of a quadratic's rows, by plain loops in double, and
// visits under methods that have one.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/methods/router.hpp"
#include "policies/catalogue.hpp"
#include "policies/invitations.hpp"
#include "tests/support/next_visits.hpp"

namespace troupe::test {

/// Two layers with ReLU between, over `width` values.
struct plain_gate {
  reals values;
  std::size_t experts;

  // Each hidden value has a weight per input, a bias, and one per expert.
  std::size_t hidden() const {
    return (values.size() - experts) / (width + 1 + experts);
  }

  std::size_t bias_at() const {
    return hidden() * width;
  }

  std::size_t output_at() const {
    return bias_at() + hidden();
  }

  std::size_t output_bias_at() const {
    return output_at() + experts * hidden();
  }

  reals hidden_of(const reals& seen) const {
    reals all;
    for (std::size_t u = 0; u < hidden(); ++u) {
      auto sum = values[bias_at() + u];
      for (std::size_t j = 0; j < width; ++j)
        sum += values[u * width + j] * seen[j];
      all.push_back(std::max(sum, 0.0));
    }
    return all;
  }

  reals logits(const reals& seen) const {
    const auto between = hidden_of(seen);
    reals all;
    for (std::size_t m = 0; m < experts; ++m) {
      auto sum = values[output_bias_at() + m];
      for (std::size_t u = 0; u < hidden(); ++u)
        sum += values[output_at() + m * hidden() + u] * between[u];
      all.push_back(sum);
    }
    return all;
  }

  /// Adds what slopes along the logits make of it.
  void pull_back(const reals& seen, const reals& along, reals& slope) const {
    const auto between = hidden_of(seen);
    for (std::size_t u = 0; u < hidden(); ++u) {
      double back = 0;
      for (std::size_t m = 0; m < experts; ++m) {
        slope[output_at() + m * hidden() + u] += along[m] * between[u];
        back += along[m] * values[output_at() + m * hidden() + u];
      }
      if (between[u] <= 0)
        continue;
      slope[bias_at() + u] += back;
      for (std::size_t j = 0; j < width; ++j)
        slope[u * width + j] += back * seen[j];
    }
    for (std::size_t m = 0; m < experts; ++m)
      slope[output_bias_at() + m] += along[m];
  }
};

/// A row as the common model sees it.
inline reals seen_of(const models::quadratic_problem& x, models::split part,
                     std::uint32_t row) {
  const auto& from = part == models::split::train ? x.row_centre : x.centre;
  reals seen;
  for (std::size_t j = 0; j < width; ++j)
    seen.push_back(static_cast<float>(from[row * width + j]));
  return seen;
}

/// The sums of chances by which rows ask.
inline reals asking(const models::quadratic_problem& x, const plain_gate& gate,
                    models::split part,
                    const std::vector<std::uint32_t>& rows) {
  reals sum(gate.experts);
  for (const auto row : rows) {
    const auto chances = models::softmax(gate.logits(seen_of(x, part, row)));
    for (std::size_t m = 0; m < sum.size(); ++m)
      sum[m] += chances[m];
  }
  return sum;
}

/// The largest, best first.
inline std::vector<std::uint32_t> best_of(const reals& sums,
                                          std::size_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t m = 0; m < sums.size(); ++m)
    all.push_back(m);
  std::ranges::stable_sort(all, std::greater{},
                           [&](std::uint32_t m) { return sums[m]; });
  all.resize(count);
  return all;
}

/// Clients on quadratics with ten rows each, under a method with a gate.
inline quadratic_setting gated_setting(const std::string& method,
                                       const options& said,
                                       std::size_t clients = 6) {
  const auto* found = policies::find_recipe(method);
  const auto made = policies::with_options(*found, said);
  EXPECT_TRUE(made) << made.error().context;
  return {.method = *made,
          .how = {.local_epochs = 2,
                  .batch_size = 4,
                  .shuffle = false,
                  .learning_rate = 0.1,
                  .method = with_defaults(*found, said)},
          .problem = {.seed = 5,
                      .dimension = width,
                      .clients = clients,
                      .rows_per_client = 10,
                      .noise = 0.5}};
}

/// Of the method that this is about: so many experts, of which a client asks
/// for so many, and so many anchors.
inline options crowd(double experts, double chosen, double anchors,
                     options more = {}) {
  more.insert({{"experts", experts},
               {"chosen", chosen},
               {"anchors", anchors},
               {"anchors_per_round", anchors}});
  return more;
}

/// A visit as a client makes it: by its role, with what it chose and no more.
inline models::visit_input served(quadratic_federation& x, std::uint64_t client,
                                  std::uint64_t seed) {
  auto in = x.visit(client, seed);
  const auto& roles = x.task()->method.roles;
  in.role = policies::role_of({client}, roles).value();
  if (roles[in.role].choice_fixed) {
    const auto experts = x.blocks().family("model");
    const auto place = policies::place_in_role({client}, roles);
    in.chosen = {experts[place % experts.size()]};
  } else if (!x.task()->method.legs.front().choice.value.empty()) {
    const auto chosen = x.trainer().choose(in);
    EXPECT_TRUE(chosen) << chosen.error().context;
    in.chosen = chosen->chosen;
  } else {
    return in;
  }
  std::erase_if(in.fetched, [&](const models::fetched_block& y) {
    const auto& block = *x.blocks().find(y.block);
    const auto chosen = [&](block_id id) {
      return x.blocks().find(id)->instance == block.instance;
    };
    return block.where == scope::expert
           && std::ranges::none_of(in.chosen, chosen);
  });
  return in;
}

/// What is offered to a block; null if nothing is.
inline const offered_block* part_of(const quadratic_federation& x,
                                    const models::trained& found,
                                    std::string_view name) {
  const auto at = std::ranges::find(found.parts, x.blocks().find(name)->id,
                                    &offered_block::block);
  return at == found.parts.end() ? nullptr : &*at;
}

/// Replaces what was fetched of a block.
inline void give(const quadratic_federation& x, models::visit_input& in,
                 std::string_view name, std::vector<float> values) {
  const auto id = x.blocks().find(name)->id;
  for (auto& y : in.fetched)
    if (y.block == id)
      y.values = share(std::move(values));
}

/// The gate that a visit fetched.
inline plain_gate gate_of(const quadratic_federation& x,
                          const models::visit_input& in) {
  return {.values = fetched(x, in, "gate"),
          .experts = x.blocks().family("model").size()};
}

inline const std::vector<std::uint32_t>& rows_of(const quadratic_federation& x,
                                                 std::uint64_t client) {
  return x.task()->clients.train[client - 1];
}

inline std::set<std::uint32_t>
instances_of(const quadratic_federation& x,
             const std::vector<block_id>& chosen) {
  std::set<std::uint32_t> all;
  for (const auto id : chosen)
    all.insert(x.blocks().find(id)->instance);
  return all;
}

/// A trainer of the same task after a change.
inline std::unique_ptr<models::trainer>
trainer_after(const quadratic_federation& x,
              const std::function<void(models::local_task&)>& change) {
  auto task = *x.task();
  change(task);
  auto made = models::make_local_trainer(
    std::make_shared<const models::local_task>(std::move(task)),
    std::make_unique<models::quadratic>(
      models::make_quadratic_problem(x.problem().how)),
    kernels::make_backend({}).value());
  EXPECT_TRUE(made) << made.error().context;
  return std::move(*made);
}

/// One step with all rows at a rate of one: what is offered is the slope.
inline quadratic_setting one_step(quadratic_setting x) {
  x.how.local_steps = 1;
  x.how.batch_size = 0;
  x.how.learning_rate = 1;
  x.how.method["gate_rate"] = 1;
  return x;
}

/// Says its parameters as logits; row r is of class r mod their number.
class quadratic_logits final : public models::quadratic {
public:
  using quadratic::quadratic;

  models::output_kind kind() const noexcept override {
    return models::output_kind::logits;
  }

  models::judgement judge(models::split, std::span<const std::uint32_t> rows,
                          std::span<const float> outputs,
                          std::span<float> slopes) const override {
    std::vector<std::int64_t> labels;
    for (const auto row : rows)
      labels.push_back(static_cast<std::int64_t>(row % size()));
    return models::judge_logits(outputs, labels, size(), slopes);
  }
};

inline std::unique_ptr<models::objective>
with_logits(std::shared_ptr<const models::quadratic_problem> problem) {
  return std::make_unique<quadratic_logits>(std::move(problem));
}

} // namespace troupe::test
