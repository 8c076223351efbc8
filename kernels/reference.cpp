#include "kernels/reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/readers.hpp"
#include "kernels/reference_parts.hpp"

namespace troupe::kernels {

namespace {

template <class Term>
result<void> accumulate_steps(std::span<const Term> terms, grid g,
                              std::span<double> sum) {
  if (auto ok = check_terms(terms, g, sum.size()); !ok)
    return ok;
  for (std::size_t j = 0; j < sum.size(); ++j) {
    // nearbyint rounds ties to even, as adding to the grid's magic does.
    auto steps = std::llround(std::ldexp(sum[j], g.fraction_bits));
    for (const auto& x : terms)
      steps += static_cast<long long>(std::nearbyint(
        std::ldexp(x.weight * reader_of(x)[j], g.fraction_bits)));
    sum[j] = std::ldexp(static_cast<double>(steps), -g.fraction_bits);
  }
  return {};
}

/// One value's step of an adaptive rule: Reddi et al. (2021), algorithm 2.
real adaptive_change(const server_step& how, real change, double& first,
                     double& second) {
  const real tau = how.tau, beta1 = how.beta1, beta2 = how.beta2;
  const real square = change * change;
  const real m = beta1 * first + (1 - beta1) * change;
  real v =
    std::max<real>(second + tau * tau, 0); // Below only if tau grew since.
  if (how.rule == server_rule::adam)
    v = beta2 * v + (1 - beta2) * square;
  else if (how.rule == server_rule::yogi && v > square)
    v -= (1 - beta2) * square;
  else if (how.rule == server_rule::yogi && v < square)
    v += (1 - beta2) * square;
  else if (how.rule == server_rule::adagrad)
    v += square;
  first = static_cast<double>(m);
  second = static_cast<double>(v - tau * tau);
  return how.rate * m / (std::sqrt(v) + tau);
}

class reference_backend final : public backend {
public:
  std::string_view name() const noexcept override {
    return "reference";
  }

  result<void> accumulate(std::span<const term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_steps(terms, g, sum);
  }

  result<void> accumulate(std::span<const f16_term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_steps(terms, g, sum);
  }

  result<void> accumulate(std::span<const int8_term> terms, grid g,
                          std::span<double> sum) override {
    return accumulate_steps(terms, g, sum);
  }

  // The one operation with a promise about bits that needs roundings in
  // between.
  result<void> finish(std::span<const float> base, std::span<const double> sum,
                      scale by, std::span<float> out) override {
    if (auto ok = check_finish(base, sum, by, out.size()); !ok)
      return ok;
    for (std::size_t j = 0; j < out.size(); ++j) {
      const double mean = sum[j] / by.total;
      const double change = by.rate * mean;
      out[j] = static_cast<float>(base[j] + change);
    }
    return {};
  }

  result<void> finish(std::span<const float> base, std::span<const double> sum,
                      double total, const server_step& step,
                      std::span<double> moments,
                      std::span<float> out) override {
    const auto size = out.size();
    const scale by{.rate = step.rate, .total = total};
    if (auto ok = check_finish(base, sum, by, size); !ok)
      return ok;
    if (auto ok = check_server_step(step, moments.size(), size); !ok)
      return ok;
    if (step.rule == server_rule::plain)
      return finish(base, sum, by, out);
    for (std::size_t j = 0; j < size; ++j) {
      const real change = static_cast<real>(sum[j]) / total;
      if (step.rule == server_rule::momentum) {
        const real m = static_cast<real>(step.beta1) * moments[j] + change;
        moments[j] = static_cast<double>(m);
        out[j] = static_cast<float>(base[j] + step.rate * m);
      } else {
        out[j] = static_cast<float>(
          base[j]
          + adaptive_change(step, change, moments[j], moments[size + j]));
      }
    }
    return {};
  }

  result<double> norm(const_array values) override {
    real sum = 0;
    for (const real x : values.host())
      sum += x * x;
    return check_norm(static_cast<double>(std::sqrt(sum)));
  }

  result<double> clip(std::span<float> values, double limit) override {
    if (auto ok = check_limit(limit); !ok)
      return tl::unexpected{ok.error()};
    const auto before = norm(values);
    if (before && *before > limit)
      for (auto& x : values)
        x = static_cast<float>(
          x * static_cast<real>(clip_factor(*before, limit)));
    return before;
  }

