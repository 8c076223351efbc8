// Bound by memory and by the copies to and from the host, so every operation is
// one simple kernel per pass over the values.

#include "kernels/cuda/cuda_backend.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/cuda/device_loops.cuh"
#include "kernels/cuda/gate.cuh"
#include "kernels/cuda/operation.cuh"
#include "kernels/cuda/side.cuh"
#include "kernels/readers.hpp"

namespace troupe::kernels {

namespace {

using cuda::operation;

std::span<const float> wire_of(const term& x) {
  return x.values;
}

std::span<const std::uint16_t> wire_of(const f16_term& x) {
  return x.from.bits;
}

std::span<const std::int8_t> wire_of(const int8_term& x) {
  return x.from.values;
}

f32_reader device_reader(const term&, const float* at) {
  return {at};
}

f16_reader device_reader(const f16_term&, const std::uint16_t* at) {
  return {at};
}

int8_reader device_reader(const int8_term& x, const std::int8_t* at) {
  return {at, static_cast<double>(x.from.scale)};
}

class cuda_backend final : public backend {
public:
  explicit cuda_backend(int ordinal) : ordinal_(ordinal) {
    // nop
  }

  std::string_view name() const noexcept override {
    return "cuda";
  }

  result<void> accumulate(std::span<const term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_terms(terms, g, sum);
  }

  result<void> accumulate(std::span<const f16_term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_terms(terms, g, sum);
  }

  result<void> accumulate(std::span<const int8_term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_terms(terms, g, sum);
  }

  result<void> finish(std::span<const float> base, std::span<const double> sum,
                      scale by, std::span<float> out) override {
    if (auto ok = check_finish(base, sum, by, out.size()); !ok || out.empty())
      return ok;
    operation on{ordinal_, buffers_};
    auto* values = on.input(base);
    const auto* total = on.input(sum);
    on.launch(cuda::finish_plain, out.size(), values, total, by);
    if (auto ok = on.finished("finish"); !ok)
      return ok;
    on.download(out, values);
    return on.finished("finish");
  }

  result<void> finish(std::span<const float> base, std::span<const double> sum,
                      double total, const server_step& step,
                      std::span<double> moments,
                      std::span<float> out) override {
    const auto n = out.size();
    const scale by{.rate = step.rate, .total = total};
    if (step.rule == server_rule::plain && moments.empty())
      return finish(base, sum, by, out);
    if (auto ok = check_finish(base, sum, by, n); !ok)
      return ok;
    if (auto ok = check_server_step(step, moments.size(), n); !ok || n == 0)
      return ok;
    operation on{ordinal_, buffers_};
    auto* values = on.input(base);
    const auto* sums = on.input(sum);
    auto* first = on.input(std::span<const double>{moments});
    auto* second = step.moment_count() == 2 ? first + n : nullptr;
    on.launch(kernel_of(step.rule), n, step, values, sums, total, first,
              second);
    if (auto ok = on.finished("finish"); !ok)
      return ok;
    on.download(out, values);
    on.download(moments, first);
    return on.finished("finish");
  }

  result<double> norm(const_array values) override {
    if (values.empty())
      return 0;
    operation on{ordinal_, buffers_};
    return norm_on_device(on, on.input(values.host()), values.size());
  }

  result<double> clip(std::span<float> values, double limit) override {
    if (auto ok = check_limit(limit); !ok)
      return tl::unexpected{ok.error()};
    if (values.empty())
      return 0;
    operation on{ordinal_, buffers_};
    auto* at = on.input(std::span<const float>{values});
    const auto before = norm_on_device(on, at, values.size());
    if (!before || !(*before > limit))
      return before;
    on.launch(cuda::multiply, values.size(), at, clip_factor(*before, limit));
    if (auto ok = on.finished("clip"); !ok)
      return tl::unexpected{ok.error()};
    on.download(values, static_cast<const float*>(at));
    if (auto ok = on.finished("clip"); !ok)
      return tl::unexpected{ok.error()};
    return before;
  }

