#pragma once

#include "node/watch/folder.hpp"

namespace troupe::node {

/// Writes the report of a run that has ended, and its trace where it has
/// events. A run without its pages is no worse a run: its log says why.
void write_pages(run_folder& of, const experiment& x);

} // namespace troupe::node