  result<void> expand(std::span<const float> base, const low_rank& x,
                      std::span<float> out) override {
    if (auto ok = check_low_rank(x, base.size(), out.size()); !ok)
      return ok;
    for (std::size_t i = 0; i < x.rows; ++i)
      for (std::size_t j = 0; j < x.columns; ++j) {
        real sum = base[i * x.columns + j];
        for (std::size_t k = 0; k < x.scale.size(); ++k)
          sum += static_cast<real>(x.scale[k]) * x.u[k * x.rows + i]
                 * x.v[k * x.columns + j];
        out[i * x.columns + j] = static_cast<float>(sum);
      }
    return {};
  }

  result<void> shrink(std::span<const float> gradient, const low_rank& x,
                      low_rank_slopes out) override {
    if (auto ok = check_low_rank(x, gradient.size(), gradient.size()); !ok)
      return ok;
    if (auto ok = check_slopes(x, out); !ok)
      return ok;
    for (std::size_t k = 0; k < x.scale.size(); ++k) {
      const auto* u = x.u.data() + k * x.rows;
      const auto* v = x.v.data() + k * x.columns;
      std::vector<real> by_row(x.rows), by_column(x.columns);
      real slope = 0;
      for (std::size_t i = 0; i < x.rows; ++i)
        for (std::size_t j = 0; j < x.columns; ++j) {
          const real g = gradient[i * x.columns + j];
          by_row[i] += g * v[j];
          by_column[j] += g * u[i];
          slope += g * u[i] * v[j];
        }
      std::ranges::copy(by_row, out.u.begin()
                                  + static_cast<std::ptrdiff_t>(k * x.rows));
      std::ranges::copy(
        by_column, out.v.begin() + static_cast<std::ptrdiff_t>(k * x.columns));
      out.scale[k] = static_cast<double>(slope);
    }
    return {};
  }

  result<void> gate_forward(const gate_shape& of, const_array gate,
                            std::span<const float> rows,
                            gate_pass out) override {
    if (auto ok = check_gate(
          of, gate.size(), rows.size(),
          {{out.hidden.size(), of.hidden}, {out.logits.size(), of.experts}});
        !ok)
      return ok;
    std::vector<float> hidden, logits;
    for (; !rows.empty(); rows = rows.subspan(of.inputs)) {
      const auto x = seen_by_gate(of, gate.host(), rows);
      for (const auto y : x.hidden)
        hidden.push_back(static_cast<float>(y));
      for (const auto y : x.logits)
        logits.push_back(static_cast<float>(y));
    }
    if (auto ok = check_logits(logits, of.experts); !ok)
      return ok;
    std::ranges::copy(hidden, out.hidden.begin());
    std::ranges::copy(logits, out.logits.begin());
    return {};
  }

  result<void> gate_backward(const gate_shape& of, const_array gate,
                             std::span<const float> rows,
                             std::span<const float> hidden,
                             std::span<const float> along_logits,
                             array gradient) override {
    if (auto ok = check_gate(
          of, gate.size(), rows.size(),
          {{hidden.size(), of.hidden}, {along_logits.size(), of.experts}});
        !ok)
      return ok;
    if (auto ok = check_equal({gate.size(), gradient.size()}); !ok)
      return ok;
    const auto w = gate.host();
    const auto to = gradient.host();
    std::vector<real> sum(to.begin(), to.end());
    for (std::size_t r = 0; r < rows.size() / of.inputs; ++r)
      add_row_of_gate(of, w, rows.subspan(r * of.inputs, of.inputs),
                      hidden.subspan(r * of.hidden, of.hidden),
                      along_logits.subspan(r * of.experts, of.experts), sum);
    for (std::size_t j = 0; j < to.size(); ++j)
      to[j] = static_cast<float>(sum[j]);
    return {};
  }

  // Rounded after each row: parts of the rows come to the bits of all.
  result<void> gate_scores(const gate_shape& of, const_array gate,
                           std::span<const float> rows,
                           std::span<double> sum) override {
    if (auto ok = check_gate(of, gate.size(), rows.size(), {}); !ok)
      return ok;
    if (auto ok = check_scores(of, sum.size()); !ok)
      return ok;
    std::vector<double> sums(sum.begin(), sum.end());
    for (std::size_t r = 0; r < rows.size() / of.inputs; ++r) {
      const auto x =
        seen_by_gate(of, gate.host(), rows.subspan(r * of.inputs, of.inputs));
      const std::vector<float> stored(x.logits.begin(), x.logits.end());
      if (auto ok = check_logits(stored, of.experts, r); !ok)
        return ok;
      const auto largest = *std::ranges::max_element(x.logits);
      real total = 0;
      for (const auto y : x.logits)
        total += std::exp(y - largest);
      for (std::size_t k = 0; k < of.experts; ++k)
        sums[k] = static_cast<double>(
          sums[k] + std::exp(x.logits[k] - largest) / total);
    }
    std::ranges::copy(sums, sum.begin());
    return {};
  }

