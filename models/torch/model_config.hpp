#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::models {

enum class model_kind : std::uint8_t {
  softmax,     ///< One linear layer: multinomial logistic regression.
  mlp,         ///< Linear layers of `hidden` widths with ReLU between them.
  cnn,         ///< Two 5x5 convolutions with pooling, one linear layer.
  lenet,       ///< A 5x5 and a 3x3 convolution with pooling, two linear layers.
  vgg8,        ///< Five 3x3 convolutions, three linear layers with dropout.
  resnet18,    ///< With the small first layer for small images.
  resnet34,    ///< Likewise.
  torchscript, ///< The scripted module that stands in `path`.
};

/// The names that a configuration uses.
inline constexpr std::array<std::pair<std::string_view, model_kind>, 8>
  model_kinds{{{"softmax", model_kind::softmax},
               {"mlp", model_kind::mlp},
               {"cnn", model_kind::cnn},
               {"lenet", model_kind::lenet},
               {"vgg8", model_kind::vgg8},
               {"resnet18", model_kind::resnet18},
               {"resnet34", model_kind::resnet34},
               {"torchscript", model_kind::torchscript}}};

constexpr std::string_view name_of(model_kind x) noexcept {
  return model_kinds[static_cast<std::size_t>(x)].first;
}

/// What residual networks have behind each convolution.
enum class norm_kind : std::uint8_t {
  group, ///< Of each example alone.
  batch, ///< Its statistics are buffers.
};

/// What to train. Sizes of inputs and outputs come from the data.
struct model_config {
  model_kind kind = model_kind::mlp;
  std::vector<std::int64_t> hidden = {200}; ///< Of `mlp` alone.
  std::string path = {};                    ///< Of `torchscript` alone.
  /// Of residual networks: the channels of the first layers, an eighth of those
  /// of the last.
  std::int64_t width = 64;
  norm_kind norm = norm_kind::group; ///< Of residual networks.
};

} // namespace troupe::models
