#include "models/torch/module.hpp"

#include "models/torch/language/text_objective.hpp"
#include "models/torch/objective.hpp"
#include "models/torch/threads.hpp"

const troupe::models::torch_functions* troupe_torch() {
  using namespace troupe::models;
  static constexpr torch_functions functions{
    .make_objective = make_torch_objective,
    .use_one_thread = use_one_thread_per_worker,
    .description = description,
    .fingerprint = fingerprint,
    .bare_loop = bare_loop,
    .make_language = make_text_objective,
    .make_inner = make_inner_objective};
  return &functions;
}
