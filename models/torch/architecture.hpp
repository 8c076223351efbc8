#pragma once

// A built-in network as data: a list of tensors with the range of their first
// values, and a plain function over them.

#include <ATen/core/Tensor.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/objective.hpp"
#include "models/torch/network.hpp"

namespace troupe::models {

/// First values are uniform in `centre` ± `spread`.
struct first_range {
  double centre = 0;
  double spread = 0;
};

struct image_extents {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct architecture {
  using tensors = std::vector<at::Tensor>;

  tensor_list parameters; ///< The last two are those of a linear layer.
  std::vector<first_range> starts;
  tensor_list buffers = {};
  std::vector<float> first_buffers = {};
  /// All but that last layer: what goes into it, [examples, width].
  std::function<at::Tensor(const tensors& weights, const tensors& buffers,
                           at::Tensor x, phase)>
    features;

  /// Of what goes into the last layer.
  std::int64_t width() const {
    return parameters[parameters.size() - 2].shape[1];
  }

  void add(std::string name, std::vector<std::int64_t> shape,
           first_range from) {
    parameters.push_back({std::move(name), std::move(shape)});
    starts.push_back(from);
  }

  // The ranges are those that torch's own layers begin with.

  void add_linear(const std::string& name, std::int64_t from, std::int64_t to) {
    const first_range range{0, 1 / std::sqrt(static_cast<double>(from))};
    add(name + ".weight", {to, from}, range);
    add(name + ".bias", {to}, range);
  }

  void add_convolution(const std::string& name, std::array<std::int64_t, 3> x) {
    const auto [from, to, edge] = x;
    const first_range range{
      0, 1 / std::sqrt(static_cast<double>(from * edge * edge))};
    add(name + ".weight", {to, from, edge, edge}, range);
  }

  void add_bias(const std::string& name, double fan_in, std::int64_t size) {
    add(name + ".bias", {size}, {0, 1 / std::sqrt(fan_in)});
  }

  void add_norm(const std::string& name, std::int64_t channels) {
    add(name + ".weight", {channels}, {1, 0});
    add(name + ".bias", {channels}, {0, 0});
  }

  /// Where a norm remembers what it has seen.
  void add_statistics(const std::string& name, std::int64_t channels) {
    const auto count = static_cast<std::size_t>(channels);
    buffers.push_back({name + ".running_mean", {channels}});
    first_buffers.insert(first_buffers.end(), count, 0.f);
    buffers.push_back({name + ".running_var", {channels}});
    first_buffers.insert(first_buffers.end(), count, 1.f);
  }
};

} // namespace troupe::models
