#include "kernels/backend.hpp"

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "kernels/checks.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/loops.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/readers.hpp"

namespace troupe::kernels {

namespace {

result<void> refuse(std::string context) {
  return fail(errc::invalid_argument, std::move(context));
}

template <class Term>
result<void> check_values(const Term& x, grid g) {
  const auto max = g.product_max();
  const auto n = size_of(x);
  const auto bad = loops::outside(reader_of(x), x.weight, max, n);
  if (bad == 0)
    return {};
  return fail(errc::malformed_values,
              std::to_string(bad) + " of " + std::to_string(n)
                + " values times weight are not finite or above "
                + std::to_string(max));
}

template <class Term>
result<void> check_all_sizes(std::span<const Term> terms, grid g,
                             std::size_t size) {
  if (g.terms_max < 2 || terms.size() > g.terms_max)
    return refuse(std::to_string(terms.size())
                  + " terms, the grid has room for "
                  + std::to_string(g.terms_max));
  for (const auto& x : terms)
    if (size_of(x) != size)
      return refuse("a term has " + std::to_string(size_of(x))
                    + " values, the sum has " + std::to_string(size));
  return {};
}

template <class Term>
result<void> check_all(std::span<const Term> terms, grid g, std::size_t size) {
  if (auto ok = check_all_sizes(terms, g, size); !ok)
    return ok;
  for (const auto& x : terms)
    if (auto ok = check_values(x, g); !ok)
      return ok;
  return {};
}

/// A buffer of a step, and whether the step uses it.
struct use {
  const char* name;
  std::size_t size;
  bool needed;
};

result<void> check_buffers(std::size_t size,
                           std::initializer_list<use> buffers) {
  for (const auto& x : buffers)
    if (x.needed && x.size != size)
      return refuse(std::string{x.name} + " has " + std::to_string(x.size)
                    + " values, the weights have " + std::to_string(size));
  return {};
}

std::string name_of(const gate_shape& x) {
  return "a gate of " + std::to_string(x.inputs) + "-"
         + std::to_string(x.hidden) + "-" + std::to_string(x.experts);
}

std::string name_of(const side_terms& x) {
  std::string ranks;
  for (const auto rank : x.ranks)
    ranks += (ranks.empty() ? "" : " + ") + std::to_string(rank);
  return (ranks.empty() ? "no side terms" : "side terms of ranks " + ranks)
         + " over " + std::to_string(x.inputs) + " x "
         + std::to_string(x.outputs);
}

result<void> check_factor(const side_terms& of, const char* name,
                          std::size_t found, std::size_t each) {
  const auto expected = of.rank() * each;
  if (found == expected)
    return {};
  return refuse(name_of(of) + " have " + std::to_string(expected)
                + " values of " + name + ", found " + std::to_string(found)
                + "; factors of the same ranks would do");
}

} // namespace

result<std::unique_ptr<backend>> make_backend(device where) {
  switch (where.kind) {
    case device_kind::cpu:
      return make_cpu_backend();
    case device_kind::cuda:
      return make_cuda_backend(where.ordinal);
  }
  return fail(errc::invalid_argument, "unknown kind of device");
}

result<void> check_term(const term& x, grid g) {
  return check_values(x, g);
}

result<void> check_term(const f16_term& x, grid g) {
  return check_values(x, g);
}

result<void> check_term(const int8_term& x, grid g) {
  return check_values(x, g);
}

result<void> check_sizes(std::span<const term> terms, grid g,
                         std::size_t size) {
  return check_all_sizes(terms, g, size);
}

result<void> check_sizes(std::span<const f16_term> terms, grid g,
                         std::size_t size) {
  return check_all_sizes(terms, g, size);
}

result<void> check_sizes(std::span<const int8_term> terms, grid g,
                         std::size_t size) {
  return check_all_sizes(terms, g, size);
}

result<void> check_terms(std::span<const term> terms, grid g,
                         std::size_t size) {
  return check_all(terms, g, size);
}

result<void> check_terms(std::span<const f16_term> terms, grid g,
                         std::size_t size) {
  return check_all(terms, g, size);
}

result<void> check_terms(std::span<const int8_term> terms, grid g,
                         std::size_t size) {
  return check_all(terms, g, size);
}

result<void> check_finish(std::span<const float> base,
                          std::span<const double> sum, scale by,
                          std::size_t size) {
  if (base.size() != size || sum.size() != size)
    return refuse("base, sum and output differ in size: "
                  + std::to_string(base.size()) + ", "
                  + std::to_string(sum.size()) + ", " + std::to_string(size));
  if (!(by.total > 0) || !std::isfinite(by.total))
    return refuse("the total must be positive and finite, found "
                  + std::to_string(by.total));
  if (!std::isfinite(by.rate))
    return refuse("the rate must be finite, found " + std::to_string(by.rate));
  return {};
}

result<void> check_server_step(const server_step& step, std::size_t moments,
                               std::size_t size) {
  const auto expected = static_cast<std::size_t>(step.moment_count()) * size;
  if (moments != expected)
    return refuse("the optimiser has " + std::to_string(moments)
                  + " moments, its rule keeps " + std::to_string(expected));
  const bool adaptive = step.moment_count() == 2;
  if (step.moment_count() > 0 && !(step.beta1 >= 0 && step.beta1 < 1))
    return refuse("beta1 must be in [0, 1), found "
                  + std::to_string(step.beta1));
  if (adaptive && !(step.beta2 >= 0 && step.beta2 < 1))
    return refuse("beta2 must be in [0, 1), found "
                  + std::to_string(step.beta2));
  if (adaptive && !(step.tau > 0 && std::isfinite(step.tau)))
    return refuse("tau must be positive and finite, found "
                  + std::to_string(step.tau));
  return {};
}

result<void> check_step(const sgd_step& how, const step_buffers& on) {
  return check_buffers(
    on.weights.size(),
    {{"the gradient", on.gradient.size(), true},
     {"the momentum", on.first_moment.size(), how.momentum != 0},
     {"the anchor", on.anchor.size(), how.proximal != 0},
     {"the correction", on.correction.size(), !on.correction.empty()}});
}

result<void> check_step(const adamw_step& how, const step_buffers& on) {
  if (how.count == 0)
    return refuse("steps of AdamW count from 1, found 0");
  return check_buffers(
    on.weights.size(),
    {{"the gradient", on.gradient.size(), true},
     {"the first moment", on.first_moment.size(), true},
     {"the second moment", on.second_moment.size(), true},
     {"the correction", on.correction.size(), !on.correction.empty()}});
}

result<void> check_equal(std::initializer_list<std::size_t> sizes) {
  for (const auto x : sizes)
    if (x != *sizes.begin())
      return refuse("values of " + std::to_string(*sizes.begin()) + " and of "
                    + std::to_string(x) + " meet");
  return {};
}

result<void> check_low_rank(const low_rank& x, std::size_t matrix,
                            std::size_t out) {
  const auto rank = x.scale.size();
  const auto size = x.rows * x.columns;
  if (x.u.size() != rank * x.rows || x.v.size() != rank * x.columns)
    return refuse("factors of " + std::to_string(rank) + " ranks have "
                  + std::to_string(x.u.size()) + " and "
                  + std::to_string(x.v.size()) + " values, a matrix of "
                  + std::to_string(x.rows) + " x " + std::to_string(x.columns)
                  + " needs others");
  if (matrix != size || out != size)
    return refuse("a matrix of " + std::to_string(x.rows) + " x "
                  + std::to_string(x.columns) + " is given as "
                  + std::to_string(matrix) + " values, for "
                  + std::to_string(out));
  return {};
}

result<void> check_slopes(const low_rank& x, const low_rank_slopes& out) {
  if (out.u.size() != x.u.size() || out.v.size() != x.v.size()
      || out.scale.size() != x.scale.size())
    return refuse("slopes differ in size from the factors that they are of");
  return {};
}

result<void>
check_gate(const gate_shape& of, std::size_t gate, std::size_t rows,
           std::initializer_list<std::pair<std::size_t, std::size_t>> per_row) {
  const auto name = name_of(of);
  if (of.inputs == 0 || of.hidden == 0 || of.experts == 0)
    return refuse(name + " has a layer without values; at least one would do");
  if (gate != of.size())
    return refuse(name + " has " + std::to_string(of.size()) + " values, found "
                  + std::to_string(gate)
                  + "; a gate of the same width would do");
  if (rows % of.inputs != 0)
    return refuse("rows of " + name + " have " + std::to_string(of.inputs)
                  + " values each, found " + std::to_string(rows)
                  + " together; whole rows would do");
  const auto n = rows / of.inputs;
  for (const auto& [found, each] : per_row)
    if (found != n * each)
      return refuse(std::to_string(n) + " rows of " + name + " meet "
                    + std::to_string(found) + " values; " + std::to_string(each)
                    + " for each would do");
  return {};
}

result<void> check_scores(const gate_shape& of, std::size_t sum) {
  if (sum == of.experts)
    return {};
  return refuse(name_of(of) + " has " + std::to_string(of.experts)
                + " scores, found room for " + std::to_string(sum)
                + "; as much as there are experts would do");
}

result<void> check_logits(std::span<const float> logits, std::size_t experts,
                          std::size_t first) {
  for (std::size_t at = 0; at < logits.size(); ++at)
    if (!std::isfinite(logits[at]))
      return fail(errc::malformed_values,
                  "row " + std::to_string(first + at / experts + 1)
                    + ": what the gate says of expert "
                    + std::to_string(at % experts)
                    + " is not finite; finite rows and a gate that has not "
                      "diverged (a smaller rate) would do");
  return {};
}

result<void> check_side(const side_terms& of, std::size_t rows,
                        std::size_t inner, std::size_t y) {
  if (of.inputs == 0 || of.outputs == 0)
    return refuse(name_of(of)
                  + " stand beside a layer without values; at least one input "
                    "and one output would do");
  if (auto ok = check_factor(of, "u", of.u.size(), of.outputs); !ok)
    return ok;
  if (auto ok = check_factor(of, "v", of.v.size(), of.inputs); !ok)
    return ok;
  if (rows % of.inputs != 0)
    return refuse("rows of " + name_of(of) + " have "
                  + std::to_string(of.inputs) + " values each, found "
                  + std::to_string(rows) + " together; whole rows would do");
  const auto n = rows / of.inputs, terms = of.ranks.size();
  for (const auto& [found, each] :
       {std::pair{inner, of.rank()}, std::pair{y, of.outputs}})
    if (found != n * each)
      return refuse(std::to_string(n) + " rows of " + name_of(of) + " meet "
                    + std::to_string(found) + " values; " + std::to_string(each)
                    + " for each would do");
  const auto weights = of.weights.size();
  if (weights != 0 && weights != terms && weights != n * terms)
    return refuse(name_of(of) + " have " + std::to_string(weights)
                  + " weights over " + std::to_string(n)
                  + " rows; none, one per term, or one per row and term would "
                    "do");
  return {};
}

result<void> check_side_slopes(const side_terms& of, std::size_t rows,
                               const side_slopes& out) {
  const auto fits = [](std::size_t found, std::size_t whole) {
    return found == 0 || found == whole;
  };
  if (fits(out.u.size(), of.u.size()) && fits(out.v.size(), of.v.size())
      && fits(out.rows.size(), rows)
      && fits(out.weights.size(), of.weights.size()))
    return {};
  return refuse("slopes of " + name_of(of)
                + " differ in size from what they are along; none, or as many, "
                  "would do");
}

result<double> check_norm(double norm) {
  if (std::isfinite(norm))
    return norm;
  return fail(errc::malformed_values,
              "a norm of values that are not all finite");
}

result<void> check_limit(double limit) {
  if (limit >= 0)
    return {};
  return refuse("the limit of a norm must be at least 0, found "
                + std::to_string(limit));
}

} // namespace troupe::kernels
