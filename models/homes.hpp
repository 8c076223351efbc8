#pragma once

// Clients' own models: what each of them would use itself of versions that are
// there, live in one objective, one client after the other.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "models/local_site.hpp"
#include "models/objective.hpp"
#include "models/trainer.hpp"

namespace troupe::models {

/// What a client would be scored by, on all of its training rows.
local_problem problem_at_home(const visit_input& own, const local_site& at,
                              objective& model);

/// All of one set of versions. Client 0 is nobody: who comes new.
class homes {
public:
  /// These outlive it. @param model is made live, again and again
  homes(const evaluation_input& x, const local_site& at, objective& model);

  /// Whether a client has a model: a shared one, or what its role makes of
  /// what is shared.
  bool has_model(client_id x) const;

  /// Whether any has.
  bool has_models() const;

  /// Makes live what this client would use itself: the model that it keeps, or
  /// the shared one, or what its role makes of these. @pre has_model(client)
  [[nodiscard]] result<visit_input> enter(client_id client);

private:
  using floats = std::span<const float>;

  void load(const client_state* state);

  const evaluation_input& x_;
  const local_site& at_;
  objective& model_;
  const value_view* parameters_; ///< That are shared; null: there are none.
  const value_view* buffers_;    ///< Likewise.
  std::vector<float> fresh_buffers_;
};

/// A client whose model is live.
struct client_at_home {
  const visit_input& own;
  const local_problem& on;
  std::span<const std::uint32_t> rows; ///< To test it with; one at least.
};

/// Calls `then` for each client that has test rows and a model, which is live
/// there. What that fails with ends it. @param model is made live, again and
/// again @pre clients answer by a model each, and not by several together
[[nodiscard]] result<void>
for_each_home(const evaluation_input& x, const local_site& at, objective& model,
              const std::function<result<void>(const client_at_home&)>& then);

} // namespace troupe::models
