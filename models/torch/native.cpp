#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/torch/linear.hpp"
#include "models/torch/network.hpp"

// The built-in models: a list of tensors with the range of their first values,
// and a plain function over them.

namespace troupe::models {

namespace {

using tensors = std::vector<at::Tensor>;

/// First values are uniform in `centre` ± `spread`.
struct start {
  double centre = 0;
  double spread = 0;
};

struct architecture {
  tensor_list parameters;
  std::vector<start> starts;
  std::function<at::Tensor(const tensors& weights, at::Tensor x, phase)>
    forward;

  void add(std::string name, std::vector<std::int64_t> shape, start from) {
    parameters.push_back({std::move(name), std::move(shape)});
    starts.push_back(from);
  }

  // The ranges are those that torch's own layers begin with.

  void add_linear(const std::string& name, std::int64_t from, std::int64_t to) {
    const start range{0, 1 / std::sqrt(static_cast<double>(from))};
    add(name + ".weight", {to, from}, range);
    add(name + ".bias", {to}, range);
  }

  void add_convolution(const std::string& name, std::array<std::int64_t, 3> x) {
    const auto [from, to, width] = x;
    const start range{0,
                      1 / std::sqrt(static_cast<double>(from * width * width))};
    add(name + ".weight", {to, from, width, width}, range);
  }

  void add_bias(const std::string& name, double fan_in, std::int64_t size) {
    add(name + ".bias", {size}, {0, 1 / std::sqrt(fan_in)});
  }

  void add_norm(const std::string& name, std::int64_t channels) {
    add(name + ".weight", {channels}, {1, 0});
    add(name + ".bias", {channels}, {0, 0});
  }
};

struct image {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

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
  result.forward = [](const tensors& w, at::Tensor x, phase) {
    if (x.dim() != 2)
      x = x.flatten(1);
    for (std::size_t i = 0; i + 2 < w.size(); i += 2)
      x = linear_layer(x, w[i], w[i + 1]).relu_();
    return linear_layer(x, w[w.size() - 2], w.back());
  };
  return result;
}

architecture make_cnn(image of, std::int64_t classes) {
  constexpr std::int64_t first = 16, second = 32, width = 5;
  architecture result;
  result.add_convolution("convolution1", {of.channels, first, width});
  result.add_bias("convolution1", of.channels * width * width, first);
  result.add_convolution("convolution2", {first, second, width});
  result.add_bias("convolution2", first * width * width, second);
  result.add_linear("output", second * (of.height / 4) * (of.width / 4),
                    classes);
  result.forward = [of](const tensors& w, at::Tensor x, phase) {
    x = x.view({x.size(0), of.channels, of.height, of.width});
    x = at::max_pool2d(at::conv2d(x, w[0], w[1], 1, width / 2).relu_(), 2);
    x = at::max_pool2d(at::conv2d(x, w[2], w[3], 1, width / 2).relu_(), 2);
    return linear_layer(x.flatten(1), w[4], w[5]);
  };
  return result;
}

// The two that FLoRAL is published with.

architecture make_lenet(image of, std::int64_t classes) {
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
  result.forward = [of](const tensors& w, at::Tensor x, phase) {
    x = x.view({x.size(0), of.channels, of.height, of.width});
    x = at::max_pool2d(at::conv2d(x, w[0], w[1]).relu_(), 2);
    x = at::max_pool2d(at::conv2d(x, w[2], w[3]).relu_(), 3);
    x = linear_layer(x.flatten(1), w[4], w[5]).relu_();
    return linear_layer(x, w[6], w[7]);
  };
  return result;
}

constexpr std::array<std::int64_t, 5> vgg8_widths{16, 32, 64, 128, 512};

at::Tensor vgg8_logits(const tensors& w, at::Tensor x, phase what) {
  const bool drops = what == phase::training;
  std::size_t next = 0;
  for (; next < 2 * vgg8_widths.size(); next += 2)
    x = at::max_pool2d(at::conv2d(x, w[next], w[next + 1], 1, 1).relu_(), 2);
  x = x.flatten(1);
  for (int i = 0; i < 2; ++i, next += 2)
    x = linear_layer(at::dropout(x, 0.5, drops), w[next], w[next + 1]).relu_();
  return linear_layer(x, w[next], w[next + 1]);
}

architecture make_vgg8(image of, std::int64_t classes) {
  constexpr std::int64_t hidden = 512;
  architecture result;
  auto from = of.channels;
  for (std::size_t i = 0; i < vgg8_widths.size(); ++i) {
    const auto name = "convolution" + std::to_string(i + 1);
    const auto to = vgg8_widths[i];
    // Published with normal draws; these have the same variance.
    const start range{0, std::sqrt(6 / (9.0 * static_cast<double>(to)))};
    result.add(name + ".weight", {to, from, 3, 3}, range);
    result.add(name + ".bias", {to}, {0, 0});
    from = to;
  }
  result.add_linear("hidden1", from * (of.height / 32) * (of.width / 32),
                    hidden);
  result.add_linear("hidden2", hidden, hidden);
  result.add_linear("output", hidden, classes);
  result.forward = [of](const tensors& w, at::Tensor x, phase what) {
    x = x.view({x.size(0), of.channels, of.height, of.width});
    return vgg8_logits(w, x, what);
  };
  return result;
}

// ResNet-18 (He et al., 2016) for small images: the first layer is 3x3 without
// pooling, and group norm takes the place of batch norm, whose statistics mean
// nothing across clients.

constexpr std::int64_t norm_groups = 32;

struct residual_block {
  std::int64_t from;
  std::int64_t to;
  std::int64_t stride;

