#pragma once

// A client that nobody trained on: it asks for what its rows, which have no
// labels, need of a model that is there, and gets answers.

#include <cstdint>
#include <memory>

#include "core/ids.hpp"
#include "core/recipe.hpp"
#include "core/result.hpp"
#include "kernels/backend.hpp"
#include "models/local_site.hpp"
#include "models/local_trainer.hpp"
#include "models/objective.hpp"
#include "models/trainer.hpp"

namespace troupe::models {

/// Who is no member of any role. All clients before it are.
client_id stranger_of(const recipe& method);

/// Whether batch statistics stay with the client that counts them.
bool has_own_statistics(const recipe& method);

/// Refuses a method under which clients have a part of their own, nothing is
/// merged that could answer, or several models are that nothing chooses
/// between.
result<void> check_serves_strangers(const local_task& task);

/// Its rows are those that the task gives to the client that `stranger_of`
/// says, of the training set; the task's partition holds that client out. One
/// thread at a time.
class stranger {
public:
  /// Returns `invalid_config` where a stranger cannot be served, its model has
  /// statistics that stay with clients, or the method looks at embeddings, and
  /// the common model has none.
  static result<stranger> make(std::shared_ptr<const local_task> task,
                               std::unique_ptr<objective> model,
                               std::unique_ptr<kernels::backend> arithmetic);

  /// As in a visit: what the next leg fetches.
  result<choice> choose(const visit_input& x);

  /// What its rows are, by what was fetched alone.
  result<answers> answer(const visit_input& x);

private:
  stranger(std::unique_ptr<local_site> at, std::unique_ptr<objective> model);

  local_problem problem_of(const visit_input& x);

  std::unique_ptr<local_site> at_;
  std::unique_ptr<objective> model_;
};

} // namespace troupe::models
