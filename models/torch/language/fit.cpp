#include "models/torch/language/fit.hpp"

#include <string>

namespace troupe::models {

result<void> check_fit(const language_spec& model, const token_rows& from) {
  if (from.vocabulary() > model.vocabulary)
    return fail(errc::invalid_config,
                "the rows have ids up to "
                  + std::to_string(from.vocabulary() - 1)
                  + ", and the model has " + std::to_string(model.vocabulary)
                  + " tokens; a tokenizer of the same model would do");
  if (from.context() > model.context)
    return fail(errc::invalid_config,
                "the rows have " + std::to_string(from.context())
                  + " tokens, and the model has places for "
                  + std::to_string(model.context) + "; 'context' = "
                  + std::to_string(model.context) + " at most would do");
  if (model.types > 0 && from.types() > model.types)
    return fail(errc::invalid_config,
                "the rows have tokens of " + std::to_string(from.types())
                  + " types, and the model has " + std::to_string(model.types)
                  + "; a tokenizer of the same model would do");
  return {};
}

} // namespace troupe::models