  bool projects() const noexcept {
    return from != to || stride != 1;
  }
};

std::vector<residual_block> resnet18_blocks() {
  std::vector<residual_block> result;
  std::int64_t from = 64;
  for (const std::int64_t to : {64, 128, 256, 512}) {
    result.push_back({from, to, from == to ? 1 : 2});
    result.push_back({to, to, 1});
    from = to;
  }
  return result;
}

at::Tensor resnet18_logits(const tensors& w, at::Tensor x) {
  std::size_t next = 0;
  const auto convolve = [&](const at::Tensor& y, std::int64_t stride) {
    const auto& kernel = w[next++];
    return at::conv2d(y, kernel, {}, stride, kernel.size(2) / 2);
  };
  const auto normalise = [&](const at::Tensor& y) {
    next += 2;
    return at::group_norm(y, norm_groups, w[next - 2], w[next - 1]);
  };
  x = normalise(convolve(x, 1)).relu_();
  for (const auto& block : resnet18_blocks()) {
    auto y = normalise(convolve(x, block.stride)).relu_();
    y = normalise(convolve(y, 1));
    x = (y + (block.projects() ? normalise(convolve(x, block.stride)) : x))
          .relu_();
  }
  return linear_layer(at::mean(x, {2, 3}), w[next], w[next + 1]);
}

architecture make_resnet18(image of, std::int64_t classes) {
  architecture result;
  result.add_convolution("first", {of.channels, 64, 3});
  result.add_norm("first.norm", 64);
  int number = 0;
  for (const auto& block : resnet18_blocks()) {
    const auto name = "block" + std::to_string(++number);
    result.add_convolution(name + ".convolution1", {block.from, block.to, 3});
    result.add_norm(name + ".norm1", block.to);
    result.add_convolution(name + ".convolution2", {block.to, block.to, 3});
    result.add_norm(name + ".norm2", block.to);
    if (block.projects()) {
      result.add_convolution(name + ".shortcut", {block.from, block.to, 1});
      result.add_norm(name + ".shortcut.norm", block.to);
    }
  }
  result.add_linear("output", 512, classes);
  result.forward = [of](const tensors& w, at::Tensor x, phase) {
    return resnet18_logits(
      w, x.view({x.size(0), of.channels, of.height, of.width}));
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
    return no_buffers_;
  }

  void bind(tensors parameters, tensors) override {
    TROUPE_ASSERT(parameters.size() == model_.parameters.size());
    weights_ = std::move(parameters);
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
    return {};
  }

  at::Tensor forward(const tensors& inputs, phase what) override {
    return model_.forward(weights_, inputs[0], what);
  }

private:
  architecture model_;
  tensor_list no_buffers_;
  tensors weights_;
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
  image of;
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
                                         : make_resnet18(of, classes);
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