  result<void> side_forward(const side_terms& of, std::span<const float> rows,
                            std::span<float> inner,
                            std::span<float> y) override {
    return reference_side_forward(of, rows, inner, y);
  }

  result<void> side_backward(const side_terms& of, std::span<const float> rows,
                             std::span<const float> inner,
                             std::span<const float> along_y,
                             side_slopes out) override {
    return reference_side_backward(of, rows, inner, along_y, out);
  }

  result<void> step(std::span<const sgd_call> all) override {
    return make(all);
  }

  result<void> step(std::span<const adamw_call> all) override {
    return make(all);
  }

  result<void> copy(const_array from, array to) override {
    return move(from, 0, from, to);
  }

  result<void> move(const_array from, float by, const_array along,
                    array to) override {
    if (auto ok = check_equal({to.size(), from.size(), along.size()}); !ok)
      return ok;
    const auto x = from.host(), y = along.host();
    for (std::size_t j = 0; j < to.size(); ++j)
      to.host()[j] = static_cast<float>(x[j] + static_cast<real>(by) * y[j]);
    return {};
  }

  result<void> mean_slope(const_array from, const_array to, double way,
                          const_array less, array out) override {
    if (auto ok =
          check_equal({out.size(), from.size(), to.size(), less.size()});
        !ok)
      return ok;
    for (std::size_t j = 0; j < out.size(); ++j)
      out.host()[j] =
        static_cast<float>((static_cast<real>(from.host()[j]) - to.host()[j])
                             / static_cast<real>(way)
                           - less.host()[j]);
    return {};
  }

private:
  template <class Step>
  result<void> make(std::span<const step_call<Step>> all) {
    if (auto ok = check_steps(all); !ok)
      return ok;
    for (const auto& x : all)
      make(x.how, {x.on.weights.host(), x.on.gradient.host(),
                   x.on.first_moment.host(), x.on.second_moment.host(),
                   x.on.anchor.host(), x.on.correction.host()});
    return {};
  }

  struct buffers {
    std::span<float> weights, gradient, first_moment, second_moment;
    std::span<const float> anchor, correction;
  };

  static void make(const sgd_step& how, const buffers& on) {
    for (std::size_t j = 0; j < on.weights.size(); ++j) {
      const real w = on.weights[j];
      real g = on.gradient[j] + how.decay * w;
      if (how.proximal != 0)
        g += how.proximal * (w - on.anchor[j]);
      if (!on.correction.empty())
        g += on.correction[j];
      if (how.momentum != 0) {
        if (!how.first)
          g += static_cast<real>(how.momentum) * on.first_moment[j];
        on.first_moment[j] = static_cast<float>(g);
      }
      on.weights[j] = static_cast<float>(w - how.rate * g);
      on.gradient[j] = 0;
    }
  }

  static void make(const adamw_step& how, const buffers& on) {
    const real beta1 = how.beta1, beta2 = how.beta2, rate = how.rate;
    const auto count = static_cast<real>(how.count);
    for (std::size_t j = 0; j < on.weights.size(); ++j) {
      const real w = on.weights[j];
      real g = on.gradient[j];
      if (!on.correction.empty())
        g += on.correction[j];
      const real m = beta1 * on.first_moment[j] + (1 - beta1) * g;
      const real v = beta2 * on.second_moment[j] + (1 - beta2) * g * g;
      const real mean = m / (1 - std::pow(beta1, count));
      const real root = std::sqrt(v / (1 - std::pow(beta2, count)));
      on.first_moment[j] = static_cast<float>(m);
      on.second_moment[j] = static_cast<float>(v);
      on.weights[j] = static_cast<float>(w - rate * how.decay * w
                                         - rate * mean / (root + how.epsilon));
      on.gradient[j] = 0;
    }
  }
};

} // namespace

std::unique_ptr<backend> make_reference_backend() {
  return std::make_unique<reference_backend>();
}

} // namespace troupe::kernels
