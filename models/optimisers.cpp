#include "models/optimisers.hpp"

#include <array>

#include "models/methods/local_loop.hpp"

namespace troupe::models {

namespace {

using check = result<void> (*)(const recipe& method,
                               const training_options& how);

/// A pull towards other parameters is a term of SGD's step.
template <const char* Option>
result<void> check_pulled(const recipe&, const training_options& how) {
  return option_or(how, Option, 0) != 0 ? check_terms(how) : result<void>{};
}

constexpr char proximal[] = "proximal";
constexpr char lambda[] = "lambda";

struct rule {
  std::string_view procedure;
  check fits;
};

// What is not named here steps with any.
constexpr std::array rules{
  rule{"proximal_sgd", check_pulled<proximal>},
  rule{"two_stage_sgd", check_pulled<lambda>},
  rule{"controlled_sgd", check_sgd},
  rule{"mixed_sgd", check_plain_sgd},
  rule{"tied_sgd", check_plain_sgd},
  rule{"own_adapter_sgd", check_plain_sgd},
  rule{"ensemble_sgd", check_plain_sgd},
  rule{"tied_ensemble_sgd", check_plain_sgd},
  rule{"em_sgd", check_plain_sgd},
  rule{"envelope_sgd", check_plain_sgd},
  rule{"meta_sgd", check_plain_sgd},
  rule{"split_sgd", check_plain_sgd},
};

} // namespace

result<void> check_optimiser(const recipe& method,
                             const training_options& how) {
  for (const auto& role : method.roles)
    for (const auto& [procedure, fits] : rules)
      if (role.procedure.value == procedure)
        if (auto ok = fits(method, how); !ok)
          return ok;
  return {};
}

} // namespace troupe::models
