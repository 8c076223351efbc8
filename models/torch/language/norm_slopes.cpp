// Norms by a weight and a bias that need no slope. Of a row x of n values that
// is centred, or need not be, and g = along * weight, centred likewise:
//
//   r = (mean of x² + epsilon)^-1/2,   y = weight * x r,
//   slope = r g - r³/n (g.x) x

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "models/torch/language/row_loops.hpp"
#include "models/torch/language/second_slopes.hpp"

namespace troupe::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// What a norm has beside its input. A graph sees none of it.
struct norm_terms {
  at::Tensor weight;
  at::Tensor bias; ///< May be undefined.
  double epsilon;
  bool is_centred;
};

/// What it found in each row.
struct norm_rows {
  at::Tensor mean; ///< Undefined: nothing is centred.
  at::Tensor scale;
};

/// y, and the scale of each row.
std::tuple<at::Tensor, at::Tensor> by_mean_square(const at::Tensor& rows,
                                                  const norm_terms& by) {
  const auto x = rows.contiguous(), weight = by.weight.contiguous();
  const auto y = at::empty_like(x);
  const auto n = x.size(-1);
  const auto scales = at::empty({n > 0 ? x.numel() / n : 0}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "by_mean_square", [&] {
    const auto* w = weight.data_ptr<scalar_t>();
    const auto* from = x.data_ptr<scalar_t>();
    auto* to = y.data_ptr<scalar_t>();
    auto* scale = scales.data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < scales.numel(); ++i, from += n, to += n) {
      const auto [square] = sums_of<scalar_t, 1>(n, [&](auto at) {
        const auto z = at(from);
        return std::array{z * z};
      });
      const auto r = static_cast<scalar_t>(
        1 / std::sqrt(square / static_cast<double>(n) + by.epsilon));
      scale[i] = r;
      for_strips<scalar_t>(n,
                           [&](auto at) { at.put(to, at(from) * r * at(w)); });
    }
  });
  return {y.view(rows.sizes()), scales};
}

at::Tensor slope_by_mean_square(const at::Tensor& along_y,
                                const at::Tensor& rows,
                                const at::Tensor& by_weight,
                                const at::Tensor& scales) {
  const auto x = rows.contiguous(), along = along_y.contiguous(),
             weight = by_weight.contiguous();
  const auto slope = at::empty_like(x);
  const auto n = x.size(-1);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "slope_by_mean_square", [&] {
    const auto* w = weight.data_ptr<scalar_t>();
    const auto* of = x.data_ptr<scalar_t>();
    const auto* a = along.data_ptr<scalar_t>();
    auto* to = slope.data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < scales.numel(); ++i) {
      const auto r = scales.data_ptr<scalar_t>()[i];
      const auto [product] = sums_of<scalar_t, 1>(
        n, [&](auto at) { return std::array{at(a) * at(w) * at(of)}; });
      const auto by_x = static_cast<scalar_t>(-product * r * r * r / n);
      for_strips<scalar_t>(
        n, [&](auto at) { at.put(to, at(a) * at(w) * r + by_x * at(of)); });
      of += n, a += n, to += n;
    }
  });
  return slope.view(rows.sizes());
}

/// What a norm's slope is bent by, and where that goes: one row.
template <class T>
struct norm_bend {
  const T *along, *x, *weight, *bent;
  T *to_along, *to_x;
};

/// @param mean null: nothing is centred
template <class T>
void bend_norm(const norm_bend<T>& row, std::int64_t n, const T* mean, T r) {
  T of_x = 0, of_g = 0, of_bent = 0;
  if (mean != nullptr) {
    const auto [g, bent] = sums_of<T, 2>(n, [&](auto at) {
      return std::array{at(row.along) * at(row.weight), at(row.bent)};
    });
    of_x = *mean;
    of_g = static_cast<T>(g / static_cast<double>(n));
    of_bent = static_cast<T>(bent / static_cast<double>(n));
  }
  const auto [vg, vx, gx] = sums_of<T, 3>(n, [&](auto at) {
    const auto x = at(row.x) - of_x, v = at(row.bent) - of_bent,
               g = at(row.along) * at(row.weight) - of_g;
    return std::array{v * g, v * x, g * x};
  });
  const double square = double{r} * r, cube = square * r / n;
  const auto by_x = static_cast<T>(cube * (3 * square / n * vx * gx - vg)),
             by_v = static_cast<T>(-cube * gx),
             by_g = static_cast<T>(-cube * vx);
  for_strips<T>(n, [&](auto at) {
    const auto x = at(row.x) - of_x, v = at(row.bent) - of_bent,
               w = at(row.weight), g = at(row.along) * w - of_g;
    at.put(row.to_along, w * (v * r + by_g * x));
    at.put(row.to_x, by_x * x + by_v * v + by_g * g);
  });
}

