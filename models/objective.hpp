#pragma once

// What is being learned, as a procedure sees it: flat buffers, and a loss whose
// gradient is added into one of them. Procedures are written once against this,
// whether a torch module, a script or a quadratic stands behind it.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace troupe::models {

struct tensor_spec {
  std::string name;
  std::vector<std::int64_t> shape;

  std::size_t size() const noexcept {
    std::size_t n = 1;
    for (const auto x : shape)
      n *= static_cast<std::size_t>(x);
    return n;
  }

  friend bool operator==(const tensor_spec&, const tensor_spec&) = default;
};

/// The tensors of a block, in the order in which they lie in its flat buffer.
using tensor_list = std::vector<tensor_spec>;

inline std::size_t size_of(const tensor_list& xs) noexcept {
  std::size_t n = 0;
  for (const auto& x : xs)
    n += x.size();
  return n;
}

/// Which of the two example sets of a task.
enum class split : std::uint8_t { train, test };

/// Sums, not means, so that results of parts can be added.
struct scores {
  double loss = 0; ///< Summed over examples.
  std::uint64_t correct = 0;
  std::uint64_t count = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.loss, x.correct, x.count);
  }

  scores& operator+=(const scores& x) noexcept {
    loss += x.loss;
    correct += x.correct;
    count += x.count;
    return *this;
  }

  double mean_loss() const noexcept {
    return count ? loss / static_cast<double>(count) : 0;
  }

  double accuracy() const noexcept {
    return count ? static_cast<double>(correct) / static_cast<double>(count)
                 : 0;
  }

  /// Where examples are tokens: e to the mean loss of one, infinite where that
  /// is beyond all numbers.
  double perplexity() const noexcept {
    return std::exp(mean_loss());
  }
};

/// A gradient that can be differentiated again.
class kept_gradient {
public:
  virtual ~kept_gradient() = default;

  /// What the objective's `curve` would add, of the rows and at the parameters
  /// that the gradient is of, though others may be live by now. It may be
  /// called once, while the model lives. @pre the direction has the parameters'
  /// size; of what stands inside the same groups are on as they were
  [[nodiscard]] virtual result<void>
  curve(std::span<const float> direction) = 0;
};

struct kept_loss {
  double loss = 0;
  std::unique_ptr<kept_gradient> gradient = {}; ///< Null: it was not kept.
};

class inner_adapters;
class model_continuations;
class model_embeddings;
class model_labels;
class model_outputs;

/// One model with room for one set of parameters. One thread at a time uses it.
class objective {
public:
  virtual ~objective() = default;

  virtual const tensor_list& parameter_list() const noexcept = 0;
  virtual const tensor_list& buffer_list() const noexcept = 0;

  /// The live parameters, 64-byte aligned: writing here is loading a model.
  virtual std::span<float> parameters() noexcept = 0;

  /// Where `backward` adds. Zero at first; a step kernel zeroes it again.
  virtual std::span<float> gradient() noexcept = 0;

  /// The live float buffers (batch norm's statistics). Integer buffers take the
  /// model's initial values at each visit.
  virtual std::span<float> buffers() noexcept = 0;

  /// Begins a visit: integer buffers take their initial values.
  virtual void begin() {
    // nop
  }

  /// Adds the gradient of the *mean* loss over `rows` of the training set, in
  /// training mode. Random operators draw from a stream that `seed` begins.
  /// Returns that loss. Rows may repeat. @pre !rows.empty()
  [[nodiscard]] virtual result<double>
  backward(std::span<const std::uint32_t> rows, std::uint64_t seed) = 0;

  /// Adds to the gradient what it changes by along `direction`: the Hessian of
  /// that mean loss, times the direction. An equal seed draws what `backward`
  /// drew. Returns `unsupported` where a model has no second derivatives.
  /// @pre !rows.empty(), and the direction has the parameters' size
  [[nodiscard]] virtual result<void>
  curve(std::span<const std::uint32_t> /*rows*/, std::uint64_t /*seed*/,
        std::span<const float> /*direction*/) {
    return fail(errc::unsupported,
                "this model has no second derivatives; a method that needs "
                "none would do, or its first-order variant");
  }

  /// `backward` for who asks for `curve` of the same rows at the same point: it
  /// keeps what both would compute, if the model can and that is worth its
  /// memory. Then sums may be rounded otherwise than `backward` does.
  [[nodiscard]] virtual result<kept_loss>
  backward_and_keep(std::span<const std::uint32_t> rows, std::uint64_t seed) {
    return backward(rows, seed).map([](double loss) {
      return kept_loss{.loss = loss};
    });
  }

  /// Scores the live parameters, in evaluation mode; no parameter or buffer
  /// changes.
  [[nodiscard]] virtual result<scores>
  evaluate(split part, std::span<const std::uint32_t> rows) = 0;

  /// Its outputs, where it has any that could be mixed with others'.
  virtual model_outputs* outputs() noexcept {
    return nullptr;
  }

  /// What goes into its last layer, where it has one.
  virtual model_embeddings* embeddings() noexcept {
    return nullptr;
  }

  /// What writes texts, where it foretells what comes next.
  virtual model_continuations* continuations() noexcept {
    return nullptr;
  }

  /// Factors inside its layers, where its base takes any.
  virtual inner_adapters* inside() noexcept {
    return nullptr;
  }

  /// What its rows are labelled with, where that is more than a target each.
  virtual model_labels* labels() noexcept {
    return nullptr;
  }

  /// Parameters and buffers of a fresh model, a function of the seed alone.
  [[nodiscard]] virtual std::vector<float>
  initial_parameters(std::uint64_t seed) = 0;
  [[nodiscard]] virtual std::vector<float> initial_buffers() = 0;
};

} // namespace troupe::models
