#pragma once

// The files that a model is, known by what is in them: two with the same blocks
// may compute different things.

#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/layout.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

struct known_file {
  std::string name; ///< Of its part in the run: one word.
  std::string path;
  models::digest content{};
};

/// Of all models of a run: a scripted one its bytes, one of language its
/// tokenizer and, where it has a file, the base in that, and of a common model
/// likewise. Returns `invalid_config` or `invalid_data` where one cannot be
/// read.
[[nodiscard]] result<std::vector<known_file>>
parts_of_models(const experiment& x);

/// Of the model that is trained, or adapted, all of these together; zeros for
/// other kinds.
[[nodiscard]] result<models::digest> digest_of_model(const experiment& x);

/// Whether there is nothing that makes tokens for a model of language: none is
/// named, and there is none beside its weights.
bool lacks_tokenizer(const experiment& x);

/// For people: where that is.
std::string files_of_model(const experiment& x);

} // namespace troupe::node
