// Ditto (Li et al. 2021). In the publication each minibatch makes a step of the
// shared w and one of the personal v, which is drawn towards w as it was when
// the visit began. Neither reads what the other writes, so all steps of w and
// then all of v, over the same batches, are the same visit without swapping
// models at each step.

#include "models/methods/built_in.hpp"
#include "models/methods/plain.hpp"

namespace troupe::models {

namespace {

task<done> train_two_stage(visit& v) {
  co_await train_shared_model(v);
  co_await train_own_model(v, v.option("lambda"));
  co_return {};
}

constexpr char lambda[] = "lambda";

} // namespace

const local_method two_stage_sgd{
  .train = train_two_stage,
  .passes = [](const training_options&) -> std::uint64_t { return 2; },
  .needs = check_pulled<lambda>};

} // namespace troupe::models
