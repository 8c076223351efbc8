#include "models/language/shard.hpp"

#include <array>
#include <utility>

#include "core/json.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/safetensors_header.hpp"

namespace troupe::models {

namespace {

// Of whole numbers and bools there is no stored type: they come last.
constexpr std::array types_of_shards{
  header_type{.name = "F32", .bytes = 4},
  header_type{.name = "F16", .bytes = 2},
  header_type{.name = "BF16", .bytes = 2},
  header_type{.name = "BOOL", .bytes = 1},
  header_type{.name = "I8", .bytes = 1},
  header_type{.name = "U8", .bytes = 1},
  header_type{.name = "I16", .bytes = 2},
  header_type{.name = "U16", .bytes = 2},
  header_type{.name = "I32", .bytes = 4},
  header_type{.name = "U32", .bytes = 4},
  header_type{.name = "I64", .bytes = 8},
  header_type{.name = "U64", .bytes = 8},
};

constexpr std::array stored_as{stored_type::f32, stored_type::f16,
                               stored_type::bf16};

result<void> check_counts(const safetensors_header& x,
                          std::string_view origin) {
  if (x.claims.size() > limits::language_tensors_max)
    return fail_at(origin, "has " + std::to_string(x.claims.size())
                             + " tensors, and at most "
                             + std::to_string(limits::language_tensors_max)
                             + " are read; shards would do");
  for (const auto& y : x.claims)
    if (y.tensor.shape.size() > limits::tensor_extents_max)
      return fail_at(
        origin, in_quotes(shortened(y.tensor.name)) + " has "
                  + std::to_string(y.tensor.shape.size()) + " extents; at most "
                  + std::to_string(limits::tensor_extents_max) + " would do");
  return {};
}

/// Of a folder that somebody got from elsewhere: no name leads out of it.
bool is_plain(const std::string& name) {
  return !name.empty() && name != "." && name != ".."
         && name.find_first_of(std::string_view{"/\0", 2}) == name.npos;
}

} // namespace

result<weights_shard> parse_shard(std::span<const std::byte> bytes,
                                  std::string_view origin) {
  auto parts = take_apart(
    bytes, {.all = types_of_shards, .would_do = "F32, F16 or BF16"}, origin);
  if (!parts)
    return tl::unexpected{std::move(parts.error())};
  if (auto ok = check_counts(parts->header, origin); !ok)
    return tl::unexpected{std::move(ok.error())};
  weights_shard x;
  for (auto& y : parts->header.claims) {
    if (y.type >= stored_as.size()) {
      x.left_out.push_back(std::move(y.tensor.name));
      continue;
    }
    x.tensors.push_back({.name = std::move(y.tensor.name),
                         .shape = std::move(y.tensor.shape),
                         .type = stored_as[y.type],
                         .bytes = parts->values.subspan(
                           static_cast<std::size_t>(y.begin),
                           static_cast<std::size_t>(y.end - y.begin))});
  }
  return x;
}

result<std::map<std::string, std::string>>
parse_shard_index(std::string_view text, std::string_view origin) {
  const auto x = json::parse(text);
  const auto* map = x ? x->find("weight_map") : nullptr;
  const auto* fields = map ? map->fields() : nullptr;
  if (fields == nullptr)
    return fail_at(origin, "it has no weight_map, an object; it is damaged, or "
                           "no index of shards");
  if (fields->size() > limits::language_tensors_max)
    return fail_at(
      origin, "has " + std::to_string(fields->size()) + " tensors, and at most "
                + std::to_string(limits::language_tensors_max) + " are read");
  std::map<std::string, std::string> shards;
  for (const auto& [name, said] : *fields) {
    const auto* shard = said.text();
    if (shard == nullptr || !is_plain(*shard))
      return fail_at(
        origin, in_quotes(shortened(name)) + " is in "
                  + (shard ? in_quotes(shortened(*shard)) : "what is no text")
                  + "; the name of a file beside the index would "
                    "do");
    if (!shards.emplace(name, *shard).second)
      return fail_at(origin, in_quotes(shortened(name))
                               + " is there twice; an index that has it once "
                                 "would do");
  }
  return shards;
}

} // namespace troupe::models
