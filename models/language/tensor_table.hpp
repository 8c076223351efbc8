#pragma once

// What a model's tensors are called, in one place for all who ask.

#include <cstdint>
#include <string>
#include <vector>

#include "models/language/names.hpp"

namespace troupe::models {

struct named_tensor {
  tensor_spec what;              ///< By the name of transformers.
  std::string in_gguf;           ///< Empty: not there.
  bool transposed = false;       ///< In safetensors.
  std::uint32_t interleaved = 0; ///< Heads; in GGUF.

  tensor_source source(weights_format from) const {
    if (from == weights_format::safetensors)
      return {.name = what.name, .transposed = transposed};
    return {.name = in_gguf, .interleaved = interleaved};
  }
};

struct tensor_table {
  std::vector<named_tensor> tensors;
  model_places places;
};

tensor_table table_of(const language_spec& x);

} // namespace troupe::models
