#pragma once

// The loss of a language model, some targets at a time. What a head says of one
// token is as long as the vocabulary: of a whole batch it would be larger than
// the model. So each chunk's graph is made, differentiated and dropped:
//
//   hidden states ─► chunk ─► logits ─► loss ─► its slope along the chunk
//         ▲                                              │
//         └────── the slopes of all chunks go back ◄─────┘
//
// Who differentiates slopes in turn has no such graph, and has each chunk's
// logits made again (loss_slopes.cpp).

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/objective.hpp"
#include "models/torch/language/network.hpp"

namespace troupe::models {

/// A network's head, over so many targets at once.
struct chunked_head {
  const language_network& network;
  model_parts& parts;
  std::int64_t chunk = 256;
};

/// Hidden states, and what the head should make of them.
struct foretold_tokens {
  at::Tensor states;  ///< [n x width]
  at::Tensor targets; ///< [n], Long.
};

/// Returns the summed cross-entropy, and adds `share` times its slopes to the
/// gradients of what the states and the head were computed from, where that
/// requires any; those of `beside` too, a term of the same pass, if there is
/// one.
double descend(const chunked_head& head, const foretold_tokens& x, double share,
               const at::Tensor& beside = {});

/// The summed cross-entropy as a tensor, for who differentiates it twice.
at::Tensor loss_to_bend(const chunked_head& head, const foretold_tokens& x);

/// Adds up in double and in the order of the targets. The first of equals is
/// the guess.
scores score_tokens(const chunked_head& head, const foretold_tokens& x);

} // namespace troupe::models
