#pragma once

// One client's visits to an adapter over a frozen linear model, or another, and
// the same derivatives in double, written out.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "models/adapters/adapted_task.hpp"
#include "models/tasks/regression.hpp"
#include "policies/catalogue.hpp"

namespace troupe::test {

/// Y = X W with `rows` rows, all of them client 1's, and a model that begins at
/// zero.
std::shared_ptr<const models::regression_problem>
linear_problem(std::size_t inputs, std::size_t targets, std::size_t rows,
               std::uint64_t seed);

struct site_options {
  std::string_view method = "pf2lora";
  std::shared_ptr<const models::regression_problem> problem = {};
  models::training_options how = {};
  options said = {};
  /// In the place of the problem's linear model: another, and who has which
  /// rows. One that takes adapters inside gets them there.
  std::unique_ptr<models::objective> model = {};
  models::partition clients = {};
  /// In the place of those that follow from the model.
  std::optional<models::adapter_plan> common = {};
  std::optional<models::adapter_plan> own = {};
  std::optional<models::adapter_plan> attention = {}; ///< Inside, if any.
  std::vector<std::uint32_t> experts = {};            ///< Of clients, by turns.
};

/// A trainer for visits of client 1.
struct adapter_site {
  explicit adapter_site(site_options x);

  models::visit_input
  visit(const std::vector<float>& common,
        std::shared_ptr<const models::client_state> state = {}) const;

  recipe method;
  models::layout blocks;
  std::unique_ptr<models::trainer> trainer;
};

/// A state in which the client keeps this adapter of its own.
std::shared_ptr<const models::client_state>
keeping(const std::vector<float>& own);

/// Two factors of a matrix of targets x inputs as they lie in an adapter's
/// buffer: rank x targets, then rank x inputs.
struct double_factors {
  std::size_t rank = 0;
  std::vector<double> values;
};

/// f(x, y) = the mean over rows of |(x's product + y's product) row -
/// target|^2.
class two_level_loss {
public:
  explicit two_level_loss(const models::regression_problem& of) : of_(of) {
    // nop
  }

  using rows = std::vector<std::uint32_t>;

  double value(const double_factors& x, const double_factors& y,
               const rows& of) const;

  /// Along the factors of `x`; the other's by the same call with both changed.
  std::vector<double> gradient(const double_factors& x, const double_factors& y,
                               const rows& of) const;

private:
  std::vector<double> matrix(const double_factors& x,
                             const double_factors& y) const;

  const models::regression_problem& of_;
};

} // namespace troupe::test
