#pragma once

// Labelled texts, and a language model that learns what they are.

#include <memory>

#include "core/result.hpp"
#include "models/language/labelled_rows.hpp"
#include "node/config/experiment.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

/// Returns `invalid_config` where there are fewer users than clients that are
/// users, and `invalid_data`. @pre x.data.is_labelled_text()
[[nodiscard]] result<std::shared_ptr<const models::labelled_rows>>
load_labelled(const experiment& x);

/// The same, with a model. Its weights are trained, or one copy in this process
/// where the method's model is frozen. @pre x.data.is_labelled_text()
[[nodiscard]] result<materials> labelled_of(const experiment& x,
                                            const language_maker& make);

} // namespace troupe::node
