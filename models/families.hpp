#pragma once

// The names under which the built-in procedures look for blocks. A recipe that
// uses a procedure has blocks of these families.

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::models {

/// A whole model's parameters. Shared, or frozen where nobody merges it.
inline constexpr std::string_view model_family = "model";

/// A module's float buffers. Its scope in the recipe is the policy: `shared` is
/// averaged, `frozen` keeps the first values, `personal` stays with the client.
inline constexpr std::string_view buffers_family = "model.buffers";

/// SCAFFOLD's c, with the shape of `model`, and a client's c_i.
inline constexpr std::string_view control_family = "control";
inline constexpr std::string_view own_control_family = "own_control";

/// A client's own whole model, and the buffers that belong to it.
inline constexpr std::string_view own_model_family = "own_model";
inline constexpr std::string_view own_buffers_family = "own_model.buffers";

/// Adapters of low rank of the shared model, and what a client mixes them by.
inline constexpr std::string_view adapter_family = "adapter";
inline constexpr std::string_view mixture_family = "mixture";

/// A model in two parts: all but its last layer, and that, which stays with the
/// client.
inline constexpr std::string_view body_family = "body";
inline constexpr std::string_view head_family = "head";

/// An adapter that a client keeps to itself.
inline constexpr std::string_view own_adapter_family = "own_adapter";

/// What of a client is live that shares something: that as its last visit left
/// it, or as it was merged with others' since.
enum class moment : std::uint8_t { as_left, as_merged };

/// Where a client keeps a shared block as it left it.
inline constexpr std::string_view left_prefix = "left_";

inline std::string left_of(std::string_view name) {
  return std::string{left_prefix}.append(name);
}

/// Under which a client keeps the moments and the steps of its experts.
inline constexpr const char* experts_optimiser = "experts";

/// Where it keeps how many steps an optimiser of that name has made.
inline std::string steps_counter_of(std::string_view optimiser) {
  return std::string{optimiser}.append(".steps");
}

/// The common adapter as a client left it, before it was merged with others'.
inline constexpr std::string_view left_adapter_family = "left_adapter";

/// A model that all have and nobody trains, and its buffers: what rows look
/// like to it.
inline constexpr std::string_view common_family = "common";
inline constexpr std::string_view common_buffers_family = "common.buffers";

/// What says by the common model's embeddings which of several models serves a
/// row.
inline constexpr std::string_view gate_family = "gate";

/// Factors of the experts of a language model's feed-forward blocks: those that
/// all clients share, and a client's own; and of what chooses among them.
inline constexpr std::string_view generalist_family = "generalist";
inline constexpr std::string_view specialist_family = "specialist";
inline constexpr std::string_view router_family = "router";

/// Factors beside its attention.
inline constexpr std::string_view attention_family = "attention";

} // namespace troupe::models
