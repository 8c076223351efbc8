#pragma once

// What all local methods share: how many steps a visit makes, which batches it
// sees, and its optimiser. What a visit will do is a function of the options,
// its seed and the number of examples, so that it is known before any of it is
// done.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/random.hpp"
#include "models/aligned.hpp"
#include "models/procedure.hpp"

namespace troupe::models {

/// What a visit is going to do.
struct visit_plan {
  std::uint64_t steps = 0; ///< Zero only for a client without examples.
  bool straggler = false; ///< It does a part of its steps, drawn from its seed.
  bool dropped = false; ///< A straggler whose work nobody waits for: no offer.

  /// Nothing of the visit would be used.
  bool idle() const noexcept {
    return steps == 0 || dropped;
  }
};

/// An epoch takes all examples once, and its last batch may be short: a client
/// with fewer examples than a batch trains on what it has. `local_steps` counts
/// batches of as many epochs as that takes.
///
/// A visit straggles with the probability `stragglers`. It then does a whole
/// number of epochs, uniform in [1, epochs - 1], as in FedProx; where the
/// options ask for steps or for one epoch, a number of steps, uniform in [1,
/// steps - 1] (1 of 1). With `drop_stragglers` it makes no offer instead, as if
/// FedAvg's server had dropped it.
visit_plan plan_visit(const training_options& how, std::size_t examples,
                      std::uint64_t seed);

/// The same; but with the method's option `printed_schedule` above zero a
/// client's first visit makes one step, so that averages come after the steps
/// 0, I, 2 I, … of PF2LoRA's algorithm 1 as it is printed.
visit_plan plan_visit(const training_options& how, std::size_t examples,
                      const visit_input& x);

/// A method's option. A recipe without it does without what it is for: 0, and
/// nowhere is there another default than the recipe's.
double option_of(const training_options& how, std::string_view name);

/// `invalid_config` unless steps are those of SGD without momentum and decay,
/// for procedures that make their own.
result<void> check_plain_sgd(const recipe& method, const training_options& how);

/// The same unless steps are SGD's, whatever its momentum.
result<void> check_sgd(const recipe& method, const training_options& how);

/// The same where steps have terms beside the gradient.
result<void> check_terms(const training_options& how);

/// Where a client keeps how many steps it has made, if a schedule follows
/// these.
inline constexpr const char* own_steps_counter = "schedule.steps";

/// The rate of the client's next step but `ahead`; the visit's where the run's
/// progress rules.
double rate_at(const local_problem& on, std::uint64_t ahead);

/// Rows to differentiate over, and what random operators draw from.
struct batch {
  std::span<const std::uint32_t> rows;
  std::uint64_t seed = 0;
};

/// Batches without end: epoch after epoch, each in an order of its own. If one
/// batch holds everything, its order stays that of the rows. What is drawn has
/// as many rows as were asked for, however few there are. Two with equal seeds
/// are equal.
class batch_sequence {
public:
  /// @pre !rows.empty()
  batch_sequence(std::span<const std::uint32_t> rows,
                 const training_options& how, std::uint64_t seed);

  /// Valid until the next call.
  std::span<const std::uint32_t> next();

  /// The next one's seed.
  std::uint64_t draw();

  /// The next rows with a draw of their own.
  batch next_batch() {
    const auto rows = next();
    return {rows, draw()};
  }

private:
  std::span<const std::uint32_t> drawn_rows();

  std::vector<std::uint32_t> rows_;
  batch_rule rule_;
  std::size_t batch_;
  std::size_t used_; // Of this epoch.
  bool shuffles_;
  random_stream random_;
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  std::uint32_t first_ = 0; ///< Of `anywhere`.
  std::uint32_t last_ = 0;
  std::vector<std::uint32_t> batch_rows_ = {}; ///< What was drawn last.
};

using kernels::array;
using kernels::const_array;

/// What is added to the gradient of each step.
struct step_terms {
  double proximal = 0; ///< Times (w - anchor).
  const_array anchor = {};
  const_array correction = {};
  /// Parameters from here to there stay as they are. @pre `check_plain_sgd`
  std::size_t still_from = 0;
  std::size_t still_to = 0;
};

/// Steps of the configured optimiser. Its moments begin at zero, or where a
/// client left them.
class optimiser {
public:
  optimiser(const local_problem& on, std::size_t size);

  /// Goes on with the moments of this name that the client has kept.
  optimiser(const local_problem& on, std::size_t size,
            const client_state* state, const std::string& name);

  using call = std::variant<kernels::sgd_call, kernels::adamw_call>;

  /// Its steps have this rate from now on, whatever the schedule.
  void hold(double rate) noexcept {
    rate_ = rate;
    is_held_ = true;
  }

  /// The next step, to be made. It sets the gradient to zero.
  call next(array weights, array gradient, const step_terms& terms = {});

  /// That it has made, in the client's life where moments are kept.
  std::uint64_t count() const noexcept {
    return count_;
  }

  /// Under the name that it was begun with.
  void keep(client_state& next) const;

private:
  const training_options& how_;
  double rate_;
  bool is_held_ = false;
  std::uint64_t before_; // Steps of the client's, and of this visit.
  std::uint64_t made_ = 0;
  std::string name_;
  aligned_floats first_;
  aligned_floats second_;
  std::uint64_t count_ = 0;
};

} // namespace troupe::models