struct norm_slopes : Function<norm_slopes> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& along,
                            const at::Tensor& x, const at::Tensor& weight,
                            const norm_rows& found, double epsilon) {
    context->save_for_backward({along, x, weight, found.mean, found.scale});
    context->saved_data["epsilon"] = epsilon;
    if (!found.mean.defined())
      return slope_by_mean_square(along, x, weight, found.scale);
    return std::get<0>(at::native_layer_norm_backward(
      along, x, {x.size(-1)}, found.mean, found.scale, weight, {},
      {true, false, false}));
  }

  static variable_list backward(AutogradContext* context, variable_list bent) {
    const auto saved = context->get_saved_variables();
    variable_list to =
      is_bent_again() ? bent_by_operators(
        saved, bent[0], context->saved_data["epsilon"].toDouble())
                      : bent_by_rows(saved, bent[0]);
    to.resize(5); // Nothing is along what is frozen, and what is no tensor.
    return to;
  }

  static variable_list bent_by_rows(const variable_list& saved,
                                    const at::Tensor& bent) {
    const auto along = saved[0].contiguous(), x = saved[1].contiguous(),
               weight = saved[2].contiguous(), by = bent.contiguous();
    const auto &mean = saved[3], &scale = saved[4];
    const auto to_along = at::empty_like(x), to_x = at::empty_like(x);
    const auto n = x.size(-1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_slopes", [&] {
      const auto of = [](const at::Tensor& some) {
        return some.data_ptr<scalar_t>();
      };
      for (std::int64_t i = 0; i < scale.numel(); ++i)
        bend_norm<scalar_t>(
          {of(along) + i * n, of(x) + i * n, of(weight), of(by) + i * n,
           of(to_along) + i * n, of(to_x) + i * n},
          n, mean.defined() ? of(mean) + i : nullptr, of(scale)[i]);
    });
    return {to_along, to_x};
  }

  /// The formulas of `bend_norm`.
  static variable_list bent_by_operators(const variable_list& saved,
                                         const at::Tensor& bent,
                                         double epsilon) {
    const auto centred = [&](const at::Tensor& x) {
      return saved[3].defined() ? x - x.mean({-1}, true) : x;
    };
    const auto sum = [](const at::Tensor& x) { return x.sum({-1}, true); };
    const auto& w = saved[2];
    const auto x = centred(saved[1]), v = centred(bent),
               g = centred(saved[0] * w);
    const auto n = static_cast<double>(x.size(-1));
    const auto r = ((x * x).mean({-1}, true) + epsilon).rsqrt();
    const auto vg = sum(v * g), vx = sum(v * x), gx = sum(g * x);
    const auto square = r * r, cube = square * r / n;
    return {w * (r * v - cube * vx * x),
            cube * (3 / n * square * vx * gx - vg) * x - cube * gx * v
              - cube * vx * g};
  }
};

struct norm_function : Function<norm_function> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const norm_terms& by) {
    at::Tensor y;
    norm_rows found;
    if (by.is_centred)
      std::tie(y, found.mean, found.scale) =
        at::native_layer_norm(x, {x.size(-1)}, by.weight, by.bias, by.epsilon);
    else
      std::tie(y, found.scale) = by_mean_square(x, by);
    context->save_for_backward({x, by.weight, found.mean, found.scale});
    context->saved_data["epsilon"] = by.epsilon;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list along) {
    const auto saved = context->get_saved_variables();
    return {norm_slopes::apply(along[0], saved[0], saved[1],
                               norm_rows{.mean = saved[2], .scale = saved[3]},
                               context->saved_data["epsilon"].toDouble()),
            {}};
  }
};

} // namespace

at::Tensor rms_norm_by_frozen(const at::Tensor& x, const at::Tensor& weight,
                              double epsilon) {
  return norm_function::apply(x, norm_terms{.weight = weight,
                                            .bias = {},
                                            .epsilon = epsilon,
                                            .is_centred = false});
}

at::Tensor layer_norm_by_frozen(const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias, double epsilon) {
  return norm_function::apply(x, norm_terms{.weight = weight,
                                            .bias = bias,
                                            .epsilon = epsilon,
                                            .is_centred = true});
}

} // namespace troupe::models
