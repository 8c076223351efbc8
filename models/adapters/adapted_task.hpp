#pragma once

// What a task needs besides, whose clients adapt a model that nobody trains.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/key_places.hpp"
#include "models/local_trainer.hpp"

namespace troupe::models {

/// The adapters that clients keep, where the recipe says how large these are:
/// its option `own_rank` takes the place of `rank`, and they count what common
/// ones do. The layers are those of `adapters_for`.
result<std::optional<adapter_plan>> own_adapters_for(
  const recipe& method, const objective& model, const options& said,
  const std::vector<std::string>& layers = {}, const key_places& places = {});

/// First values of the recipe's frozen blocks, under the seed of
/// `initial_values`; none of a base that factors stand inside of.
std::map<std::string, shared_values>
frozen_values(objective& model, const recipe& method, std::uint64_t seed);

} // namespace troupe::models
