#pragma once

// Adapters that stand inside the layers of a model whose weights nobody trains:
// what a layer says gets a product of low rank beside it, and a model of the
// base's size is never composed. The factors are all the parameters there are.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "kernels/backend.hpp"
#include "models/adapters/adapters.hpp"
#include "models/layout.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// Of the values that routers begin with.
inline constexpr double router_deviation = 0.02;

/// Factors of one group: a plan over the base's tensors. Of a language model it
/// has matrices alone but for a head's tensors ("head.…"), which it may have
/// whole; of other models it may have any tensor whole. Its parameters are the
/// plan's tensors, named "GROUP/TENSOR".
struct inner_group {
  std::string name;
  adapter_plan plan;
  float scale = 1; ///< All of it counts so much, beside what the plan says.
  /// Of a routed block: expert j's factors; nothing: everybody's.
  std::optional<std::uint32_t> expert = {};
  /// No share of a mixture is its own: what it has whole counts as it is.
  bool counts_one = false;
};

/// What stands before the experts of a block and says which a token goes to.
enum class gate_kind : std::uint8_t {
  linear, ///< One map without noise, and a balance of shares of tokens.
  /// Two maps with a tanh between them, noise on what they say where somebody
  /// descends, and a balance by coefficients of variation.
  noisy,
};

/// How tokens choose among experts, in each feed-forward block for itself.
struct routing_options {
  std::uint32_t experts = 1;
  std::uint32_t top = 2; ///< Experts of a token, at most.
  /// What the balance of loads counts in a loss.
  double balance = 0.01;
  /// The balance as the publication prints it; else so that it is 1 where loads
  /// are as wanted.
  bool printed_scale = false;
  /// No router: all experts count the same (the baselines' two averaged
  /// adapters).
  bool even = false;
  /// The generalist's part of the slots, below 1; 0: as large as the others'.
  double favoured = 0.5;
  gate_kind gate = gate_kind::linear;
  /// Chosen experts count what they have of the chances over all experts, less
  /// than one together; else these are made one.
  bool of_all = false;
  double deviation = router_deviation; ///< Of what routers begin with.
  bool bias = false; ///< Routers have one, which begins with zeros.
  /// What the balance of linear gates is of, as the authors' program has it:
  /// what routers would say of a block's output; chances among logits of which
  /// those that are not chosen count zero.
  bool balance_on_output = false;
  bool balance_of_kept = false;
};

/// The side of an objective whose parameters are factors that stand inside the
/// layers of a base.
class inner_adapters {
public:
  virtual ~inner_adapters() = default;

  virtual const tensor_list& base_list() const noexcept = 0;
  virtual const digest& base_content() const noexcept = 0;

  /// These and no others, all switched on, with weight one; parameters and
  /// gradient are zeros and lie elsewhere than before. Null arithmetic: torch's
  /// own products. Tensors that a plan takes whole are added as they are,
  /// without a scale. Returns `invalid_config` where a plan has what cannot
  /// stand inside: biases of a language model, a layer that is not there, a
  /// rank above a layer, factors that no share of a mixture is of; then all is
  /// as before.
  [[nodiscard]] virtual result<void> attach(std::vector<inner_group> groups,
                                            kernels::backend* arithmetic) = 0;

  virtual const std::vector<inner_group>& groups() const noexcept = 0;

  /// A part of parameters(), and of gradient().
  virtual std::span<float> values_of(std::size_t group) noexcept = 0;
  virtual std::span<float> gradient_of(std::size_t group) noexcept = 0;

  /// Off: its factors count as they are, and no gradient of them is computed.
  virtual void switch_on(std::size_t group, bool on) noexcept = 0;

  /// Out: as if it were not attached; its gradient is zero.
  virtual void leave_out(std::size_t group, bool out) noexcept = 0;

  /// What each group counts with (a client's mixture); none: one each. Slopes
  /// along these add up in `share_slopes` from each `backward` on until they
  /// are read. @pre none, or as many as groups
  virtual void mix(std::span<const double> shares) = 0;
  virtual std::vector<double> share_slopes() = 0;

  /// Feed-forward blocks become `experts` copies, each with the groups of its
  /// number, mixed by a router per block: the last group, "router", which this
  /// appends (`router_tensors`, "router/LAYER" of experts x width where gates
  /// are linear). One expert or `even`: none is appended. Called after
  /// `attach`, and until then all groups count for all tokens; parameters and
  /// gradient are zeros and lie elsewhere again. A router that is left out lets
  /// all experts count the same. Returns `invalid_config` where groups and
  /// experts do not go together; then all is as before.
  [[nodiscard]] virtual result<void> route(const routing_options& how) = 0;

  /// Mean score of expert 0, its chance by the softmax over all experts, and
  /// its part of first places, per layer, over what was scored since the last
  /// call. Nothing where no router is.
  struct routing_seen {
    std::vector<double> mean_of_first, first_places;
  };
  virtual routing_seen take_routing() = 0;

  /// Of one window: first choice per layer and token. [layers x tokens]. What
  /// padding chooses has no meaning. Returns `unsupported` without a router.
  [[nodiscard]] virtual result<std::vector<std::uint32_t>>
  routes(split part, std::uint32_t row) = 0;
};

} // namespace troupe::models
