#pragma once

// FLoRAL's client. Its model is the base and the mixture of the adapters,
//
//   w + sum of pi_c a_c,   pi = softmax(theta),
//
// composed before each step, so that one forward and one backward pass give the
// gradient of all: the base's as it is, an adapter's by its factors and times
// its share, the router's by the slope along each share. All three step at
// once, from the same point; the adapters' gradients are preconditioned.

#include <optional>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "models/aligned.hpp"
#include "models/methods/client_router.hpp"

namespace troupe::models {

/// Where the shares come from; nothing: the client has one adapter, of its own,
/// which never travels.
using sharing = std::optional<mixing>;

struct mixed_model {
  aligned_floats base;
  std::vector<std::vector<float>> adapters = {};
  client_router by = {};
  double floor = 0;

  std::vector<std::span<const float>> views() const {
    return {adapters.begin(), adapters.end()};
  }

  /// What the adapters count with at these shares: no less than `floor`, and
  /// then together with more than 1.
  std::vector<double> at_least(std::vector<double> shares) const;
};

/// What was fetched, or all versions there are.
struct mixed_parts {
  std::span<const float> base;
  std::vector<std::span<const float>> adapters;
};

/// Whether clients forget their routers when a visit ends.
bool is_stateless(const training_options& how);

/// A client's model of what it shares with others and what it keeps. An adapter
/// of its own begins as one that changes nothing, drawn from `seed`.
result<mixed_model> make_mixed_model(client_id client,
                                     const client_state* state,
                                     const local_problem& on, sharing how,
                                     mixed_parts from, std::uint64_t seed);

/// How many times the steps of a visit the router learns alone before them.
std::uint64_t warm_passes(const training_options& how);

class mixture_trainer {
public:
  mixture_trainer(local_problem& on, mixed_model& what);

  /// The router alone learns, `warm_passes` times as many steps; the model's
  /// statistics stay as they are.
  result<void> warm_up(std::uint64_t steps, std::uint64_t seed);

  /// All of it learns. Returns the mean loss before the steps.
  result<double> run(std::uint64_t steps, std::uint64_t seed);

private:
  result<double> step(std::span<const std::uint32_t> rows, std::uint64_t seed,
                      random_stream& noise);
  /// Leaves the gradient of the base with the model. Returns the loss.
  result<double> differentiate(std::span<const std::uint32_t> rows,
                               std::uint64_t seed,
                               const std::vector<double>& shares);
  void descend(std::vector<float>& adapter, std::vector<float>& slopes) const;

  local_problem& on_;
  mixed_model& what_;
  adapter_mixture mix_;
  double adapter_rate_;
  double router_rate_;
  double epsilon_;
  double noise_;
  adapter_mixture::slopes slopes_;
};

} // namespace troupe::models
