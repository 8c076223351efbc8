#include "kernels/cpu/cpu_backend.hpp"

#include <algorithm>
#include <cmath>

#include "core/assert.hpp"
#include "kernels/checks.hpp"
#include "kernels/cpu/cpu_gate.hpp"
#include "kernels/cpu/cpu_side.hpp"
#include "kernels/cpu/loops.hpp"
#include "kernels/readers.hpp"

namespace troupe::kernels {

namespace {

// So many values of each buffer stay in the first-level cache while all terms,
// or all parts of a step, pass over them. It is a page of floats: prefetching
// ends there.
constexpr std::size_t tile_size = 1024;

/// One pass over memory, which checks what it adds. If something is outside,
/// all is taken back.
template <class Term>
result<void> accumulate_tiles(std::span<const Term> terms, grid g,
                              std::span<double> sum) {
  if (auto ok = check_sizes(terms, g, sum.size()); !ok)
    return ok;
  const auto add_tile = [&](std::size_t first, std::size_t n, double sign) {
    std::size_t outside = 0;
    for (const auto& x : terms)
      outside += loops::add(reader_of(x, first), sign * x.weight, g,
                            sum.data() + first, n);
    return outside;
  };
  for (std::size_t first = 0; first < sum.size(); first += tile_size) {
    const auto n = std::min(tile_size, sum.size() - first);
    if (add_tile(first, n, 1) > 0) {
      add_tile(0, first + n, -1);
      auto refusal = check_terms(terms, g, sum.size());
      TROUPE_ASSERT(!refusal);
      return refusal;
    }
  }
  return {};
}

/// Calls f(first, size) for each tile of a local step.
template <class F>
void for_each_tile(std::size_t n, F f) {
  for (std::size_t first = 0; first < n; first += tile_size)
    f(first, std::min(tile_size, n - first));
}

class cpu_backend final : public backend {
public:
  std::string_view name() const noexcept override {
    return "cpu";
  }

  result<void> accumulate(std::span<const term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_tiles(terms, g, sum);
  }

  result<void> accumulate(std::span<const f16_term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_tiles(terms, g, sum);
  }

  result<void> accumulate(std::span<const int8_term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_tiles(terms, g, sum);
  }

  result<void> finish(std::span<const float> base, std::span<const double> sum,
                      scale by, std::span<float> out) override {
    if (auto ok = check_finish(base, sum, by, out.size()); !ok)
      return ok;
    loops::finish(base.data(), sum.data(), by, out.data(), out.size());
    return {};
  }

  result<void> finish(std::span<const float> base, std::span<const double> sum,
                      double total, const server_step& step,
                      std::span<double> moments,
                      std::span<float> out) override {
    const scale by{.rate = step.rate, .total = total};
    if (auto ok = check_finish(base, sum, by, out.size()); !ok)
      return ok;
    if (auto ok = check_server_step(step, moments.size(), out.size()); !ok)
      return ok;
    if (step.rule == server_rule::plain) {
      loops::finish(base.data(), sum.data(), by, out.data(), out.size());
      return {};
    }
    auto* second =
      step.moment_count() == 2 ? moments.data() + out.size() : nullptr;
    loops::finish(base.data(), sum.data(), total, step, moments.data(), second,
                  out.data(), out.size());
    return {};
  }

  result<double> norm(const_array x) override {
    const auto values = x.host();
    return check_norm(
      std::sqrt(loops::sum_of_squares(values.data(), values.size())));
  }

  result<double> clip(std::span<float> values, double limit) override {
    if (auto ok = check_limit(limit); !ok)
      return tl::unexpected{ok.error()};
    const auto before = norm(values);
    if (before && *before > limit)
      loops::multiply(values.data(), clip_factor(*before, limit),
                      values.size());
    return before;
  }

  result<void> step(std::span<const sgd_call> all) override {
    if (auto ok = check_steps(all); !ok)
      return ok;
    for (const auto& x : all)
      make(x.how, x.on);
    return {};
  }

  result<void> step(std::span<const adamw_call> all) override {
    if (auto ok = check_steps(all); !ok)
      return ok;
    for (const auto& x : all)
      make(adamw_factors{x.how}, x.on);
    return {};
  }

  result<void> copy(const_array from, array to) override {
    if (auto ok = check_equal({to.size(), from.size()}); !ok)
      return ok;
    std::ranges::copy(from.host(), to.host().begin());
    return {};
  }

  result<void> move(const_array from, float by, const_array along,
                    array to) override {
    if (auto ok = check_equal({to.size(), from.size(), along.size()}); !ok)
      return ok;
    loops::move(from.host().data(), by, along.host().data(), to.host().data(),
                to.size());
    return {};
  }

