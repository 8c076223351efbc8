#pragma once

// Feed-forward blocks that stand there several times over one base. Each token
// goes to the experts that a router finds for it:
//
//   x ─► router ─► the best experts, and weights w that add up to one
//   x ─► up, once for all ─► with each expert's factors ─► f ─► a_j
//   a + sum of w_j (a_j − a) ─► down, once ─► with each expert's on w_j a_j
//
// where a is what the base alone has for a_j. Weights add up to one, so this is
// the sum of what the experts say. Written so, experts that say the same as the
// base change no bit of it, whatever their weights, and give these no slope.
// Where they are to count less together, all that comes out does.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/inner_adapters.hpp"
#include "models/language/names.hpp"
#include "models/language/spec.hpp"
#include "models/torch/language/parts.hpp"

namespace troupe::models {

/// Where tokens go.
struct expert_choice {
  at::Tensor weights;   ///< [n x experts]; of those that are not chosen zero.
  at::Tensor order;     ///< [n x chosen], Long, the best first; of equals the
                        ///< first. Undefined: nobody chose.
  at::Tensor kept = {}; ///< [n x 1], what chosen experts count together;
                        ///< undefined: one.
};

/// The best so many of each row, by the softmax over these alone.
/// @pre 0 < most <= experts
expert_choice choose(const at::Tensor& logits, std::int64_t most);

/// What an expert's part of tokens times its mean chance counts: the less, the
/// more is wanted of it.
std::vector<double> balance_rates(const routing_options& how);

/// The sum over experts of rate * part of tokens * mean chance. The part is a
/// count: no slope goes through it.
at::Tensor load_balance(const at::Tensor& logits, const at::Tensor& order,
                        std::span<const double> rates);

/// What that is made of: how many chose each expert, and behind it the summed
/// chances.
at::Tensor load_sums(const at::Tensor& logits, const at::Tensor& order);

/// Of the sums over all passes of a batch, in which each token chose so many.
at::Tensor balance_of_sums(const at::Tensor& sums, std::int64_t most,
                           std::span<const double> rates);

/// y, and what an expert's factors beside a tensor make of x; all are rows.
using expert_terms =
  std::function<at::Tensor(std::uint32_t expert, std::size_t weight,
                           const at::Tensor& y, const at::Tensor& x)>;

/// The blocks of a model, each with a router of its own.
class routed_blocks {
public:
  /// @param routers as router_tensors has them; none: all experts count the
  /// same
  routed_blocks(const language_spec& spec, const routing_options& how,
                std::vector<at::Tensor> routers);

  void begin(const pass_facts& x);

  /// Of [… x width]. Products with `of` are those of a block that is not
  /// routed, and have what all experts share beside them.
  at::Tensor forward(model_parts& of, const expert_terms& by, std::size_t layer,
                     const at::Tensor& x);

  bool balances() const noexcept {
    return balances_ && chooses();
  }

  /// As model_parts has it: a mean over layers, or the sum where gates are
  /// noisy.
  at::Tensor balance();

  std::vector<at::Tensor> take_loads() {
    return std::exchange(loads_, {});
  }

  /// Routers that are left out let all experts count the same.
  void leave_out(bool out) noexcept {
    is_out_ = out;
  }

  /// Else all experts count the same.
  bool chooses() const noexcept {
    return !routers_.empty() && !is_out_;
  }

  inner_adapters::routing_seen take_seen();

  /// Where first choices go, layer after layer; null: nowhere.
  void record(std::vector<std::uint32_t>* to) noexcept {
    routes_ = to;
  }

private:
  /// What a layer's router says, and with what was drawn.
  struct gate_logits {
    at::Tensor clean;
    at::Tensor noisy; ///< The same where nothing is drawn.
  };

  struct layer_sums {
    double chances = 0;
    double first_places = 0;
    double tokens = 0;
  };

  /// What goes down, and what each expert has in it.
  struct mixture {
    at::Tensor all;
    std::vector<at::Tensor> parts; ///< w_j a_j; undefined: nobody chose it.
  };

  bool is_noisy() const noexcept {
    return how_.gate == gate_kind::noisy;
  }

  at::Tensor linear_logits(std::size_t layer, const at::Tensor& x) const;

  /// @param tokens of a row
  gate_logits logits_at(std::size_t layer, const at::Tensor& x,
                        std::int64_t tokens) const;
  expert_choice choose_at(std::size_t layer, const at::Tensor& x,
                          std::int64_t tokens);
  void note(std::size_t layer, const gate_logits& logits,
            const expert_choice& choice);
  at::Tensor sums_of(const gate_logits& logits,
                     const expert_choice& choice) const;
  at::Tensor loads_of(std::size_t layer, const gate_logits& logits,
                      const expert_choice& choice) const;
  at::Tensor counted(const at::Tensor& said, const at::Tensor& order) const;
  void add_loads(std::size_t layer, const gate_logits& logits,
                 const expert_choice& choice);
  bool has_loads() const;
  at::Tensor of_those_there(const at::Tensor& x) const;
  mixture mix(const expert_terms& by, const layer_places& at,
              const expert_choice& choice, const at::Tensor& x,
              const at::Tensor& up, const at::Tensor& gate) const;

  language_spec spec_;
  std::vector<layer_places> places_;
  routing_options how_;
  std::int64_t most_;
  bool balances_ = false;     ///< The balance has a slope.
  std::vector<double> rates_; ///< Of it where gates are linear.
  std::vector<at::Tensor> routers_;
  bool is_out_ = false;
  at::Tensor there_; ///< Rows of tokens, Long; undefined: all.
  bool is_scored_ = false;
  bool is_counted_ = false;
  std::vector<at::Tensor> beside_; ///< Loads; none: this pass is all.
  std::vector<at::Tensor> loads_;  ///< Of a pass that is counted.
  std::optional<pass_draws> draws_;
  at::Tensor balance_; ///< Summed over layers; undefined: none yet.
  std::vector<layer_sums> seen_;
  std::vector<std::uint32_t>* routes_ = nullptr;
};

} // namespace troupe::models
