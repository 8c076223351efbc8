#pragma once

// A visit as a local method sees it: what was fetched, what the client keeps,
// its batches and its live model, what it asks to be computed, and what it will
// offer. A method is a coroutine over one; `co_await` does two things there. An
// error ends the visit. A question pauses it until whoever holds the cohort has
// answered: how many visits are in step is nobody's business here.

#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/values.hpp"
#include "models/families.hpp"
#include "models/methods/cohort.hpp"
#include "models/methods/local_loop.hpp"
#include "models/outputs.hpp"
#include "models/procedure.hpp"

namespace troupe::models {

/// A fetched block and what the layout says of it.
struct base_block {
  const block_layout* layout = nullptr;
  std::span<const float> values; ///< Of the version that was fetched.
};

/// The values that a client keeps under `name`, or `otherwise` if it has none
/// yet. Returns `invalid_argument` if what it keeps has another size.
result<std::span<const float>> kept_or(const client_state* state,
                                       std::string_view name,
                                       std::span<const float> otherwise);

/// A question that a function of it answers. @pre it returns a `result`
template <class Compute>
class asked final : public question {
public:
  using value_type = typename std::invoke_result_t<Compute&>::value_type;

  asked(cohort& with, std::size_t place, shape x, Compute compute)
    : question(with, place),
      shape_(x),
      compute_(std::move(compute)) {
    // nop
  }

  shape of() const noexcept override {
    return shape_;
  }

  result<void> answer() override {
    return compute_().map(
      [&](auto&&... x) { value_.emplace(std::move(x)...); });
  }

  value_type await_resume() {
    if constexpr (!std::is_void_v<value_type>)
      return std::move(*value_);
  }

private:
  shape shape_;
  Compute compute_;
  std::optional<
    std::conditional_t<std::is_void_v<value_type>, done, value_type>>
    value_;
};

class visit {
public:
  using floats = std::span<const float>;
  using row_span = std::span<const std::uint32_t>;

  /// Who looks keeps and offers nothing.
  enum class purpose : std::uint8_t { to_train, to_look };

  /// @param place among the visits of its cohort
  visit(visit_input x, const local_problem& problem, cohort& with,
        std::size_t place = 0, purpose why = purpose::to_train);

  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

  /// The next visit finds no gradient.
  ~visit();

  const visit_input in;
  local_problem on;
  const visit_plan plan;
  trained out; ///< Begins with the state that was found, counted on.

  frame_pool& frames() noexcept {
    return frames_;
  }

  double option(std::string_view name) const {
    return option_of(on.how, name);
  }

  std::span<float> parameters() const noexcept {
    return on.model.parameters();
  }

  // What was fetched, and what the client keeps.

  /// Finds a block by name. Returns `invalid_argument` if the recipe has no
  /// such block, the visit did not fetch it, or it does not have `size` values.
  result<base_block> base(std::string_view name, std::size_t size) const;

  /// All instances of a family, in the order of their blocks.
  result<std::vector<base_block>> all_of(std::string_view family,
                                         std::size_t size) const;

  /// As `kept_or`.
  result<floats> own_or(std::string_view name, floats otherwise) const;

  /// Keeps values. Returns `diverged`, naming the block, if one of them is not
  /// finite.
  result<void> keep(std::string_view name, floats values);

  // The live model.

  /// Makes `x` the live parameters. @pre of the same size
  void load(floats x) const;

  /// Begins the visit and makes the buffers live that it starts from. By the
  /// scope of `name` in the recipe these are the fetched ones (`shared`), those
  /// that the client keeps (`personal`), or those of a fresh model: at a first
  /// visit, and always where they are `frozen` or the recipe does not know
  /// them.
  result<void> load_buffers(std::string_view name) const;

  /// Keeps the live buffers where they are personal.
  result<void> keep_buffers(std::string_view name);

  /// Makes a fetched shared model live, with its buffers. `name` is for recipes
  /// with more than one.
  result<base_block> take(std::string_view name = model_family) const;

  // What it offers.

