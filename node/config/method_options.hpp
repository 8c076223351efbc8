#pragma once

// The options of methods, in a configuration: which there are, what is said of
// them, and what is wrong with that.

#include "node/config/entries.hpp"

namespace troupe::node {

/// One option as some methods have it. Others may have one of the same name.
struct listed_option {
  option_spec what;
  std::vector<std::string> methods;
};

/// Every option of the methods that are built, by name.
std::vector<listed_option> all_options(const method_list& methods);

/// Gives `loaded` all options of its method: those that are said, and the
/// defaults of the others. Notes what only another method has; values that
/// can't be are problems.
void read_options(loaded_config& loaded, const entries& said,
                  const recipe& method, const method_list& methods,
                  problems& wrong);

/// Finds options that no method has, or that are named otherwise by now.
void check_options(const entries& said, const recipe& method,
                   const method_list& methods, problems& wrong);

} // namespace troupe::node
