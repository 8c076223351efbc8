#pragma once

// How a text goes on, by a model that foretells what comes next.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/result.hpp"

namespace troupe::models {

struct continuation_rule {
  /// How many texts are followed at once: the best of so many. 1: the most
  /// probable token each time.
  std::uint32_t beam = 1;
  std::uint32_t tokens_max = 32; ///< Of what is written.
  /// Of those that have come to an end the best has the greatest logarithm of
  /// its chance, divided by its length to this power: above 0 for longer ones.
  double length_power = 1;
  std::optional<std::uint32_t> end = {}; ///< After which nothing follows.
};

struct continuation {
  std::vector<std::uint32_t> tokens; ///< Without the end's.
  double log_chance = 0;             ///< Of all of them, and the end.
  bool has_ended = false;            ///< Else there was no room for more.
};

/// The side of an objective that writes.
class model_continuations {
public:
  virtual ~model_continuations() = default;

  /// Tokens of a prompt and what follows it.
  virtual std::size_t tokens_max() const noexcept = 0;

  /// By the live parameters, in evaluation mode: no parameter changes. Returns
  /// `invalid_data` where the prompt is empty, has tokens that the model lacks
  /// or leaves no room, or the model says what is no number. @pre how.beam > 0
  [[nodiscard]] virtual result<continuation>
  go_on(std::span<const std::uint32_t> prompt,
        const continuation_rule& how) = 0;
};

} // namespace troupe::models
