#pragma once

// What a server needs for offers that are larger than its memory for them.

#include "node/commands/figure.hpp"

namespace troupe::node {

/// The memory of a server above rest for one linear merge of 100 offers of 40
/// MB, where `memory` is 256 MB.
figure merge_memory_figure();

} // namespace troupe::node
