#pragma once

// A base with a mixture of adapters on it, and the slopes of all of that:
// FLoRAL's model. Composed into whole weights; or, where a model takes factors
// inside its layers, the base is a group "model" and each adapter one beside
// its products. Procedures do not know which.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "models/adapters/adapters.hpp"
#include "models/procedure.hpp"

namespace troupe::models {

class live_mixture {
public:
  using floats = std::span<const float>;

  /// Attaches what stands inside. @pre the problem has a plan of adapters, and
  /// outlives it
  [[nodiscard]] static result<live_mixture> make(const local_problem& on,
                                                 std::size_t adapters);

  /// Makes the base live with these adapters on it, each counting its part. Of
  /// what stands inside an adapter that counts nothing is left out.
  [[nodiscard]] result<void> put(kernels::const_array base,
                                 std::span<const floats> adapters,
                                 std::span<const double> parts);

  /// Whether base and adapters learn, or parts alone do. Of what stands inside
  /// nobody computes a slope that is not asked for.
  void let_learn(bool all);

  /// Slopes of what was put there, as `adapter_mixture` has them, of one
  /// gradient. Those of the base stay where they are. Parts have none where one
  /// adapter counts one.
  [[nodiscard]] result<void> take(std::span<const floats> adapters,
                                  std::span<const double> parts,
                                  adapter_mixture::slopes& to);

  kernels::array slopes_of_base() const;

private:
  explicit live_mixture(const local_problem& on) : on_(&on) {
    // nop
  }

  const local_problem* on_;
  std::unique_ptr<adapter_mixture> composed_; ///< Null: all stands inside.
};

} // namespace troupe::models
