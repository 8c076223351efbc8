#pragma once

// The parameters of an objective whose base nobody trains: factors of attached
// groups, in flat buffers and as leaves of torch's graph.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/aligned.hpp"
#include "models/inner_adapters.hpp"
#include "models/language/base.hpp"
#include "models/torch/frozen_parts.hpp"

namespace troupe::models {

/// Has one row go forward.
using row_pass = std::function<result<void>(split part, std::uint32_t row)>;

/// Factors and gradient of attached groups in one flat buffer each (64-byte
/// aligned), as leaves of torch's graph. All of inner_adapters.
class group_buffers final : public inner_adapters {
public:
  /// @param spec of a language model, whose tokens can be routed, and as long
  /// as the base; null: of no such model
  group_buffers(std::shared_ptr<const frozen_weights> base,
                const language_spec* spec);
  explicit group_buffers(std::shared_ptr<const language_base> base);

  /// Of all groups, in order.
  const tensor_list& list() const noexcept {
    return list_;
  }

  std::span<float> values() noexcept {
    return values_;
  }

  std::span<float> slopes() noexcept {
    return slopes_;
  }

  /// The base with what is attached.
  model_parts& parts() noexcept {
    return parts_;
  }

  /// A group is on and not left out, or shares are mixed.
  bool learns() const noexcept;

  /// Some learn, and their graph can be kept: no shares are in it, and no
  /// experts, which are other parameters for each row.
  bool can_be_kept() const noexcept;

  /// A tensor that is on and not left out, and its place in the flat buffer.
  struct leaf {
    at::Tensor values;
    std::size_t at = 0;
  };
  std::vector<leaf> leaves() const;

  /// Of each group initial_adapter(plan, derive_seed(seed, its name)). Values
  /// of routers are normal with deviation 0.02; router i draws from derive_seed
  /// of that seed, "router" and i.
  std::vector<float> initial(std::uint64_t seed) const;

  /// How `routes` looks at a row.
  void forward_by(row_pass x) {
    forward_ = std::move(x);
  }

  const tensor_list& base_list() const noexcept override;
  const digest& base_content() const noexcept override;

  result<void> attach(std::vector<inner_group> groups,
                      kernels::backend* arithmetic) override;

  const std::vector<inner_group>& groups() const noexcept override {
    return groups_;
  }

  std::span<float> values_of(std::size_t group) noexcept override;
  std::span<float> gradient_of(std::size_t group) noexcept override;
  void switch_on(std::size_t group, bool on) noexcept override;
  void leave_out(std::size_t group, bool out) noexcept override;
  void mix(std::span<const double> shares) override;
  std::vector<double> share_slopes() override;
  result<void> route(const routing_options& how) override;
  routing_seen take_routing() override;
  result<std::vector<std::uint32_t>> routes(split part,
                                            std::uint32_t row) override;

private:
  struct group_state {
    std::size_t at = 0; ///< In the flat buffer.
    std::size_t size = 0;
    std::vector<leaf> leaves = {};
    bool is_on = true;
    bool is_out = false;
  };

  result<void> check(std::span<const inner_group> groups) const;
  result<void> check(const inner_group& x) const;
  result<void> check_routes(const routing_options& how) const;
  result<void> check_expert(const inner_group& x,
                            const routing_options& how) const;

  /// @param routers whether the last of them is these
  void lay_out(std::vector<inner_group> groups, bool routers);

  /// Makes the leaves of all groups.
  void stand_beside();

  /// A tensor over values, whose gradient is added where slopes lie.
  leaf make_leaf(std::size_t at, std::vector<std::int64_t> shape);

  bool is_router(std::size_t group) const noexcept {
    return has_routers_ && group + 1 == groups_.size();
  }

  std::string name_of_model() const;

  std::shared_ptr<const frozen_weights> base_;
  const language_spec* spec_;                   ///< Null: no language model's.
  std::map<std::size_t, std::size_t> place_at_; ///< By a tensor's beginning.
  std::size_t base_size_ = 0;
  frozen_parts parts_;
  std::vector<inner_group> groups_;
  std::vector<group_state> states_; ///< As many.
  tensor_list list_;
  aligned_floats values_;
  aligned_floats slopes_;
  at::Tensor shares_; ///< Undefined: none are mixed.
  kernels::backend* arithmetic_ = nullptr;
  bool has_routers_ = false;
  row_pass forward_;
};

} // namespace troupe::models
