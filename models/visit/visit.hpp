#pragma once

// A visit as a local method sees it: what was fetched, what the client keeps,
// its batches and its live model, what it asks to be computed, and what it will
// offer. A method is a coroutine over one; `co_await` does two things there. An
// error ends the visit. A question pauses it until whoever holds the cohort has
// answered: how many visits are in step is nobody's business here.

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values.hpp"
#include "models/embedder.hpp"
#include "models/families.hpp"
#include "models/outputs.hpp"
#include "models/procedure.hpp"
#include "models/visit/questions.hpp"

namespace troupe::models {

/// A fetched block and what the layout says of it.
struct base_block {
  const block_layout* layout = nullptr;
  const_array values; ///< Of the version that was fetched.
};

/// What is small enough to lie in this process wherever the model is: adapters.
std::vector<float> brought_here(const_array x);

/// The values that a client keeps under `name`, or `otherwise` if it has none
/// yet. Returns `invalid_argument` if what it keeps has another size.
result<std::span<const float>> kept_or(const client_state* state,
                                       std::string_view name,
                                       std::span<const float> otherwise);

class visit {
public:
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

  // Values lie where the backend computes: what is done to them is said here.

  array parameters() const noexcept {
    return on.model.parameters();
  }

  /// Where gradients add up. Zero after each step.
  array gradient() const noexcept {
    return on.model.gradient();
  }

  /// Zeros, until the visit ends.
  array room(std::size_t size);

  array copy_of(const_array x);

  /// Room of the model's size for a moment: the same at each call.
  array scratch();

  result<void> copy(const_array from, array to) const {
    return on.arithmetic.copy(from, to);
  }

  /// to = from + by * along
  result<void> move(array to, const_array from, double by,
                    const_array along) const {
    return on.arithmetic.move(from, static_cast<float>(by), along, to);
  }

  // What was fetched, and what the client keeps.

  /// Finds a block by name. Returns `invalid_argument` if the recipe has no
  /// such block, the visit did not fetch it, or it does not have `size` values.
  result<base_block> base(std::string_view name, std::size_t size) const;

  /// All instances of a family, in the order of their blocks.
  result<std::vector<base_block>> all_of(std::string_view family,
                                         std::size_t size) const;

  /// Those that were fetched: a choice may have left some out.
  result<std::vector<base_block>> fetched_of(std::string_view family,
                                             std::size_t size) const;

  /// What nobody trains. Returns `invalid_argument` if nothing of this name is
  /// here.
  result<const_array> frozen(std::string_view name) const;

  /// What was set aside of the client's rows before it trained on any.
  row_span validation_rows() const;

  /// As `kept_or`.
  result<const_array> own_or(std::string_view name,
                             const_array otherwise) const;

  /// Keeps values. Returns `diverged`, naming the block, if one of them is not
  /// finite.
  result<void> keep(std::string_view name, const_array values);

  // The live model.

  /// Makes `x` the live parameters. @pre of the same size
  void load(const_array x) const;

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
  result<void> offer(const base_block& base, const_array now,
                     std::optional<double> part = {});

  /// The live buffers as `model.buffers` where these are shared; where they are
  /// personal the client keeps them.
  result<void> offer_buffers();

  /// The live parameters in the place of `base`, and the live buffers.
  result<void> offer_model(const base_block& base);

  // What it asks: of the live model, or of one that it names.

  /// Adds the gradient of the mean loss over a batch. Gives that loss.
  auto differentiate(batch x, const model_at& at = {}) {
    return ask("gradient", x.rows.size(), at,
               [this, x] { return gradient_of(x); });
  }

  /// The gradient alone, in the place of what is in `to`. Gives that loss.
  auto slope(batch x, array to, const model_at& at = {}) {
    return ask("slope", x.rows.size(), at, [this, x, to] {
      forget_gradient();
      return gradient_of(x).and_then([&](double loss) {
        auto done = copy(gradient(), to).map([&] { return loss; });
        forget_gradient();
        return done;
      });
    });
  }

  /// One step of the live parameters, or of `weights`, along that gradient,
  /// which is zero afterwards. Gives that loss.
  /// @pre `by` and `terms` stay where they are
  step_question step(batch x, optimiser& by, const step_terms& terms,
                     array weights = {}) {
    return {with_, place_, *this, x, by, terms, weights};
  }