  result<void> mean_slope(const_array from, const_array to, double way,
                          const_array less, array out) override {
    if (auto ok =
          check_equal({out.size(), from.size(), to.size(), less.size()});
        !ok)
      return ok;
    loops::mean_slope(from.host().data(), to.host().data(), way,
                      less.host().data(), out.host().data(), out.size());
    return {};
  }

  result<void> expand(std::span<const float> base, const low_rank& x,
                      std::span<float> out) override {
    if (auto ok = check_low_rank(x, base.size(), out.size()); !ok)
      return ok;
    for (std::size_t i = 0; i < x.rows; ++i)
      loops::expand_row(base.data() + i * x.columns, x, i,
                        out.data() + i * x.columns);
    return {};
  }

  result<void> shrink(std::span<const float> gradient, const low_rank& x,
                      low_rank_slopes out) override {
    if (auto ok = check_low_rank(x, gradient.size(), gradient.size()); !ok)
      return ok;
    if (auto ok = check_slopes(x, out); !ok)
      return ok;
    std::ranges::fill(out.v, 0.f);
    std::ranges::fill(out.scale, 0.0);
    // Rows of the gradient stay in the cache while all ranks pass over them.
    std::size_t i = 0;
    for (; i + loops::shrink_rows_max <= x.rows; i += loops::shrink_rows_max)
      loops::shrink_rows(gradient.data() + i * x.columns, x, i, out);
    for (; i < x.rows; ++i)
      loops::shrink_row(gradient.data() + i * x.columns, x, i, out);
    return {};
  }

  result<void> gate_forward(const gate_shape& of, const_array gate,
                            std::span<const float> rows,
                            gate_pass out) override {
    return gate_.forward(of, gate.host(), rows, out);
  }

  result<void> gate_backward(const gate_shape& of, const_array gate,
                             std::span<const float> rows,
                             std::span<const float> hidden,
                             std::span<const float> along_logits,
                             array gradient) override {
    return gate_.backward(of, gate.host(), rows, hidden, along_logits,
                          gradient.host());
  }

  result<void> gate_scores(const gate_shape& of, const_array gate,
                           std::span<const float> rows,
                           std::span<double> sum) override {
    return gate_.scores(of, gate.host(), rows, sum);
  }

  result<void> side_forward(const side_terms& of, std::span<const float> rows,
                            std::span<float> inner,
                            std::span<float> y) override {
    return side_.forward(of, rows, inner, y);
  }

  result<void> side_backward(const side_terms& of, std::span<const float> rows,
                             std::span<const float> inner,
                             std::span<const float> along_y,
                             side_slopes out) override {
    return side_.backward(of, rows, inner, along_y, out);
  }

private:
  /// The parts that are in use pass over a tile, one after the other.
  static void make(const sgd_step& how, const step_buffers& on) {
    const auto all_weights = on.weights.host(), slopes = on.gradient.host();
    const auto anchor = on.anchor.host(), correction = on.correction.host();
    const auto momentum = on.first_moment.host();
    for_each_tile(all_weights.size(), [&](std::size_t at, std::size_t n) {
      auto* weights = all_weights.data() + at;
      auto* gradient = slopes.data() + at;
      if (how.decay != 0)
        loops::add_decay(gradient, how.decay, weights, n);
      if (how.proximal != 0)
        loops::add_proximal(gradient, how.proximal, weights, anchor.data() + at,
                            n);
      if (!correction.empty())
        loops::add_correction(gradient, correction.data() + at, n);
      if (how.momentum != 0)
        loops::descend_with_momentum(weights, how, gradient,
                                     momentum.data() + at, n);
      else
        loops::descend(weights, how.rate, gradient, n);
    });
  }

  static void make(const adamw_factors& how, const step_buffers& on) {
    const auto weights = on.weights.host(), slopes = on.gradient.host();
    const auto first = on.first_moment.host();
    const auto second = on.second_moment.host();
    const auto correction = on.correction.host();
    for_each_tile(weights.size(), [&](std::size_t at, std::size_t n) {
      auto* gradient = slopes.data() + at;
      if (!correction.empty())
        loops::add_correction(gradient, correction.data() + at, n);
      loops::adamw(how, weights.data() + at, gradient, first.data() + at,
                   second.data() + at, n);
    });
  }

  cpu_gate gate_;
  cpu_side side_;
};

} // namespace

std::unique_ptr<backend> make_cpu_backend() {
  return std::make_unique<cpu_backend>();
}

} // namespace troupe::kernels
