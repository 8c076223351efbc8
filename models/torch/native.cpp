#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/torch/architecture.hpp"
#include "models/torch/linear.hpp"
#include "models/torch/network.hpp"
#include "models/torch/perceptron.hpp"
#include "models/torch/residual.hpp"

// The built-in models. Each ends in a linear layer, which is written once.

namespace troupe::models {

namespace {

using tensors = architecture::tensors;

architecture make_mlp(std::int64_t inputs,
                      const std::vector<std::int64_t>& hidden,
                      std::int64_t classes) {
  architecture result;
  auto from = inputs;
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    result.add_linear("hidden" + std::to_string(i + 1), from, hidden[i]);
    from = hidden[i];
  }
  result.add_linear("output", from, classes);
  result.features = [](const tensors& w, const tensors&, at::Tensor x, phase) {
    return perceptron_features(w.size(), std::move(x),
                               [&w](std::size_t i, const at::Tensor& from) {
                                 return linear_layer(from, w[i], w[i + 1]);
                               });
  };
  return result;
}

architecture make_cnn(image_extents of, std::int64_t classes) {
  constexpr std::int64_t first = 16, second = 32, width = 5;
  architecture result;
  result.add_convolution("convolution1", {of.channels, first, width});
  result.add_bias("convolution1", of.channels * width * width, first);
  result.add_convolution("convolution2", {first, second, width});
  result.add_bias("convolution2", first * width * width, second);
  result.add_linear("output", second * (of.height / 4) * (of.width / 4),
                    classes);
  result.features = [of](const tensors& w, const tensors&, at::Tensor x,
                         phase) {
    x = x.view({x.size(0), of.channels, of.height, of.width});
    x = at::max_pool2d(at::conv2d(x, w[0], w[1], 1, width / 2).relu_(), 2);
    x = at::max_pool2d(at::conv2d(x, w[2], w[3], 1, width / 2).relu_(), 2);
    return x.flatten(1);
  };
  return result;
}

// The two that FLoRAL is published with.

architecture make_lenet(image_extents of, std::int64_t classes) {
  constexpr std::int64_t first = 32, second = 64, hidden = 64;
  const auto left = [](std::int64_t n) { return ((n - 4) / 2 - 2) / 3; };
  architecture result;
  result.add_convolution("convolution1", {of.channels, first, 5});
  result.add_bias("convolution1", of.channels * 25, first);
  result.add_convolution("convolution2", {first, second, 3});
  result.add_bias("convolution2", first * 9, second);
  result.add_linear("hidden", second * left(of.height) * left(of.width),
                    hidden);
  result.add_linear("output", hidden, classes);
  result.features = [of](const tensors& w, const tensors&, at::Tensor x,
                         phase) {
    x = x.view({x.size(0), of.channels, of.height, of.width});
    x = at::max_pool2d(at::conv2d(x, w[0], w[1]).relu_(), 2);
    x = at::max_pool2d(at::conv2d(x, w[2], w[3]).relu_(), 3);
    return linear_layer(x.flatten(1), w[4], w[5]).relu_();
  };
  return result;
}

constexpr std::array<std::int64_t, 5> vgg8_widths{16, 32, 64, 128, 512};

at::Tensor vgg8_features(const tensors& w, at::Tensor x, phase what) {
  const bool drops = what == phase::training;
  std::size_t next = 0;
  for (; next < 2 * vgg8_widths.size(); next += 2)
    x = at::max_pool2d(at::conv2d(x, w[next], w[next + 1], 1, 1).relu_(), 2);
  x = x.flatten(1);
  for (int i = 0; i < 2; ++i, next += 2)
    x = linear_layer(at::dropout(x, 0.5, drops), w[next], w[next + 1]).relu_();
  return x;
}

architecture make_vgg8(image_extents of, std::int64_t classes) {
  constexpr std::int64_t hidden = 512;
  architecture result;
  auto from = of.channels;
  for (std::size_t i = 0; i < vgg8_widths.size(); ++i) {
    const auto name = "convolution" + std::to_string(i + 1);
    const auto to = vgg8_widths[i];
    // Published with normal draws; these have the same variance.
    const first_range range{0, std::sqrt(6 / (9.0 * static_cast<double>(to)))};
    result.add(name + ".weight", {to, from, 3, 3}, range);
    result.add(name + ".bias", {to}, {0, 0});
    from = to;
  }
  result.add_linear("hidden1", from * (of.height / 32) * (of.width / 32),
                    hidden);
  result.add_linear("hidden2", hidden, hidden);
  result.add_linear("output", hidden, classes);
  result.features = [of](const tensors& w, const tensors&, at::Tensor x,
                         phase what) {
    x = x.view({x.size(0), of.channels, of.height, of.width});
    return vgg8_features(w, x, what);
  };
  return result;
}

class native_network : public network {
public:
  explicit native_network(architecture x) : model_(std::move(x)) {
    // nop
  }