  result<void> step(std::span<const sgd_call> all) override {
    if (auto ok = check_steps(all); !ok)
      return ok;
    for (auto [how, on] : all) {
      if (how.momentum == 0)
        on.first_moment = {};
      on.second_moment = {};
      if (how.proximal == 0)
        on.anchor = {};
      if (auto ok = local_step(cuda::descend, how, on); !ok)
        return ok;
    }
    return {};
  }

  result<void> step(std::span<const adamw_call> all) override {
    if (auto ok = check_steps(all); !ok)
      return ok;
    for (auto [how, on] : all) {
      on.anchor = {};
      if (auto ok = local_step(cuda::descend_adamw, adamw_factors{how}, on);
          !ok)
        return ok;
    }
    return {};
  }

  // Both are memory of this process as yet.
  result<void> copy(const_array from, array to) override {
    if (auto ok = check_equal({to.size(), from.size()}); !ok)
      return ok;
    std::copy(from.host().begin(), from.host().end(), to.host().begin());
    return {};
  }

  result<void> move(const_array from, float by, const_array along,
                    array to) override {
    if (auto ok = check_equal({to.size(), from.size(), along.size()});
        !ok || to.empty())
      return ok;
    operation on{ordinal_, buffers_};
    const auto* x = on.input(from.host());
    const auto* y = on.input(along.host());
    auto* out = on.room<float>(to.size());
    on.launch(cuda::move, to.size(), x, by, y, out);
    return written("move", on, to, out);
  }

  result<void> mean_slope(const_array from, const_array to, double way,
                          const_array less, array out) override {
    if (auto ok =
          check_equal({out.size(), from.size(), to.size(), less.size()});
        !ok || out.empty())
      return ok;
    operation on{ordinal_, buffers_};
    const auto* x = on.input(from.host());
    const auto* y = on.input(to.host());
    const auto* z = on.input(less.host());
    auto* found = on.room<float>(out.size());
    on.launch(cuda::mean_slope, out.size(), x, y, way, z, found);
    return written("mean_slope", on, out, found);
  }

  // They come with the training of adapters on this device.
  result<void> expand(std::span<const float>, const low_rank&,
                      std::span<float>) override {
    return fail(errc::unsupported, "expand: not on a CUDA device yet");
  }

  result<void> shrink(std::span<const float>, const low_rank&,
                      low_rank_slopes) override {
    return fail(errc::unsupported, "shrink: not on a CUDA device yet");
  }

  result<void> gate_forward(const gate_shape& of, const_array gate,
                            std::span<const float> rows,
                            gate_pass out) override {
    return cuda::gate_forward(operation{ordinal_, buffers_}, of, gate.host(),
                              rows, out);
  }

  result<void> gate_backward(const gate_shape& of, const_array gate,
                             std::span<const float> rows,
                             std::span<const float> hidden,
                             std::span<const float> along_logits,
                             array gradient) override {
    return cuda::gate_backward(operation{ordinal_, buffers_}, of, gate.host(),
                               rows, {hidden, along_logits}, gradient.host());
  }

  result<void> gate_scores(const gate_shape& of, const_array gate,
                           std::span<const float> rows,
                           std::span<double> sum) override {
    return cuda::gate_scores(operation{ordinal_, buffers_}, of, gate.host(),
                             rows, sum);
  }

  result<void> side_forward(const side_terms& of, std::span<const float> rows,
                            std::span<float> inner,
                            std::span<float> y) override {
    return cuda::side_forward(operation{ordinal_, buffers_}, of, rows, inner,
                              y);
  }

  result<void> side_backward(const side_terms& of, std::span<const float> rows,
                             std::span<const float> inner,
                             std::span<const float> along_y,
                             side_slopes out) override {
    return cuda::side_backward(operation{ordinal_, buffers_}, of, rows, inner,
                               along_y, out);
  }

private:
  using finish_kernel = void (*)(server_step, float*, const double*, double,
                                 double*, double*, std::size_t);

