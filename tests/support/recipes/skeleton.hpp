#pragma once

// Recipes that a method is known by, on quadratics in place of models: they
// show that blocks, legs, roles, choices, groups and merge rules carry the
// method, and say nothing about how well it learns.

#include <functional>
#include <memory>
#include <string>

#include "models/trainer.hpp"
#include "tests/support/sim/sim_node.hpp"

namespace troupe::test {

/// How a method plays on quadratics where it differs from pulling each block
/// towards its optimum. What is null is not played.
struct skeleton_play {
  using blocks = models::layout;
  using input = models::visit_input;

  /// What the recipe's choice names, with what it discloses.
  std::function<models::choice(const input&, const blocks&)> choose;

  /// The declared share of an instance, where the block's weight has one. It is
  /// asked for after `keep`, of the state that the visit made.
  std::function<double(const models::client_state&, std::uint32_t)> share_of;

  /// The local step of a block in place of `pull`.
  std::function<std::vector<float>(const input&, const models::fetched_block&)>
    step;

  /// What becomes of the client's state, and what is disclosed of it.
  std::function<void(const input&, models::trained&)> keep;
};

/// A part below this share is left out of an offer.
inline constexpr double share_min = 0x1p-10;

/// Examples of a client in all skeletons.
constexpr std::uint64_t examples_of(client_id x) {
  return 10 + x.value;
}

models::tensor_list vector_of(std::int64_t size);
models::tensor_list matrix_of(std::int64_t rows, std::int64_t columns);

/// A trainer for the recipe `x.what`.
sim_method::trainer_maker played(skeleton_play how);

/// Two values that stand at the beginning of every personal block of a
/// skeleton: they must be in no frame.
inline constexpr float personal_marks[]{0x1.9ace12p+77f, -0x1.5e33f6p-55f};

/// A personal block that begins with the marks.
personal_values marked(std::vector<float> own);

/// What follows the marks; zeros where the client has no such block yet.
std::vector<float> own_values(const models::client_state& x,
                              const std::string& name, std::size_t size);

// One file each.
sim_method ddome_skeleton();
/// @param liar discloses shares that do not add up; 0: nobody
sim_method floral_skeleton(client_id liar = {});
sim_method comigs_skeleton();
sim_method pf2lora_skeleton();
sim_method ifca_skeleton();
sim_method scaffold_skeleton();
/// @param rank_max clients have ranks 1, 2, … up to this, around and around
sim_method rank_prefix_skeleton(std::uint32_t rank_max = 4);

inline constexpr std::uint32_t ddome_anchors = 5;
inline constexpr std::uint32_t ddome_wanted = 2; ///< K of the top-K.
inline constexpr std::uint32_t prefix_rows = 4;
inline constexpr std::uint32_t prefix_columns = 3;

std::uint32_t specialists_of(client_id x);
std::uint32_t rank_of(client_id x, std::uint32_t rank_max);
/// Where the data of a client pull the sum of the common and its own adapter.
float pf2lora_optimum(client_id x);

} // namespace troupe::test
