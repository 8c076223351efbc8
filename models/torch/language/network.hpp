#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "models/language/spec.hpp"
#include "models/torch/language/parts.hpp"

namespace troupe::models {

struct token_batch {
  at::Tensor ids;        ///< [rows x tokens], Long; padding has id 0.
  at::Tensor there = {}; ///< [rows x tokens], Bool; undefined: all are.
  at::Tensor types = {}; ///< [rows x tokens], Long; undefined: all are 0.
};

/// A language model as a function of its parts. Has no weights and no state. It
/// computes in the type of its parts, and can be differentiated twice.
class language_network {
public:
  virtual ~language_network() = default;

  virtual const language_spec& spec() const noexcept = 0;

  /// [rows x tokens x width], what goes into the head. Of padding these are
  /// numbers without a meaning. @pre there are no more tokens than the model's
  /// context, padding stands at the end of its row
  virtual at::Tensor hidden(model_parts& of, const token_batch& x) const = 0;

  /// Of [n x width]: [n x vocabulary]. @pre spec().has_head
  virtual at::Tensor logits(model_parts& of,
                            const at::Tensor& hidden) const = 0;

  /// The same, for who makes them some rows at a time. @pre likewise
  virtual open_product open_logits(model_parts& of,
                                   const at::Tensor& hidden) const = 0;
};

std::unique_ptr<language_network> make_language_network(const language_spec& x);

/// The mean of the hidden states that are there, of length one (MiniLM's
/// embedding): [rows x width]. A row of padding alone has zeros.
at::Tensor mean_of_tokens(const at::Tensor& hidden, const at::Tensor& there);

} // namespace troupe::models
