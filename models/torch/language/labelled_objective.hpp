#pragma once

// What models of labelled rows have in common: a base with a head, and a loss
// of each row. What the head says, and what is right, they say themselves.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "models/torch/language/learned_objective.hpp"

namespace troupe::models {

class labelled_objective : public learned_objective {
public:
  /// @pre the base has a head, and the rows fit it
  labelled_objective(const language_config& config,
                     std::shared_ptr<const language_base> base,
                     std::shared_ptr<const token_rows> from);

  result<double> backward(row_numbers which, std::uint64_t seed) override;
  result<void> curve(row_numbers which, std::uint64_t seed,
                     std::span<const float> direction) override;
  result<kept_loss> backward_and_keep(row_numbers which,
                                      std::uint64_t seed) override;
  result<scores> evaluate(split part, row_numbers which) override;

protected:
  /// What the head says of a pass, the first extent its rows.
  virtual at::Tensor say_pass(const language_pass& x) = 0;

  /// Of each row.
  virtual at::Tensor losses(const at::Tensor& said,
                            const language_pass& x) const = 0;

  /// Rows of a pass, without a graph.
  virtual scores score(split part, row_numbers which, const at::Tensor& said,
                       const language_pass& x) = 0;

  /// What goes into the head: [rows x tokens x width].
  at::Tensor states_of(const language_pass& x) {
    learned().parts().begin({.there = x.x.there, .is_kept = x.is_kept});
    return network().hidden(learned().parts(), x.x);
  }

  at::Tensor head(const at::Tensor& states) {
    return learned().parts().product(head_at_, head_at_ + 1, states);
  }

  const language_spec& spec() const noexcept {
    return network().spec();
  }

private:
  std::size_t head_at_; ///< Its matrix; behind it are the biases.
};

} // namespace troupe::models
