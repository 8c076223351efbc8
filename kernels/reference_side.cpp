#include "kernels/reference_parts.hpp"

#include "kernels/checks.hpp"

namespace troupe::kernels {

namespace {

/// A rank of a term, with what goes into it and comes out of it.
struct one_rank {
  std::span<const float> u;
  std::span<const float> v;
  std::size_t term = 0;
};

std::vector<one_rank> ranks_of(const side_terms& of) {
  std::vector<one_rank> all;
  for (std::size_t c = 0; c < of.ranks.size(); ++c)
    for (std::size_t left = of.ranks[c]; left > 0; --left)
      all.push_back({of.u.subspan(all.size() * of.outputs, of.outputs),
                     of.v.subspan(all.size() * of.inputs, of.inputs), c});
  return all;
}

real product(std::span<const float> a, std::span<const float> b) {
  real sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    sum += static_cast<real>(a[j]) * b[j];
  return sum;
}

/// Sums that begin with what is there, and are rounded in the end.
template <class T>
class sums {
public:
  explicit sums(std::span<T> to) : to_(to), sum_(to.begin(), to.end()) {
    // nop
  }

  ~sums() {
    for (std::size_t j = 0; j < to_.size(); ++j)
      to_[j] = static_cast<T>(sum_[j]);
  }

  sums(const sums&) = delete;
  sums& operator=(const sums&) = delete;

  /// Where nobody wants them, nothing happens.
  void add(std::size_t at, real x) {
    if (!sum_.empty())
      sum_[at] += x;
  }

  void add(std::size_t at, real by, std::span<const float> values) {
    for (std::size_t j = 0; !sum_.empty() && j < values.size(); ++j)
      sum_[at + j] += by * values[j];
  }

private:
  std::span<T> to_;
  std::vector<real> sum_;
};

} // namespace

result<void> reference_side_forward(const side_terms& of,
                                    std::span<const float> rows,
                                    std::span<float> inner,
                                    std::span<float> y) {
  if (auto ok = check_side(of, rows.size(), inner.size(), y.size()); !ok)
    return ok;
  const auto ranks = ranks_of(of);
  sums<float> to{y};
  for (std::size_t r = 0; r < rows.size() / of.inputs; ++r)
    for (std::size_t q = 0; q < ranks.size(); ++q) {
      const auto& x = ranks[q];
      const auto inside = product(x.v, rows.subspan(r * of.inputs, of.inputs));
      inner[r * ranks.size() + q] = static_cast<float>(inside);
      to.add(r * of.outputs,
             static_cast<real>(of.scale) * of.weight(r, x.term) * inside, x.u);
    }
  return {};
}

result<void> reference_side_backward(const side_terms& of,
                                     std::span<const float> rows,
                                     std::span<const float> inner,
                                     std::span<const float> along_y,
                                     side_slopes out) {
  if (auto ok = check_side(of, rows.size(), inner.size(), along_y.size()); !ok)
    return ok;
  if (auto ok = check_side_slopes(of, rows.size(), out); !ok)
    return ok;
  const auto ranks = ranks_of(of);
  const bool is_per_row = of.weights.size() != of.ranks.size();
  sums<float> u{out.u}, v{out.v}, along_rows{out.rows};
  sums<double> weights{out.weights};
  for (std::size_t r = 0; r < rows.size() / of.inputs; ++r) {
    const auto row = rows.subspan(r * of.inputs, of.inputs);
    const auto slope = along_y.subspan(r * of.outputs, of.outputs);
    for (std::size_t q = 0; q < ranks.size(); ++q) {
      const auto& x = ranks[q];
      const real inside = inner[r * ranks.size() + q];
      const auto along = product(x.u, slope);
      const auto by = static_cast<real>(of.scale) * of.weight(r, x.term);
      u.add(q * of.outputs, by * inside, slope);
      v.add(q * of.inputs, by * along, row);
      along_rows.add(r * of.inputs, by * along, x.v);
      weights.add((is_per_row ? r * of.ranks.size() : 0) + x.term,
                  of.scale * inside * along);
    }
  }
  return {};
}

} // namespace troupe::kernels
