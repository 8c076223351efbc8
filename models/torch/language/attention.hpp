#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace troupe::models {

/// All but `there` are [rows x heads x tokens x head_width].
struct attention_input {
  at::Tensor query;
  at::Tensor key; ///< Of fewer heads: each serves as many queries' heads, which
                  ///< are beside each other.
  at::Tensor value;      ///< Of as many heads as keys.
  at::Tensor there = {}; ///< As in token_batch.
  at::Tensor bias = {};  ///< Is added to scores; may be undefined.
  bool causal = false;   ///< A token sees itself and what stands before it.
};

/// softmax(Q K^T / sqrt(head_width) + bias) V.
at::Tensor attend(const attention_input& x);

/// [rows x tokens x heads * head_width] by heads.
at::Tensor in_heads(const at::Tensor& x, std::int64_t heads);

/// The way back.
at::Tensor out_of_heads(const at::Tensor& x);

} // namespace troupe::models
