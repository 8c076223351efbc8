#pragma once

// A linear model over a base that nobody trains, with factors inside its one
// layer: all derivatives in double, written out.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/aligned.hpp"
#include "models/inner_adapters.hpp"
#include "models/tasks/regression.hpp"

namespace troupe::test {

/// What `regression` is without hidden layers and biases, where the problem
/// sums targets. Groups have scale one and adapt the layer.
class inner_regression final : public models::objective,
                               public models::inner_adapters {
public:
  using row_span = std::span<const std::uint32_t>;

  explicit inner_regression(
    std::shared_ptr<const models::regression_problem> of);

  /// What was differentiated: which groups learned, how often, and whether what
  /// was kept is of it.
  struct pass {
    std::set<std::string> of;
    bool twice = false;
    bool kept = false;

    friend bool operator==(const pass&, const pass&) = default;
  };

  const std::vector<pass>& passes() const noexcept {
    return passes_;
  }

  // As an objective.

  const models::tensor_list& parameter_list() const noexcept override {
    return list_;
  }

  const models::tensor_list& buffer_list() const noexcept override {
    return no_buffers_;
  }

  std::span<float> parameters() noexcept override {
    return values_;
  }

  std::span<float> gradient() noexcept override {
    return slopes_;
  }

  std::span<float> buffers() noexcept override {
    return {};
  }

  result<double> backward(row_span rows, std::uint64_t seed) override;
  result<void> curve(row_span rows, std::uint64_t seed,
                     std::span<const float> direction) override;
  result<models::kept_loss> backward_and_keep(row_span rows,
                                              std::uint64_t seed) override;
  result<models::scores> evaluate(models::split part, row_span rows) override;
  std::vector<float> initial_parameters(std::uint64_t seed) override;

  std::vector<float> initial_buffers() override {
    return {};
  }

  models::inner_adapters* inside() noexcept override {
    return this;
  }

  // As what stands inside.

  const models::tensor_list& base_list() const noexcept override {
    return base_list_;
  }

  const models::digest& base_content() const noexcept override {
    return content_;
  }

  result<void> attach(std::vector<models::inner_group> groups,
                      kernels::backend* arithmetic) override;

  const std::vector<models::inner_group>& groups() const noexcept override {
    return groups_;
  }

  std::span<float> values_of(std::size_t group) noexcept override;
  std::span<float> gradient_of(std::size_t group) noexcept override;
  void switch_on(std::size_t group, bool on) noexcept override;
  void leave_out(std::size_t group, bool out) noexcept override;
  void mix(std::span<const double> shares) override;
  std::vector<double> share_slopes() override;

  result<void> route(const models::routing_options& how) override;
  routing_seen take_routing() override;
  result<std::vector<std::uint32_t>> routes(models::split part,
                                            std::uint32_t row) override;

private:
  using doubles = std::vector<double>;

  struct group_state {
    std::size_t at = 0;
    bool is_on = true;
    bool is_out = false;

    bool learns() const noexcept {
      return is_on && !is_out;
    }
  };

  class kept_point;

  /// The layer with what is not out.
  doubles matrix() const;

  /// Adds the product of two factors of a group, each as it lies in one.
  void add_product(std::size_t group, std::span<const float> u,
                   std::span<const float> v, doubles& to) const;

  /// Adds what slopes along the layer mean for a group's factors.
  void pull_back(std::size_t group, std::span<const float> factors,
                 const doubles& slopes);

  /// Slopes of the mean loss along the layer; without targets, of what it says.
  doubles slopes_at(row_span rows, const doubles& layer,
                    bool with_targets) const;

  double error(models::split part, std::uint32_t row, std::size_t target,
               const doubles& layer, bool with_targets) const;

  void note(bool twice);

  std::shared_ptr<const models::regression_problem> of_;
  models::tensor_list base_list_;
  std::vector<float> base_;
  models::digest content_{};
  models::tensor_list list_;
  models::tensor_list no_buffers_;
  std::vector<models::inner_group> groups_;
  std::vector<group_state> states_;
  models::aligned_floats values_;
  models::aligned_floats slopes_;
  std::vector<pass> passes_;
};

} // namespace troupe::test
