#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "models/language/base.hpp"
#include "models/language/spec.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// What [model] says: a file's base, or one of its sizes and of the run's seed,
/// for so many tokens. Returns `invalid_config`, and `invalid_data` of a file.
/// @pre x.model.is_language()
[[nodiscard]] result<std::shared_ptr<const models::language_base>>
base_of(const experiment& x, std::uint32_t vocabulary);

/// The same of another model of the run, over the same rows.
[[nodiscard]] result<std::shared_ptr<const models::language_base>>
base_of(const experiment& x, const model_options& what,
        std::uint32_t vocabulary);

/// What becomes of the refusal of a model over rows: it begins with the model's
/// file and, where that is named, the tokenizer whose tokens the rows have.
std::function<error(error)> spoken_of(const experiment& x,
                                      const model_options& what);

/// What is to be said of rows of so many tokens, and of a model of a file that
/// has a hundredth more, or fewer. A few are usual: rows that nobody has, for
/// speed. Empty otherwise.
std::string about_vocabulary(const model_options& what, std::uint32_t tokens,
                             std::uint32_t rows);

/// Who is asked for the next token must not see it. Returns `invalid_config`,
/// with `origin`.
[[nodiscard]] result<void> check_is_causal(const models::language_spec& x,
                                           const std::string& origin);

} // namespace troupe::node
