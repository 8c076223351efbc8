#include "models/layout.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <type_traits>
#include <utility>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "models/adapters/rank_prefix.hpp"
#include "models/blake2b.hpp"

// The byte strings under the digests. Integers are little-endian, a text is its
// UTF-8 bytes and one zero byte, `n[8]` is an integer of eight bytes.
//
//   block    name  "f32"  tensors[8]  { dimensions[8]  { extent[8] }... }...
//            values: IEEE 754 binary32, little-endian
//   version  blocks[8]  { digest of a block: 32 bytes }...
//            numbers[8] { server optimiser: IEEE 754 binary64, little-endian
//            }...
//   run      { name  digest: 32 bytes }..., sorted by name
//   layout   "layout"  blocks[8]
//            { line's name  name  family  instance[8]  scope[8]  rank[8]
//              tensors[8] { name  dimensions[8] { extent[8] }... }... }...
//            if a leg names frozen ones: blocks[8]
//            { name  tensors[8] { name  dimensions[8] { extent[8] }... }...
//              digest of the values as they lie: 32 bytes }...
//            if some are sent as bf16: "bf16"  { id[8] }...
//
// Names of tensors stand in the layout's digest and not in a block's: a block
// is the same block after its tensors were renamed.

static_assert(std::endian::native == std::endian::little,
              "digests take values as they lie in memory");

namespace troupe::models {

namespace {

class hasher : public blake2b {
public:
  using blake2b::add;

  void add(std::string_view text) noexcept {
    add(text.data(), text.size());
    add("", 1);
  }

  void add(const digest& x) noexcept {
    add(x.data(), x.size());
  }

  template <class T>
  requires std::is_arithmetic_v<T>
  void add(std::span<const T> xs) noexcept {
    add(xs.data(), xs.size_bytes());
  }

  void add(std::uint64_t x) noexcept {
    add(&x, sizeof x);
  }

  void add_shape(const tensor_spec& x) noexcept {
    add(std::uint64_t{x.shape.size()});
    add(std::span<const std::int64_t>{x.shape});
  }

