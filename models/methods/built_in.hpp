#pragma once

// The methods that stand in this folder, for their table. Each file says which
// publication it is.

#include "models/methods/local_method.hpp"

namespace troupe::models {

using row_span = std::span<const std::uint32_t>;

extern const local_method sgd, proximal_sgd, own_sgd; // plain
extern const local_method controlled_sgd;             // control_variate
extern const local_method two_stage_sgd;              // two_stage
extern const local_method mixed_sgd, tied_sgd, own_adapter_sgd; // mixture
extern const local_method least_loss, chosen_sgd;               // chosen
extern const local_method ensemble_sgd, tied_ensemble_sgd;      // ensemble
extern const local_method em_sgd;                               // expectation
extern const local_method envelope_sgd;                         // envelope
extern const local_method meta_sgd;                             // meta
extern const local_method split_sgd;                            // split
extern const local_method two_level_sgd;                        // two_level
extern const local_method common_sgd, pruned_sgd, ranked_sgd;   // common_ranks
extern const local_method common_meta_sgd;                      // common_meta
extern const local_method each_sgd;                             // each
extern const local_method common_alone;                         // common_alone
extern const local_method top_of_gate;                          // top_of_gate
extern const local_method apart_sgd;                            // apart
extern const local_method joint_sgd;                            // jointly
extern const local_method routed_sgd, jointly_routed_sgd;       // routed
extern const local_method averaged_sgd, base_alone;        // averaged_adapters
extern const local_method outer_sgd, shared_inner_sgd;     // factor_halves
extern const local_method own_line, line_sgd;              // line_of_own
extern const local_method two_adapters_sgd, fuse_adapters; // two_adapters

} // namespace troupe::models
