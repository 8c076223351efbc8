#include "models/adapters/adapters.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/adapters/layer_names.hpp"

namespace troupe::models {

namespace {

std::size_t rank_for(const adapter_options& how, std::size_t weights,
                     std::size_t cost) {
  if (how.rank > 0)
    return how.rank;
  const auto room = how.budget * static_cast<double>(weights);
  return std::max<std::size_t>(
    1, static_cast<std::size_t>(room / static_cast<double>(cost)));
}

double scale_for(const adapter_options& how, std::size_t rank) {
  if (how.alpha == 0)
    return 1;
  const auto over = static_cast<double>(rank);
  return how.alpha / (how.alpha_over_root ? std::sqrt(over) : over);
}

/// A kernel's extents.
struct extents {
  std::size_t out, in, k1, k2;
};

/// Which of the two kernel extents are in the rows.
struct split_of {
  bool k1_in_rows = false;
  bool k2_in_rows = false;
};

split_of split_for(kernel_split how, const extents& x) {
  switch (how) {
    case kernel_split::out:
      return {true, true};
    case kernel_split::balanced:
      return {x.out < x.in, x.out < x.in};
    case kernel_split::filter:
    case kernel_split::balanced_2d: {
      // The longer one goes to the factor with fewer channels.
      const bool as_written =
        x.out * x.k2 + x.in * x.k1 <= x.out * x.k1 + x.in * x.k2;
      return {!as_written, as_written};
    }
    case kernel_split::in:
    case kernel_split::none:
      break;
  }
  return {};
}

adapted_matrix kernel_matrix(const adapter_options& how, const extents& x) {
  const auto [a_in_rows, b_in_rows] = split_for(how.convolution, x);
  adapted_matrix m;
  m.is_kernel = true;
  m.row_positions = (a_in_rows ? x.k1 : 1) * (b_in_rows ? x.k2 : 1);
  m.column_positions = x.k1 * x.k2 / m.row_positions;
  m.rows = x.out * m.row_positions;
  m.columns = x.in * m.column_positions;
  const auto inner = how.convolution == kernel_split::filter ? x.out : 1;
  m.rank = inner
           * (how.ranks_of_release && how.rank == 0
                ? rank_for(how, 2 * x.in * x.out, x.in + x.out)
                : rank_for(how, m.size(), inner * (m.rows + m.columns)));
  if (m.row_positions == 1)
    return m; // As it lies.
  m.order.resize(m.size());
  for (std::size_t i = 0; i < x.out; ++i)
    for (std::size_t j = 0; j < x.in; ++j)
      for (std::size_t a = 0; a < x.k1; ++a)
        for (std::size_t b = 0; b < x.k2; ++b) {
          const auto row =
            (a_in_rows ? a * (b_in_rows ? x.k2 : 1) : 0) + (b_in_rows ? b : 0);
          const auto column =
            (a_in_rows ? 0 : a * (b_in_rows ? 1 : x.k2)) + (b_in_rows ? 0 : b);
          m.order[(i * m.row_positions + row) * m.columns
                  + j * m.column_positions + column] =
            static_cast<std::uint32_t>(((i * x.in + j) * x.k1 + a) * x.k2 + b);
        }
  return m;
}

/// Builds a plan, tensor by tensor.
class planner {
public:
  planner(const adapter_options& how, adapter_plan& to) : how_(how), to_(to) {
    // nop
  }

  void add(const tensor_spec& x, std::size_t at) {
    const std::string layer{layer_of(x.name)};
    if (!is_named(layer, how_.layers))
      return;
    const bool is_bias = x.name.ends_with("bias");
    const auto extent = [&](std::size_t i) {
      return static_cast<std::size_t>(x.shape[i]);
    };
    if (x.shape.size() == 2 && how_.linear) {
      adapted_matrix m{.at = at, .rows = extent(0), .columns = extent(1)};
      const auto other = how_.other_ranks.find(layer);
      m.rank = other != how_.other_ranks.end()
                 ? other->second
                 : rank_for(how_, m.size(), m.rows + m.columns);
      m.scale = scale_for(how_, m.rank);
      add(std::move(m), x.name);
      adapted_.insert(layer);
    } else if (x.shape.size() == 4 && how_.convolution != kernel_split::none) {
      auto m =
        kernel_matrix(how_, {extent(0), extent(1), extent(2), extent(3)});
      m.at = at;
      // A kernel's factors may have more than the rank that is said.
      m.scale = scale_for(how_, how_.rank > 0 ? how_.rank : m.rank);
      add(std::move(m), x.name);
      adapted_.insert(layer);
    } else if (x.shape.size() == 1 && is_bias && adapted_.contains(layer)) {
      if (how_.bias)
        add_vector(x, at);
    } else if (x.shape.size() == 1 && how_.norm
               && (!is_bias || norms_.contains(layer))) {
      add_vector(x, at);
      norms_.insert(layer);
    } else if (x.shape.size() == 1 && x.name == layer) {
      add_vector(x, at); // No layer's: a model that is one vector.
    }
  }

private:
  std::size_t append(std::string name, std::vector<std::int64_t> shape) {
    const auto at = used_;
    to_.tensors.push_back({std::move(name), std::move(shape)});
    used_ += to_.tensors.back().size();
    return at;
  }