  const tensor_list& parameter_list() const noexcept override {
    return model_.parameters;
  }

  const tensor_list& buffer_list() const noexcept override {
    return model_.buffers;
  }

  void bind(tensors parameters, tensors buffers) override {
    TROUPE_ASSERT(parameters.size() == model_.parameters.size());
    TROUPE_ASSERT(buffers.size() == model_.buffers.size());
    weights_ = std::move(parameters);
    buffers_ = std::move(buffers);
  }

  std::vector<float> initial_parameters(std::uint64_t seed) const override {
    std::vector<float> result;
    result.reserve(size_of(model_.parameters));
    for (std::size_t i = 0; i < model_.parameters.size(); ++i) {
      const auto [centre, spread] = model_.starts[i];
      random_stream draws{derive_seed(seed, "initial parameters", i)};
      for (std::size_t j = 0; j < model_.parameters[i].size(); ++j)
        result.push_back(static_cast<float>(
          spread > 0 ? centre + spread * (2 * draws.uniform() - 1) : centre));
    }
    return result;
  }

  std::vector<float> initial_buffers() const override {
    return model_.first_buffers;
  }

  at::Tensor forward(const tensors& inputs, phase what) override {
    return linear_layer(embed(inputs, what), weights_[weights_.size() - 2],
                        weights_.back());
  }

  at::Tensor embed(const tensors& inputs, phase what) override {
    return model_.features(weights_, buffers_, inputs[0], what);
  }

  std::int64_t embedding_width() const noexcept override {
    return model_.width();
  }

private:
  architecture model_;
  tensors weights_;
  tensors buffers_;
};

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string result;
  for (const auto x : shape)
    result += (result.empty() ? "" : "x") + std::to_string(x);
  return "[" + result + "]";
}

/// Below it, nothing is left after the pooling.
std::int64_t least_edge(model_kind x) {
  if (x == model_kind::vgg8)
    return 32;
  return x == model_kind::lenet ? 14 : 4;
}

result<architecture> make_architecture(const model_config& config,
                                       const std::vector<std::int64_t>& shape,
                                       std::int64_t classes) {
  const auto size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1},
                                    std::multiplies{});
  if (config.kind == model_kind::softmax)
    return make_mlp(size, {}, classes);
  if (config.kind == model_kind::mlp) {
    for (const auto width : config.hidden)
      if (width < 1)
        return fail(errc::invalid_config,
                    "model.hidden: widths are 1 or more, found "
                      + std::to_string(width));
    return make_mlp(size, config.hidden, classes);
  }
  if (config.width < 1)
    return fail(errc::invalid_config,
                "model.width: residual networks have 1 channel or more, found "
                  + std::to_string(config.width));
  image_extents of;
  if (shape.size() == 2)
    of = {1, shape[0], shape[1]};
  else if (shape.size() == 3)
    of = {shape[0], shape[1], shape[2]};
  const auto least = least_edge(config.kind);
  const auto edge = std::to_string(least);
  if (of.height < least || of.width < least)
    return fail(errc::invalid_config,
                "model.kind '" + std::string{name_of(config.kind)}
                  + "' takes images [channels x height x width] of " + edge
                  + "x" + edge + " or more; an example of this data has shape "
                  + text_of(shape));
  if (config.kind == model_kind::cnn)
    return make_cnn(of, classes);
  if (config.kind == model_kind::lenet)
    return make_lenet(of, classes);
  return config.kind == model_kind::vgg8 ? make_vgg8(of, classes)
                                         : make_residual(config, of, classes);
}

} // namespace

result<std::unique_ptr<network>> make_native_network(const model_config& config,
                                                     const dataset& data) {
  const auto& inputs = data.train.inputs;
  if (inputs.size() != 1
      || std::holds_alternative<std::vector<std::int64_t>>(inputs[0].values))
    return fail(errc::invalid_config,
                "model.kind '" + std::string{name_of(config.kind)}
                  + "' takes one input of real numbers; for other data bring a "
                    "model of kind 'torchscript'");
  auto made = make_architecture(config, inputs[0].shape, data.classes);
  if (!made)
    return tl::unexpected{std::move(made.error())};
  return std::make_unique<native_network>(std::move(*made));
}

} // namespace troupe::models
