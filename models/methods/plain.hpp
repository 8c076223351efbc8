#pragma once

// Steps on one model, which others begin with.

#include "models/visit/visit.hpp"

namespace troupe::models {

/// Trains a shared model and offers it. Steps are pulled towards what was
/// fetched; at 0 the term is left out, not multiplied by zero: the bits are
/// those of plain SGD.
task<done> train_shared_model(visit& v, std::string_view block = model_family,
                              double pull = 0);

/// Trains the client's own model, begun from the fetched one, towards which it
/// is pulled, and keeps it. Gives the mean loss before the steps.
task<double> train_own_model(visit& v, double pull = 0);

/// A pull towards other parameters is a term of SGD's step.
template <const char* Option>
result<void> check_pulled(const recipe&, const training_options& how) {
  return option_of(how, Option) != 0 ? check_terms(how) : result<void>{};
}

} // namespace troupe::models