  void add_named(const tensor_list& xs) noexcept {
    add(std::uint64_t{xs.size()});
    for (const auto& x : xs) {
      add(x.name);
      add_shape(x);
    }
  }
};

/// The size of a block with these tensors, in values.
result<std::size_t> checked_size(std::string_view family,
                                 const tensor_list& xs) {
  // What a client keeps of an offer says its length in 32 bits.
  constexpr std::int64_t values_max = 1'000'000'000;
  std::int64_t total = 0;
  for (const auto& x : xs) {
    std::int64_t n = 1;
    for (const auto extent : x.shape) {
      if (extent < 1)
        return fail(errc::invalid_config,
                    "block '" + std::string{family} + "': tensor '" + x.name
                      + "' has an extent of " + std::to_string(extent)
                      + "; extents count from 1");
      n = extent > values_max / n ? values_max + 1 : n * extent;
      if (n > values_max)
        break;
    }
    total += n;
    if (total > values_max)
      return fail(errc::invalid_config,
                  "block '" + std::string{family}
                    + "': its tensors hold more than "
                    + std::to_string(values_max)
                    + " values; split it into several blocks");
  }
  return static_cast<std::size_t>(total);
}

std::string instance_name(const std::string& family, std::uint32_t count,
                          std::uint32_t i) {
  return count > 1 ? family + "." + std::to_string(i) : family;
}

/// One version per line means one scope and one number of instances per group.
result<void> check_groups(const recipe& method) {
  std::map<std::string, const block_spec*> groups;
  for (const auto& family : method.blocks) {
    if (!travels(family.where) || family.group.empty())
      continue;
    const auto& first = *groups.emplace(family.group, &family).first->second;
    if (first.count != family.count || first.where != family.where)
      return fail(
        errc::invalid_config,
        "group '" + family.group + "': '" + first.name + "' and '" + family.name
          + "' differ in scope or number of instances; blocks of a group "
            "form one version line and need the same");
  }
  return {};
}

result<void> check_family(const block_spec& family,
                          const tensor_list& tensors) {
  const auto where = "block '" + family.name + "': ";
  if (family.name.empty() || family.name.find('\0') != std::string::npos)
    return fail(errc::invalid_config,
                where + "a block needs a name without zeros");
  if (family.count == 0 || family.count > limits::blocks_max)
    return fail(errc::invalid_config,
                where + "count is " + std::to_string(family.count)
                  + "; from 1 to " + std::to_string(limits::blocks_max)
                  + " would do");
  for (const auto& x : tensors)
    if (family.rank > 0 && has_ranks(x) && x.shape[0] > family.rank)
      return fail(errc::invalid_config,
                  where + "its tensor '" + x.name + "' has more rows than "
                    + std::to_string(family.rank) + ", one for each rank");
  return {};
}

/// Adds the instances of a family, and their lines: one for each block without
/// a group, one for each group and instance. @pre the family was checked
void append(layout& to, const block_spec& family, const tensor_list& tensors,
            const kernels::grid& grid, std::map<std::string, line_id>& groups) {
  for (std::uint32_t i = 0; i < family.count; ++i) {
    const block_id id{to.blocks.size() + 1};
    const auto name = instance_name(family.name, family.count, i);
    line_id line{to.lines.size() + 1};
    auto line_name = name;
    if (!family.group.empty()) {
      line_name = instance_name(family.group, family.count, i);
      line = groups.emplace(line_name, line).first->second;
    }
    if (line.value > to.lines.size())
      to.lines.push_back({.id = line, .name = line_name, .blocks = {}});
    to.lines[line.value - 1].blocks.push_back(id);
    to.blocks.push_back({.id = id,
                         .line = line,
                         .name = name,
                         .family = family.name,
                         .instance = i,
                         .where = family.where,
                         .merge = family.merge,
                         .weight = family.weight,
                         .rank = family.rank,
                         .tensors = tensors,
                         .size = size_of(tensors),
                         .grid = grid});
  }
}

bool is_fetched(const recipe& method, const std::string& family) {
  return std::ranges::any_of(method.legs, [&](const leg& x) {
    return std::ranges::find(x.fetch, family, &fetch_spec::family)
           != x.fetch.end();
  });
}

/// The frozen blocks that a leg names, in the order of the recipe.
std::vector<frozen_layout>
frozen_of(const recipe& method,
          const std::map<std::string, tensor_list>& shapes) {
  std::vector<frozen_layout> result;
  for (const auto& family : method.blocks) {
    const auto found = shapes.find(family.name);
    if (family.where != scope::frozen || found == shapes.end()
        || found->second.empty() || !is_fetched(method, family.name))
      continue;
    result.push_back({.name = family.name,
                      .tensors = found->second,
                      .size = size_of(found->second)});
  }
  return result;
}

/// Names are keys, in the ledger and for people: no two blocks may share one,
/// and no two lines.
template <class Named>
result<void> check_names(const std::vector<Named>& xs, std::string_view what) {
  std::set<std::string_view> names;
  for (const auto& x : xs)
    if (!names.insert(x.name).second)
      return fail(errc::invalid_config, "two " + std::string{what}
                                          + " are named '" + x.name
                                          + "'; their names must differ");
  return {};
}

} // namespace

std::string to_hex(const digest& x) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * x.size());
  for (const auto byte : x) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

const block_layout* layout::find(block_id x) const noexcept {
  // Id 0 wraps around to a number that no layout reaches.
  return x.value - 1 < blocks.size() ? &blocks[x.value - 1] : nullptr;
}

const block_layout* layout::find(std::string_view name) const noexcept {
  for (const auto& block : blocks)
    if (block.name == name)
      return &block;
  return nullptr;
}

const line_layout* layout::find(line_id x) const noexcept {
  return x.value - 1 < lines.size() ? &lines[x.value - 1] : nullptr;
}

std::vector<block_id> layout::family(std::string_view name) const {
  std::vector<block_id> result;
  for (const auto& block : blocks)
    if (block.family == name)
      result.push_back(block.id);
  return result;
}

std::optional<line_id> layout::lead() const noexcept {
  for (const auto& block : blocks)
    if (block.where == scope::shared)
      return block.line;
  return std::nullopt;
}

bool layout::rounds() const noexcept {
  return std::ranges::any_of(
    blocks, [](const block_layout& x) { return x.sent != sent_as::f32; });
}