  /// Adds `now - base` to the offer, in its place, with the weight of the
  /// block's rule; `part` is the share, or the norm, for rules that have one,
  /// and where it is too small to be offered nothing is. Returns `diverged`,
  /// naming the block and the tensor, if a difference is not finite.
  result<void> offer(const base_block& base, floats now,
                     std::optional<double> part = {});

  /// The live buffers as `model.buffers` where these are shared; where they are
  /// personal the client keeps them.
  result<void> offer_buffers();

  /// The live parameters in the place of `base`, and the live buffers.
  result<void> offer_model(const base_block& base);

  // What it asks.

  /// Adds the gradient of the mean loss over a batch. Gives that loss.
  auto gradient(batch x) {
    return ask("gradient", x.rows.size(), [this, x] {
      has_gradient_ = true;
      return on.model.backward(x.rows, x.seed);
    });
  }

  /// One step along that gradient, which is zero afterwards. Gives that loss.
  /// @pre `by` and `terms` stay where they are
  auto step(batch x, optimiser& by, const step_terms& terms) {
    return ask("step", x.rows.size(),
               [this, x, &by, &terms] { return make_step(x, by, terms); });
  }

  /// Adds to the gradient the Hessian of that mean loss, times a direction.
  auto curve(batch x, floats direction) {
    return ask("curve", x.rows.size(), [this, x, direction] {
      has_gradient_ = true;
      return on.model.curve(x.rows, x.seed, direction);
    });
  }

  auto score(split part, row_span rows) {
    return ask("score", rows.size(),
               [this, part, rows] { return on.model.evaluate(part, rows); });
  }

  /// What the live model says of training rows, to learn from it.
  /// @pre the model has outputs; for the next two as well
  auto speak(batch x) {
    return ask("speak", x.rows.size(),
               [this, x] { return on.model.outputs()->speak(x.rows, x.seed); });
  }

  /// The way back, which adds to the gradient.
  auto pull_back(const utterance& said, floats slopes) {
    return ask("pull back", slopes.size(), [this, &said, slopes] {
      has_gradient_ = true;
      return said.pull_back(slopes);
    });
  }

  /// What it says of rows in evaluation mode. @pre there is room for it
  auto say(split part, row_span rows, std::span<float> to) {
    return ask("say", rows.size(), [this, part, rows, to] {
      return on.model.outputs()->say(part, rows, to);
    });
  }

  /// Sets it to zero.
  void forget_gradient();

  /// The gradient at the live parameters, alone. Gives the loss.
  task<double> slope(batch x, std::span<float> to);

  /// Steps of the configured optimiser, with fresh moments, on batches that
  /// `seed` begins. Gives the mean loss before them. The terms are SGD's: under
  /// another optimiser they are `invalid_config`.
  task<double> descend(std::uint64_t steps, std::uint64_t seed,
                       step_terms terms = {});

private:
  template <class Compute>
  asked<Compute> ask(std::string_view what, std::size_t rows, Compute compute) {
    return {with_,
            place_,
            {what, on.model.parameters().size(), rows},
            std::move(compute)};
  }

  result<double> make_step(batch x, optimiser& by, const step_terms& terms);

  cohort& with_;
  std::size_t place_;
  frame_pool frames_;
  bool has_gradient_ = false;
};

/// Brings the live buffers back when it goes: what is differentiated to choose
/// or to score, and not to train, leaves no statistics behind.
class kept_statistics {
public:
  explicit kept_statistics(objective& model);
  ~kept_statistics();
  kept_statistics(const kept_statistics&) = delete;
  kept_statistics& operator=(const kept_statistics&) = delete;

private:
  objective& model_;
  std::vector<float> values_;
};

/// A client as it is scored: with the versions of all blocks and what it keeps.
visit_input at_home(client_id client, const evaluation_input& x);

/// The problem, on a client's own rows. @pre all rows are here
local_problem with_rows_of(client_id client, const local_problem& on);

/// A computation over one visit alone, to its end.
template <class T>
result<T> run_alone(cohort& with, task<T> what) {
  task_root root;
  what.start(root);
  while (!what.is_over())
    with.answer();
  return what.take();
}

} // namespace troupe::models
