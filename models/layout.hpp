#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bf16.hpp"
#include "core/ids.hpp"
#include "core/recipe.hpp"
#include "core/result.hpp"
#include "core/values.hpp"
#include "kernels/grid.hpp"
#include "models/objective.hpp"

namespace troupe::models {

using digest = std::array<std::uint8_t, 32>; ///< BLAKE2b-256.

std::string to_hex(const digest& x);

/// Everything about one travelling block that does not change during a run.
struct block_layout {
  block_id id;
  line_id line;
  std::string name; ///< `family`, or `family.3`.
  std::string family;
  std::uint32_t instance = 0;
  scope where = scope::shared;
  merge_rule merge;
  weight_rule weight = weight_rule::examples;
  std::uint32_t rank = 0;
  tensor_list tensors;
  std::size_t size = 0;
  kernels::grid grid;
  sent_as sent = sent_as::f32;
};

/// What crosses the wire of a version or an offer of the block, or would: a
/// client that is here learns from no more than one that is elsewhere.
inline shared_values sent_of(const block_layout& block,
                             const shared_values& values) {
  return block.sent == sent_as::bf16 ? rounded_to_bf16(values) : values;
}

struct line_layout {
  line_id id;
  std::string name; ///< The group's, or the block's.
  std::vector<block_id> blocks;
};

/// A block that nobody trains and that a leg of the recipe names. It has no id,
/// no line and no versions: hosts hold its values, and know by their digest
/// that these are the same.
struct frozen_layout {
  std::string name;
  tensor_list tensors;
  std::size_t size = 0;
  digest content{}; ///< Of the values as they lie; zeros: nobody said them yet.
};

/// The travelling blocks of a run. Ids count up from 1 in the order of the
/// recipe, so that they are the same on every host; personal blocks have none.
struct layout {
  std::vector<block_layout> blocks; ///< blocks[i].id is i + 1.
  std::vector<line_layout> lines;   ///< lines[i].id is i + 1.

  const block_layout* find(block_id x) const noexcept;
  const block_layout* find(std::string_view name) const noexcept;
  const line_layout* find(line_id x) const noexcept;

  /// All instances of a family, in order.
  std::vector<block_id> family(std::string_view name) const;

  /// The line whose versions count the run's length: that of the first shared
  /// block; none if there are only experts.
  std::optional<line_id> lead() const noexcept;

  /// Whether some blocks are sent otherwise than as f32.
  bool rounds() const noexcept;

  /// Names, shapes, scopes and lines of all blocks at full rank, and which are
  /// sent otherwise than as f32; of what is frozen also what it holds.
  digest fingerprint() const;

  std::vector<frozen_layout> frozen = {};
};

struct layout_options {
  double weight_max = 1; ///< The largest weight that an offer can have.
  double delta_max = 8;
  std::uint64_t offers = 0;    ///< In one version; up to 4,096 it is the same.
  sent_as sent = sent_as::f32; ///< All blocks that travel.
};

/// Returns `invalid_config` if `shapes` lacks a family of the recipe that
/// travels. A family whose tensors are an empty list is left out
/// ("model.buffers" of a model without buffers), and so is a frozen one that
/// `shapes` lacks. What is frozen has no content yet.
result<layout> make_layout(const recipe& method,
                           const std::map<std::string, tensor_list>& shapes,
                           const layout_options& opts);

/// Notes what frozen blocks hold; those that are not among `values` keep what
/// was noted. @pre of as many values
void set_content(layout& to,
                 const std::map<std::string, shared_values>& values);

/// Of a block: over name, 0, dtype, 0, shapes and the little-endian values.
digest digest_of(const block_layout& block, std::span<const float> values);

/// Of a version: over its blocks' digests and the server optimiser's state.
digest digest_of(std::span<const digest> blocks,
                 std::span<const double> moments);

/// Of a run: over (name, digest) sorted by name.
digest digest_of(const std::map<std::string, digest>& blocks);

/// As errors say the shape of a tensor: [2, 3].
std::string shown_extents(std::span<const std::int64_t> shape);

/// Any bytes, for content addresses.
digest digest_of(std::span<const std::byte> bytes);

} // namespace troupe::models
