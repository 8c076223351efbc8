#pragma once

// PF2LoRA's synthetic task in the plain loop: its two clients, or others that
// hold its rows, under any of the methods over a frozen model.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/tasks/low_rank.hpp"
#include "tests/support/reference_loop.hpp"

namespace troupe::test {

using findings = std::map<std::string, double>;

/// How a method is run.
struct way {
  const char* method;
  double rate;
  options said;
  std::uint32_t local_steps = 10;
  std::uint32_t batch = 0; ///< 0: all rows at once.
  bool inside = false; ///< Adapters stand inside the layer; else are composed.
};

/// As published.
inline const way two_levels{
  "pf2lora",
  0.005,
  {{"rank", 4}, {"own_rank", 2}, {"inner_rate", 0.002}, {"normal_start", 2}}};
inline const way one_level{
  "homlora", 0.005, {{"rank", 4}, {"normal_start", 2}}};
inline const way pruned{"hetlora",
                        0.002,
                        {{"rank", 12},
                         {"rank_min", 1},
                         {"rank_first", 2},
                         {"rank_last", 10},
                         {"keep_share", 0.7},
                         {"penalty", 0.1},
                         {"normal_start", 1}}};

class low_rank_federation {
public:
  low_rank_federation(const models::low_rank_problem& of, const way& how,
                      std::uint64_t seed);

  /// All clients visit, the last one first if `reversed`.
  void round(bool reversed = false);

  void rounds(int count) {
    for (int i = 0; i < count; ++i)
      round();
  }

  reference_loop& loop() {
    return *loop_;
  }

  /// What the method reports of clients, at this moment.
  findings evaluate();

private:
  std::uint64_t seed_;
  std::size_t clients_;
  std::uint64_t round_ = 0;
  std::unique_ptr<models::trainer> trainer_;
  std::unique_ptr<reference_loop> loop_;
};

std::vector<double> spectrum_of(const std::vector<float>& truth);

/// Of a spectrum, squared, from this place on.
double squares_from(const std::vector<double>& xs, std::size_t first);

/// The least mean loss on a client's training rows that a matrix of this rank
/// can have: reduced-rank regression, in closed form.
double least_loss(const models::regression_problem& of, std::size_t client,
                  std::size_t rank);

} // namespace troupe::test
