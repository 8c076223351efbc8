#pragma once

#include <memory>

#include "models/torch/language/network.hpp"

namespace troupe::models {

// One maker per architecture, each in a unit of its own. @pre the spec is of it

std::unique_ptr<language_network> make_gpt2(const language_spec& x);
std::unique_ptr<language_network> make_llama(const language_spec& x);

/// And RoBERTa.
std::unique_ptr<language_network> make_bert(const language_spec& x);

/// Version 3: places are told by attention alone, from embeddings of distances.
std::unique_ptr<language_network> make_deberta(const language_spec& x);

} // namespace troupe::models