digest layout::fingerprint() const {
  hasher h;
  h.add("layout");
  h.add(std::uint64_t{blocks.size()});
  for (const auto& block : blocks) {
    h.add(find(block.line)->name);
    h.add(block.name);
    h.add(block.family);
    h.add(std::uint64_t{block.instance});
    h.add(static_cast<std::uint64_t>(block.where));
    h.add(std::uint64_t{block.rank});
    h.add_named(block.tensors);
  }
  // Layouts without one are as they were before there were any.
  if (!frozen.empty())
    h.add(std::uint64_t{frozen.size()});
  for (const auto& block : frozen) {
    h.add(block.name);
    h.add_named(block.tensors);
    h.add(block.content);
  }
  if (rounds())
    h.add("bf16");
  for (const auto& block : blocks)
    if (block.sent == sent_as::bf16)
      h.add(block.id.value);
  return h.finish();
}

result<layout> make_layout(const recipe& method,
                           const std::map<std::string, tensor_list>& shapes,
                           const layout_options& opts) {
  if (!(opts.weight_max > 0) || !(opts.delta_max > 0)
      || opts.weight_max > 0x1p40 / opts.delta_max)
    return fail(errc::invalid_config,
                "weights up to " + std::to_string(opts.weight_max)
                  + " and deltas up to " + std::to_string(opts.delta_max)
                  + " leave no digits for exact sums; both must be above 0 and "
                    "their product at most 2^40");
  if (auto ok = check_groups(method); !ok)
    return tl::unexpected{ok.error()};
  layout built;
  std::map<std::string, line_id> groups;
  const auto grid =
    kernels::grid_for(opts.weight_max, opts.delta_max, opts.offers);
  for (const auto& family : method.blocks) {
    if (!travels(family.where))
      continue;
    const auto found = shapes.find(family.name);
    if (found == shapes.end())
      return fail(errc::invalid_config,
                  "method '" + method.name + "' has a block '" + family.name
                    + "', but the model has no part of that name");
    if (found->second.empty())
      continue;
    const auto size = checked_size(family.name, found->second);
    if (!size)
      return tl::unexpected{size.error()};
    if (auto ok = check_family(family, found->second); !ok)
      return tl::unexpected{ok.error()};
    append(built, family, found->second, grid, groups);
    if (built.blocks.size() > limits::blocks_max)
      return fail(errc::invalid_config, "block '" + family.name
                                          + "': more than "
                                          + std::to_string(limits::blocks_max)
                                          + " blocks in one layout");
  }
  if (auto ok = check_names(built.blocks, "blocks"); !ok)
    return tl::unexpected{ok.error()};
  if (auto ok = check_names(built.lines, "version lines"); !ok)
    return tl::unexpected{ok.error()};
  for (auto& block : built.blocks)
    block.sent = opts.sent;
  built.frozen = frozen_of(method, shapes);
  return built;
}

void set_content(layout& to,
                 const std::map<std::string, shared_values>& values) {
  for (auto& block : to.frozen) {
    const auto found = values.find(block.name);
    if (found == values.end())
      continue;
    TROUPE_ASSERT(found->second->size() == block.size);
    block.content = digest_of(
      std::as_bytes(std::span{found->second->data(), found->second->size()}));
  }
}

digest digest_of(const block_layout& block, std::span<const float> values) {
  TROUPE_ASSERT(values.size() == block.size);
  hasher h;
  h.add(block.name);
  h.add("f32");
  h.add(std::uint64_t{block.tensors.size()});
  for (const auto& tensor : block.tensors)
    h.add_shape(tensor);
  h.add(values);
  return h.finish();
}

digest digest_of(std::span<const digest> blocks,
                 std::span<const double> moments) {
  hasher h;
  h.add(std::uint64_t{blocks.size()});
  for (const auto& x : blocks)
    h.add(x);
  h.add(std::uint64_t{moments.size()});
  h.add(moments);
  return h.finish();
}

digest digest_of(const std::map<std::string, digest>& blocks) {
  hasher h;
  for (const auto& [name, x] : blocks) {
    h.add(name);
    h.add(x);
  }
  return h.finish();
}

std::string shown_extents(std::span<const std::int64_t> shape) {
  std::string text;
  for (const auto extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

digest digest_of(std::span<const std::byte> bytes) {
  hasher h;
  h.add(bytes.data(), bytes.size());
  return h.finish();
}

} // namespace troupe::models
