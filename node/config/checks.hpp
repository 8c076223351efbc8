#pragma once

// Parts of `check`: what of a configuration does not go together, each about
// one thing. What is wrong is said of the key's place, or of the origin.

#include <string_view>

#include "node/config/entries.hpp"

namespace troupe::node {

/// Who holds which examples.
void check_partition(const experiment& x, const entries& said,
                     std::string_view origin, problems& wrong);

/// The common model, which nobody trains.
void check_common(const experiment& x, const entries& said,
                  std::string_view origin, problems& wrong);

/// Who is invited more often than others, and what a method's experts cannot
/// do without.
void check_roles(const experiment& x, const entries& said,
                 std::string_view origin, const method_list& methods,
                 problems& wrong);

/// Adapters that are to stand inside the layers of a model that is not one of
/// language.
void check_factors(const experiment& x, const entries& said,
                   std::string_view origin, problems& wrong);

/// Rounding of what is sent, which is for what is averaged.
void check_wire(const experiment& x, const entries& said,
                std::string_view origin, const method_list& methods,
                problems& wrong);

/// Texts of users, and the models that learn from them.
void check_language(const experiment& x, const entries& said,
                    std::string_view origin, const method_list& methods,
                    problems& wrong);

} // namespace troupe::node
