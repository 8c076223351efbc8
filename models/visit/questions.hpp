#pragma once

// What a visit asks, as it stands in the frame of who asks.

#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/visit/cohort.hpp"
#include "models/visit/local_loop.hpp"

namespace troupe::models {

class visit;

/// What a question is about, which is live from then on. Empty: what is live.
struct model_at {
  const_array parameters = {};
  const_array buffers = {};
  /// Where the slope is added, and no longer with the live model. @pre that one
  /// was zero
  array gradient = {};
};

/// A question that a function of it answers. @pre it returns a `result`
template <class Compute>
class asked final : public question {
public:
  using value_type = typename std::invoke_result_t<Compute&>::value_type;

  asked(cohort& with, std::size_t place, shape x, visit& of, const model_at& at,
        Compute compute)
    : question(with, place),
      shape_(x),
      visit_(of),
      at_(at),
      compute_(std::move(compute)) {
    // nop
  }

  shape of() const noexcept override {
    return shape_;
  }

  result<void> answer() override;

  value_type await_resume() {
    if constexpr (!std::is_void_v<value_type>)
      return std::move(*value_);
  }

private:
  shape shape_;
  visit& visit_;
  model_at at_;
  Compute compute_;
  std::optional<
    std::conditional_t<std::is_void_v<value_type>, done, value_type>>
    value_;
};

/// One step, which the backend makes together with those of other visits:
/// along the gradient of a batch, or along one that is there.
class step_question final : public question {
public:
  using value_type = double;

  step_question(cohort& with, std::size_t place, visit& of, batch on,
                optimiser& by, const step_terms& terms, array weights);

  step_question(cohort& with, std::size_t place, visit& of,
                const optimiser::call& what);

  shape of() const noexcept override;
  result<void> answer() override;
  void answer_all(std::span<question* const> group) override;

  /// The loss of the batch.
  double await_resume() const noexcept {
    return loss_;
  }

private:
  struct along_batch {
    batch on;
    optimiser& by;
    const step_terms& terms;
    array weights; ///< Empty: the live parameters.
  };

  /// Makes the gradient.
  result<void> prepare();
  optimiser::call next();
  void is_made();

  visit& visit_;
  std::variant<along_batch, optimiser::call> what_;
  double loss_ = 0;
};

} // namespace troupe::models
