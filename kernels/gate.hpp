#pragma once

// A gate says by an embedding of a row how much each of many experts is for it.
// What happens to one row's logits stands here, in double; the layers below are
// the backend's. Whoever is chosen is so by its part of the softmax over all.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe::kernels {

/// A gate: a layer of `hidden` values with ReLU over an embedding, and a linear
/// one over it with a value per expert. Its flat values: hidden x inputs,
/// row-major; hidden; experts x hidden, row-major; experts.
struct gate_shape {
  std::size_t inputs = 0;
  std::size_t hidden = 0;
  std::size_t experts = 0;

  constexpr std::size_t hidden_bias_at() const noexcept {
    return hidden * inputs;
  }

  constexpr std::size_t output_at() const noexcept {
    return hidden_bias_at() + hidden;
  }

  constexpr std::size_t output_bias_at() const noexcept {
    return output_at() + experts * hidden;
  }

  constexpr std::size_t size() const noexcept {
    return output_bias_at() + experts;
  }

  friend bool operator==(const gate_shape&, const gate_shape&) = default;
};

/// What a pass keeps: of each row its hidden values after ReLU, and its logits,
/// one per expert.
struct gate_pass {
  std::span<float> hidden;
  std::span<float> logits;
};

/// Softmax over all, in double. @pre of one size, not empty
void softmax_of(std::span<const float> logits, std::span<double> to);

/// The `count` largest, best first; of equals the one of lower index.
/// @pre count <= scores.size()
std::vector<std::uint32_t> top_of(std::span<const double> scores,
                                  std::size_t count);

/// What each chosen expert weighs in a mixture, of one row: its part of the
/// softmax over all logits, or, renormalised, over those of the chosen.
/// @pre chosen ascend, weights.size() == chosen.size()
void gate_weights(std::span<const float> logits,
                  std::span<const std::uint32_t> chosen, bool renormalised,
                  std::span<double> weights);

/// The way back: slopes along the weights to slopes along all logits (zeros,
/// exactly, for who is not chosen if renormalised).
void gate_slopes(std::span<const float> logits,
                 std::span<const std::uint32_t> chosen, bool renormalised,
                 std::span<const double> along_weights,
                 std::span<float> along_logits);

/// Multi-class regression on one owner: returns -log softmax[owner], writes
/// softmax - onehot. Never a softmax of a softmax.
double owner_slopes(std::span<const float> logits, std::uint32_t owner,
                    std::span<float> along_logits);

/// Adds the softmax of each row of logits, row after row. @pre whole rows, of
/// as many as `sum` has
void add_softmax(std::span<const float> logits, std::span<double> sum);

} // namespace troupe::kernels