  static finish_kernel kernel_of(server_rule rule) {
    switch (rule) {
      case server_rule::plain:
        break; // Handled by the other `finish`.
      case server_rule::momentum:
        return cuda::finish_with<server_rule::momentum>;
      case server_rule::adam:
        return cuda::finish_with<server_rule::adam>;
      case server_rule::yogi:
        return cuda::finish_with<server_rule::yogi>;
      case server_rule::adagrad:
        return cuda::finish_with<server_rule::adagrad>;
    }
    return cuda::finish_with<server_rule::plain>;
  }

  template <class Term>
  result<void> accumulate_terms(std::span<const Term> terms, grid g,
                                std::span<double> sum) {
    const auto n = sum.size();
    if (auto ok = check_sizes(terms, g, n); !ok || n == 0 || terms.empty())
      return ok;
    operation on{ordinal_, buffers_};
    auto* total = on.input(std::span<const double>{sum});
    auto* outside = on.room<unsigned long long>(1);
    on.clear(outside, sizeof *outside);
    using wire = typename decltype(wire_of(terms[0]))::value_type;
    auto* values = on.room<wire>(n);
    for (const auto& x : terms) {
      on.upload(values, wire_of(x));
      on.launch(cuda::add_term<decltype(device_reader(x, values))>, n,
                device_reader(x, values), x.weight, g.magic(), g.product_max(),
                total, outside);
    }
    unsigned long long refused = 0;
    on.download(std::span{&refused, 1}, outside);
    if (auto ok = on.finished("accumulate"); !ok)
      return ok;
    if (refused > 0)
      return check_terms(terms, g, n);
    on.download(sum, total);
    return on.finished("accumulate");
  }

  result<double> norm_on_device(operation& on, const float* values,
                                std::size_t n) {
    static_assert(norm_lanes == 32, "a warp has 32 lanes");
    blocks_.resize((n + norm_block - 1) / norm_block);
    auto* blocks = on.room<double>(blocks_.size());
    if (on.ok()) {
      cuda::sum_squares<<<static_cast<unsigned>(blocks_.size()), norm_lanes>>>(
        values, blocks, n);
      on.check(cudaGetLastError());
    }
    on.download(std::span{blocks_}, blocks);
    if (auto ok = on.finished("norm"); !ok)
      return tl::unexpected{ok.error()};
    double total = 0;
    for (const auto x : blocks_)
      total += x;
    return check_norm(std::sqrt(total));
  }

  static result<void> written(const char* what, operation& on, array to,
                              const float* from) {
    if (auto ok = on.finished(what); !ok)
      return ok;
    on.download(to.host(), from);
    return on.finished(what);
  }

  template <class Step>
  result<void> local_step(void (*kernel)(Step, cuda::step_pointers,
                                         std::size_t),
                          const Step& how, const step_buffers& host) {
    operation on{ordinal_, buffers_};
    const auto n = host.weights.size();
    if (n == 0)
      return {};
    const auto input = [&](const_array from) {
      return from.empty() ? nullptr : on.input(from.host());
    };
    const cuda::step_pointers at{
      input(host.weights),       input(host.gradient), input(host.first_moment),
      input(host.second_moment), input(host.anchor),   input(host.correction)};
    on.launch(kernel, n, how, at);
    if (auto ok = on.finished("step"); !ok)
      return ok;
    const auto output = [&](array to, const float* from) {
      if (!to.empty())
        on.download(to.host(), from);
    };
    output(host.weights, at.weights);
    output(host.first_moment, at.first);
    output(host.second_moment, at.second);
    if (auto ok = on.finished("step"); !ok)
      return ok;
    const auto gradient = host.gradient.host();
    std::fill(gradient.begin(), gradient.end(), 0.f);
    return {};
  }

  int ordinal_;
  cuda::device_buffers buffers_;
  std::vector<double> blocks_;
};

} // namespace

result<std::unique_ptr<backend>> make_cuda_backend(int ordinal) {
  int count = 0;
  const auto status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess)
    return fail(errc::unsupported, std::string{"no CUDA device here: "}
                                     + cudaGetErrorString(status));
  if (ordinal < 0 || ordinal >= count)
    return fail(errc::unsupported, "no CUDA device " + std::to_string(ordinal)
                                     + " here, found " + std::to_string(count));
  return std::make_unique<cuda_backend>(ordinal);
}

} // namespace troupe::kernels
