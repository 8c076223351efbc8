#pragma once

// A language model that computes nothing: for what is only attached to one.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/inner_adapters.hpp"
#include "models/language/names.hpp"
#include "models/language/spec.hpp"
#include "models/objective.hpp"

namespace troupe::test {

/// A base without weights, which notes what is attached.
class paper_model final : public models::objective,
                          public models::inner_adapters {
public:
  /// @param behind what stands behind the model's own tensors
  explicit paper_model(const models::language_spec& x,
                       const models::tensor_list& behind = {})
    : list_(models::tensors_of(x)) {
    list_.insert(list_.end(), behind.begin(), behind.end());
  }

  std::size_t attached = 0; ///< How often.
  std::vector<bool> on = {};
  std::optional<models::routing_options> routed = {};

  const models::tensor_list& parameter_list() const noexcept override {
    return none_;
  }

  const models::tensor_list& buffer_list() const noexcept override {
    return none_;
  }

  std::span<float> parameters() noexcept override {
    return {};
  }

  std::span<float> gradient() noexcept override {
    return {};
  }

  std::span<float> buffers() noexcept override {
    return {};
  }

  result<double> backward(std::span<const std::uint32_t>,
                          std::uint64_t) override {
    return 0.0;
  }

  result<models::scores> evaluate(models::split,
                                  std::span<const std::uint32_t>) override {
    return models::scores{};
  }

  models::inner_adapters* inside() noexcept override {
    return this;
  }

  std::vector<float> initial_parameters(std::uint64_t) override {
    return {};
  }

  std::vector<float> initial_buffers() override {
    return {};
  }

  const models::tensor_list& base_list() const noexcept override {
    return list_;
  }

  const models::digest& base_content() const noexcept override {
    return content_;
  }

  result<void> attach(std::vector<models::inner_group> groups,
                      kernels::backend*) override {
    groups_ = std::move(groups);
    routed.reset();
    on.assign(groups_.size(), true);
    ++attached;
    return {};
  }

  result<void> route(const models::routing_options& how) override {
    routed = how;
    if (how.experts > 1 && !how.even) {
      groups_.push_back({.name = "router", .plan = {}});
      on.push_back(true);
    }
    return {};
  }

  routing_seen take_routing() override {
    return {};
  }

  result<std::vector<std::uint32_t>> routes(models::split,
                                            std::uint32_t) override {
    return std::vector<std::uint32_t>{};
  }

  const std::vector<models::inner_group>& groups() const noexcept override {
    return groups_;
  }

  std::span<float> values_of(std::size_t) noexcept override {
    return {};
  }

  std::span<float> gradient_of(std::size_t) noexcept override {
    return {};
  }

  void switch_on(std::size_t group, bool is_on) noexcept override {
    on[group] = is_on;
  }

  void leave_out(std::size_t, bool) noexcept override {
    // nop
  }

  void mix(std::span<const double>) override {
    // nop
  }

  std::vector<double> share_slopes() override {
    return {};
  }

private:
  models::tensor_list list_;
  models::tensor_list none_;
  models::digest content_{7};
  std::vector<models::inner_group> groups_;
};

} // namespace troupe::test
