#pragma once

#include <memory>

#include "models/continuations.hpp"
#include "models/torch/language/learned_parts.hpp"
#include "models/torch/language/network.hpp"

namespace troupe::models {

/// Texts by a network and the parts that are live, with what is attached to
/// them; both outlive it. Each token computes all before it anew: no keys and
/// values are kept, which pays for texts of some 64 tokens. Null where the
/// network sees what it should foretell, or has no head.
std::unique_ptr<model_continuations>
make_continuations(const language_network& network, learned_parts& learned);

} // namespace troupe::models
