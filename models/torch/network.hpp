#pragma once

// Torch headers: included by the units of models/torch alone.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/objective.hpp"
#include "models/torch/model_config.hpp"

namespace troupe::models {

class group_buffers;

enum class phase : std::uint8_t { training, evaluation };

/// A function from inputs to logits, whose tensors somebody else lays out. What
/// may throw is what torch throws, unless a function returns a result.
class network {
public:
  virtual ~network() = default;

  /// What is trained, in the order of the flat buffer.
  virtual const tensor_list& parameter_list() const noexcept = 0;

  /// Float buffers. Integer buffers stay with the network.
  virtual const tensor_list& buffer_list() const noexcept = 0;

  /// Goes on with these tensors, one per entry of the lists: views into the
  /// flat buffers, the parameters with a gradient. Called once, before all
  /// below.
  virtual void bind(std::vector<at::Tensor> parameters,
                    std::vector<at::Tensor> buffers) = 0;

  virtual std::vector<float> initial_parameters(std::uint64_t seed) const = 0;
  virtual std::vector<float> initial_buffers() const = 0;

  /// Integer buffers take their initial values.
  virtual void reset_integers() {
    // nop
  }

  /// Returns logits, one row per example. In evaluation nothing that is stored
  /// changes.
  virtual at::Tensor forward(const std::vector<at::Tensor>& inputs,
                             phase when) = 0;

  /// What goes into the last layer, one row per example: of this width, if that
  /// is known without asking. A tensor that is not defined: there is none.
  virtual at::Tensor embed(const std::vector<at::Tensor>& /*inputs*/,
                           phase /*when*/) {
    return {};
  }

  /// 0: not known.
  virtual std::int64_t embedding_width() const noexcept {
    return 0;
  }

  /// Of one whose weights nobody trains: its parameters are factors of what is
  /// attached to these, which lay them out themselves. Null: it has none.
  virtual group_buffers* groups() noexcept {
    return nullptr;
  }
};

/// One of the built-in models.
result<std::unique_ptr<network>> make_native_network(const model_config& config,
                                                     const dataset& data);

/// The scripted module in `path`.
result<std::unique_ptr<network>> load_script(const std::string& path);

/// The line of an error of torch that says what happened, without the trace.
std::string first_line(const std::exception& x);

} // namespace troupe::models