  /// One step along a gradient that is there, which is zero afterwards.
  template <class Step>
  step_question update(const Step& how, const kernels::step_buffers& x) {
    return update(kernels::step_call<Step>{how, x});
  }

  step_question update(const optimiser::call& x) {
    return {with_, place_, *this, x};
  }

  /// Adds to the gradient the Hessian of that mean loss, times a direction.
  auto curve(batch x, const_array direction, const model_at& at = {}) {
    return ask("curve", x.rows.size(), at, [this, x, direction] {
      has_gradient_ = true;
      return on.model.curve(x.rows, x.seed, direction.host());
    });
  }

  /// `differentiate`, and what is to be bent by the next if the model keeps it.
  auto differentiate_and_keep(batch x, const model_at& at = {}) {
    return ask("gradient to keep", x.rows.size(), at, [this, x] {
      has_gradient_ = true;
      return on.model.backward_and_keep(x.rows, x.seed);
    });
  }

  /// `curve` of what was kept, whatever is live by now. @pre it was not asked
  /// before
  auto curve(kept_gradient& of, const_array direction) {
    return ask("kept curve", direction.size(), {}, [this, &of, direction] {
      has_gradient_ = true;
      return of.curve(direction.host());
    });
  }

  auto score(split part, row_span rows, const model_at& at = {}) {
    return ask("score", rows.size(), at,
               [this, part, rows] { return on.model.evaluate(part, rows); });
  }

  /// What a model says of training rows, to learn from it.
  /// @pre the model has outputs; for the next two as well
  auto speak(batch x, const model_at& at = {}) {
    return ask("speak", x.rows.size(), at,
               [this, x] { return on.model.outputs()->speak(x.rows, x.seed); });
  }

  /// The way back, which adds to the gradient. @pre of the model that said it
  auto pull_back(const utterance& said, std::span<const float> slopes,
                 const model_at& at = {}) {
    return ask("pull back", slopes.size(), at, [this, &said, slopes] {
      has_gradient_ = true;
      return said.pull_back(slopes);
    });
  }

  /// What it says of rows in evaluation mode. @pre there is room for it
  auto say(split part, row_span rows, std::span<float> to,
           const model_at& at = {}) {
    return ask("say", rows.size(), at, [this, part, rows, to] {
      return on.model.outputs()->say(part, rows, to);
    });
  }

  /// How rows look to the common model. @pre there is one, and room for it
  auto embed(split part, row_span rows, std::span<float> to) {
    return ask("embed", rows.size(), {}, [this, part, rows, to] {
      return on.common->embed(part, rows, to);
    });
  }

  /// Sets it to zero.
  void forget_gradient();

  /// Steps of the configured optimiser, with fresh moments, on batches that
  /// `seed` begins. Gives the mean loss before them. The terms are SGD's, and a
  /// part that stands still plain SGD's: under another optimiser they are
  /// `invalid_config`.
  task<double> descend(std::uint64_t steps, std::uint64_t seed,
                       step_terms terms = {});

private:
  template <class Compute>
  asked<Compute> ask(std::string_view what, std::size_t rows,
                     const model_at& at, Compute compute) {
    return {with_, place_, {what, on.model.parameters().size(), rows},
            *this, at,     std::move(compute)};
  }

  template <class Compute>
  friend class asked;
  friend class step_question;

  void make_live(const model_at& x) const;
  result<double> gradient_of(batch x);
  result<void> hand_over(array to);
  result<std::vector<base_block>> instances(std::span<const block_id> ids,
                                            std::size_t size) const;

  cohort& with_;
  std::size_t place_;
  frame_pool frames_;
  std::vector<aligned_floats> rooms_; ///< Of the cohort's pool.
  array scratch_;
  bool has_gradient_ = false;
};

template <class Compute>
result<void> asked<Compute>::answer() {
  visit_.make_live(at_);
  return compute_()
    .map([&](auto&&... x) { value_.emplace(std::move(x)...); })
    .and_then([&] {
      return at_.gradient.empty() ? result<void>{}
                                  : visit_.hand_over(at_.gradient);
    });
}

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

/// A coroutine over a visit that keeps and offers nothing, to its end.
template <class Coroutine>
auto look(visit_input x, const local_problem& on, Coroutine what) {
  cohort alone;
  visit v{std::move(x), on, alone, 0, visit::purpose::to_look};
  return run_alone(alone, what(v));
}

} // namespace troupe::models
