#pragma once

// Texts of users, and a language model that learns from them.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/language/language_data.hpp"
#include "models/language/tokenizer.hpp"
#include "node/config/experiment.hpp"
#include "node/task/materials.hpp"

namespace troupe::node {

/// As many users as there are clients: those that are named, or the first by
/// name; nobody, where each client brings its own. Returns `invalid_config`
/// where there are fewer, and `invalid_data`. @pre x.data.is_language()
[[nodiscard]] result<std::shared_ptr<const models::language_data>>
load_language(const experiment& x);

/// Texts of these users, as the run cuts and bounds them. Returns
/// `invalid_data`.
[[nodiscard]] result<std::shared_ptr<const models::language_data>>
load_users(const experiment& x, const std::filesystem::path& folder,
           std::vector<std::string> users,
           std::shared_ptr<const models::tokenizer> by);

/// Likewise of the one user that is at this path; see models::read_one_user.
[[nodiscard]] result<std::shared_ptr<const models::language_data>>
load_user(const experiment& x, const std::filesystem::path& path,
          std::shared_ptr<const models::tokenizer> by);

/// Streams that are there, and the run's model over them.
[[nodiscard]] result<materials>
language_over(const experiment& x,
              std::shared_ptr<const models::language_data> data,
              const language_maker& make);

/// The users that are clients: those that are named, or the first by name.
/// Returns `invalid_config` where there are fewer, and `invalid_data`.
/// @pre x.data.is_language()
[[nodiscard]] result<std::vector<std::string>> users_of(const experiment& x);

/// As refusals speak of users by these names.
std::vector<std::string> told_users(const experiment& x,
                                    std::vector<std::string> names);

/// The tokenizer that is named, or the model's. Returns `invalid_data`, and
/// `invalid_config` where a model of a file has another one.
[[nodiscard]] result<std::shared_ptr<const models::tokenizer>>
tokenizer_for(const experiment& x);

/// Whether its method learns what stands beside a base, and not the base.
bool has_frozen_model(const experiment& x);

/// Rows and a model over them: streams with a model of which all weights are
/// trained, or what is labelled (node/task/labelled.hpp).
[[nodiscard]] result<materials> language_of(const experiment& x,
                                            const language_maker& make);

} // namespace troupe::node
