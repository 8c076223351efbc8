#pragma once

// The tensors of a language model: one order and one set of names for all, and
// how each kind of file says them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/language/spec.hpp"
#include "models/language/weight_files.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// The tensors of a model in the order in which they lie in a flat buffer, by
/// the names of transformers; every matrix is [outputs x inputs].
tensor_list tensors_of(const language_spec& x);

/// How a file says one of them.
struct tensor_source {
  std::string name;        ///< In the file; empty: this kind has none.
  bool transposed = false; ///< GPT-2's in safetensors.
  /// Above 0: the rows of so many heads are in the order of pairs (GGUF's
  /// Llama, q and k).
  std::uint32_t interleaved = 0;
};

/// @pre name is of tensors_of(x). A tied head has no name of its own, and a
/// file that has one all the same is not read for it.
tensor_source source_of(const language_spec& x, weights_format from,
                        const std::string& name);

/// A name as a file may have it that leaves out the model's before it.
std::string_view without_model(std::string_view name) noexcept;

/// That tensor, also where a file leaves out the model's name before its own,
/// or has the name of an older release. Null: it is not there.
const stored_tensor* find_source(const weight_files& in,
                                 const tensor_source& x);

/// Whether that tensor is there, and of whole numbers or bools.
bool is_left_out(const weight_files& in, const tensor_source& x);

/// Where each tensor of a network stands in tensors_of, so that no name is
/// looked up again.
struct layer_places {
  /// GPT-2: query is the fused one, key == value == query.
  std::size_t query, key, value, output, up, gate, down, norm1, norm2;
  std::size_t query_bias, key_bias, value_bias, output_bias, up_bias, down_bias,
    norm1_bias, norm2_bias;
  std::size_t number = 0; ///< Of the layer, from 0.
};

inline constexpr std::size_t no_place = ~std::size_t{0}; ///< There is none.

struct model_places {
  std::size_t tokens, positions, types, first_norm, first_norm_bias, last_norm,
    last_norm_bias, relative, relative_norm, relative_norm_bias;
  std::size_t head, head_bias; ///< Tied: head == tokens.
  /// BERT's before the head.
  std::size_t transform, transform_bias, transform_norm, transform_norm_bias;
  std::vector<layer_places> layers;
};

model_places places_of(const language_spec& x);

/// Whether a tensor is of a layer's attention, or of its two or three products
/// behind it; norms are of neither.
bool is_of_attention(const language_spec& x, std::string_view tensor) noexcept;
bool is_of_feed_forward(const language_spec& x,
                        std::string_view tensor) noexcept;

} // namespace troupe::models