  void add(adapted_matrix m, const std::string& name) {
    const auto rank = static_cast<std::int64_t>(m.rank);
    m.u_at = append(name + ".u", {rank, static_cast<std::int64_t>(m.rows)});
    m.v_at = append(name + ".v", {rank, static_cast<std::int64_t>(m.columns)});
    to_.matrices.push_back(std::move(m));
  }

  void add_vector(const tensor_spec& x, std::size_t at) {
    to_.vectors.push_back(
      {.at = at, .size = x.size(), .in_adapter = append(x.name, x.shape)});
  }

  const adapter_options& how_;
  adapter_plan& to_;
  std::size_t used_ = 0;
  std::set<std::string> adapted_; ///< Layers, by what their tensors begin with.
  std::set<std::string> norms_;
};

} // namespace

result<adapter_plan> plan_adapters(const tensor_list& model,
                                   const adapter_options& how) {
  adapter_plan plan;
  plan.start = how.start;
  plan.start_bound = how.start_bound;
  planner add{how, plan};
  for (const auto& x : model) {
    add.add(x, plan.model_size);
    plan.model_size += x.size();
  }
  if (auto ok = check_names(model, plan, how.layers, how.places); !ok)
    return tl::unexpected{ok.error()};
  if (plan.tensors.empty())
    return fail(errc::invalid_config,
                how.places.of("method")
                  + "this model has no layer that the chosen kinds of adapters "
                    "could change; linear layers and convolutions can be "
                    "adapted");
  return plan;
}

void count_as(const adapter_plan& other, adapter_plan& x) {
  TROUPE_ASSERT(other.matrices.size() == x.matrices.size());
  for (std::size_t i = 0; i < x.matrices.size(); ++i)
    x.matrices[i].scale = other.matrices[i].scale;
}

std::vector<float> initial_adapter(const adapter_plan& plan,
                                   std::uint64_t seed) {
  std::vector<float> result(plan.size());
  for (std::size_t i = 0; i < plan.matrices.size(); ++i) {
    const auto& m = plan.matrices[i];
    if (plan.start == factor_start::inner_normal
        || plan.start == factor_start::both_normal) {
      random_stream draws{derive_seed(seed, "adapter", i)};
      for (std::size_t j = 0; j < m.rank * m.columns; ++j)
        result[m.v_at + j] = static_cast<float>(draws.normal());
      for (std::size_t j = 0;
           plan.start == factor_start::both_normal && j < m.rank * m.rows; ++j)
        result[m.u_at + j] = static_cast<float>(draws.normal());
      continue;
    }
    const bool inner = plan.start == factor_start::inner_random;
    const auto fan_in = inner ? m.columns : m.rank * m.row_positions;
    const auto bound =
      std::sqrt(plan.start_bound / static_cast<double>(fan_in));
    random_stream draws{derive_seed(seed, "adapter", i)};
    const auto size = m.rank * (inner ? m.columns : m.rows);
    for (std::size_t j = 0; j < size; ++j)
      result[(inner ? m.v_at : m.u_at) + j] =
        static_cast<float>(bound * (2 * draws.uniform() - 1));
  }
  return result;
}

kernels::low_rank adapter_mixture::gather(const adapted_matrix& x,
                                          std::span<const floats> adapters,
                                          std::span<const double> shares) {
  for (auto* part : {&u_, &v_, &scale_})
    part->clear();
  for (std::size_t c = 0; c < adapters.size(); ++c) {
    TROUPE_ASSERT(adapters[c].size() == plan_.size());
    const auto* const at = adapters[c].data();
    u_.insert(u_.end(), at + x.u_at, at + x.u_at + x.rank * x.rows);
    v_.insert(v_.end(), at + x.v_at, at + x.v_at + x.rank * x.columns);
    scale_.insert(scale_.end(), x.rank,
                  static_cast<float>(shares[c] * x.scale));
  }
  return {x.rows, x.columns, u_, v_, scale_};
}

result<void> adapter_mixture::compose(kernels::const_array from_base,
                                      std::span<const floats> adapters,
                                      std::span<const double> shares,
                                      kernels::array to_out) {
  const auto base = from_base.host();
  const auto out = to_out.host();
  TROUPE_ASSERT(base.size() == plan_.model_size && out.size() == base.size());
  TROUPE_ASSERT(adapters.size() == shares.size());
  const auto copy = [&](std::size_t at, std::size_t end) {
    if (base.data() != out.data())
      std::copy_n(base.data() + at, end - at, out.data() + at);
    return end;
  };
  std::size_t done = 0; // What is between matrices is copied.
  for (const auto& x : plan_.matrices) {
    done = copy(done, x.at) + x.size();
    const auto product = gather(x, adapters, shares);
    const auto from = base.subspan(x.at, x.size());
    const auto to = out.subspan(x.at, x.size());
    if (x.order.empty()) {
      if (auto ok = arithmetic_.expand(from, product, to); !ok)
        return ok;
      continue;
    }
    matrix_.resize(x.size());
    composed_.resize(x.size());
    for (std::size_t j = 0; j < x.size(); ++j)
      matrix_[j] = from[x.order[j]];
    if (auto ok = arithmetic_.expand(matrix_, product, composed_); !ok)
      return ok;
    for (std::size_t j = 0; j < x.size(); ++j)
      to[x.order[j]] = composed_[j];
  }
  copy(done, plan_.model_size);
  for (const auto& x : plan_.vectors)
    for (std::size_t c = 0; c < adapters.size(); ++c)
      for (std::size_t j = 0; j < x.size; ++j)
        out[x.at + j] +=
          static_cast<float>(shares[c]) * adapters[c][x.in_adapter + j];
  return {};
}

result<void> adapter_mixture::pull_back(kernels::const_array of_model,
                                        std::span<const floats> adapters,
                                        std::span<const double> shares,
                                        slopes& out) {
  out.shares.assign(adapters.size(), 0);
  out.adapters.resize(adapters.size());
  for (auto& x : out.adapters)
    x.resize(plan_.size());
  for (const auto& x : plan_.matrices) {
    const auto product = gather(x, adapters, shares);
    auto from = of_model.part(x.at, x.size()).host();
    if (!x.order.empty()) {
      matrix_.resize(x.size());
      for (std::size_t j = 0; j < x.size(); ++j)
        matrix_[j] = from[x.order[j]];
      from = matrix_;
    }
    u_slopes_.resize(u_.size());
    v_slopes_.resize(v_.size());
    scale_slopes_.resize(scale_.size());
    if (auto ok = arithmetic_.shrink(from, product,
                                     {u_slopes_, v_slopes_, scale_slopes_});
        !ok)
      return ok;
    for (std::size_t c = 0; c < adapters.size(); ++c) {
      const auto share = static_cast<float>(shares[c] * x.scale);
      const auto put = [&](const std::vector<float>& slopes, std::size_t size,
                           std::size_t at) {
        for (std::size_t j = 0; j < size; ++j)
          out.adapters[c][at + j] = share * slopes[c * size + j];
      };
      put(u_slopes_, x.rank * x.rows, x.u_at);
      put(v_slopes_, x.rank * x.columns, x.v_at);
      for (std::size_t k = 0; k < x.rank; ++k)
        out.shares[c] += x.scale * scale_slopes_[c * x.rank + k];
    }
  }
  for (const auto& x : plan_.vectors)
    for (std::size_t c = 0; c < adapters.size(); ++c)
      for (std::size_t j = 0; j < x.size; ++j) {
        const float g = of_model.host()[x.at + j];
        out.adapters[c][x.in_adapter + j] = static_cast<float>(shares[c]) * g;
        out.shares[c] += static_cast<double>(g)
                         * static_cast<double>(adapters[c][x.in_adapter + j]);
      }
  return {};
}

} // namespace troupe::models
