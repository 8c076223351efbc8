#include "models/torch/residual.hpp"

#include <ATen/ATen.h>

#include <numeric>

#include "models/torch/linear.hpp"

// ResNet-18 and ResNet-34 (He et al., 2016) for small images: the first layer
// is 3x3 without pooling. Group norm takes the place of batch norm, whose
// statistics mean little across clients, unless one asks for that.

namespace troupe::models {

namespace {

using tensors = architecture::tensors;

struct residual_block {
  std::int64_t from;
  std::int64_t to;
  std::int64_t stride;

  bool projects() const noexcept {
    return from != to || stride != 1;
  }
};

std::vector<residual_block> blocks_of(const model_config& config) {
  const bool deep = config.kind == model_kind::resnet34;
  const std::array<int, 4> counts =
    deep ? std::array{3, 4, 6, 3} : std::array{2, 2, 2, 2};
  std::vector<residual_block> result;
  auto from = config.width;
  auto to = config.width;
  for (const int count : counts) {
    for (int i = 0; i < count; ++i) {
      result.push_back({from, to, from == to ? 1 : 2});
      from = to;
    }
    to *= 2;
  }
  return result;
}

/// At most 32, of two channels or more: one alone has no deviation where
/// pooling left one pixel of it.
std::int64_t groups_of(std::int64_t channels) {
  const auto groups = std::gcd(std::int64_t{32}, channels);
  return groups == channels && groups > 1 ? groups / 2 : groups;
}

/// One pass, which takes tensors in the order in which they were listed.
class residual_pass {
public:
  residual_pass(const tensors& weights, const tensors& buffers, phase what)
    : weights_(weights),
      buffers_(buffers),
      what_(what) {
    // nop
  }

  at::Tensor through(const at::Tensor& x, std::int64_t stride) {
    return normalise(convolve(x, stride));
  }

private:
  at::Tensor convolve(const at::Tensor& x, std::int64_t stride) {
    const auto& kernel = weights_[next_++];
    return at::conv2d(x, kernel, {}, stride, kernel.size(2) / 2);
  }

  at::Tensor normalise(const at::Tensor& x) {
    next_ += 2;
    const auto& weight = weights_[next_ - 2];
    const auto& bias = weights_[next_ - 1];
    if (buffers_.empty())
      return at::group_norm(x, groups_of(weight.size(0)), weight, bias);
    const bool trains = what_ == phase::training;
    TORCH_CHECK(!trains || x.numel() > x.size(1),
                "batch norm finds one value of a channel, which has no "
                "deviation; larger batches or images would do, or norm = "
                "'group'");
    next_buffer_ += 2;
    return at::batch_norm(x, weight, bias, buffers_[next_buffer_ - 2],
                          buffers_[next_buffer_ - 1], trains, 0.1, 1e-5, false);
  }

  const tensors& weights_;
  const tensors& buffers_;
  phase what_;
  std::size_t next_ = 0;
  std::size_t next_buffer_ = 0;
};

} // namespace

architecture make_residual(const model_config& config, image_extents of,
                           std::int64_t classes) {
  architecture result;
  const auto add = [&](const std::string& name, const std::string& norm,
                       std::array<std::int64_t, 3> x) {
    result.add_convolution(name, x);
    result.add_norm(norm, x[1]);
    if (config.norm == norm_kind::batch)
      result.add_statistics(norm, x[1]);
  };
  add("first", "first.norm", {of.channels, config.width, 3});
  const auto blocks = blocks_of(config);
  int number = 0;
  for (const auto& block : blocks) {
    const auto name = "block" + std::to_string(++number);
    add(name + ".convolution1", name + ".norm1", {block.from, block.to, 3});
    add(name + ".convolution2", name + ".norm2", {block.to, block.to, 3});
    if (block.projects())
      add(name + ".shortcut", name + ".shortcut.norm",
          {block.from, block.to, 1});
  }
  result.add_linear("output", blocks.back().to, classes);
  result.features = [of, blocks](const tensors& w, const tensors& buffers,
                                 at::Tensor x, phase what) {
    residual_pass pass{w, buffers, what};
    x = x.view({x.size(0), of.channels, of.height, of.width});
    x = pass.through(x, 1).relu_();
    for (const auto& block : blocks) {
      auto y = pass.through(x, block.stride).relu_();
      y = pass.through(y, 1);
      x = (y + (block.projects() ? pass.through(x, block.stride) : x)).relu_();
    }
    return at::mean(x, {2, 3});
  };
  return result;
}

} // namespace troupe::models
