#pragma once

// Language models whose weights are kept in fewer bits, as in people's files.
// Their values follow a rule.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/bf16.hpp"
#include "models/language/base.hpp"
#include "tests/support/tiny_language.hpp"

namespace troupe::test {

/// So many, each by its number from `first` on. Those with a scale have one of
/// 2^-8 as binary16, and as much for a least value, where there is one.
inline std::vector<std::byte> blocks_by_rule(models::stored_type type,
                                             std::size_t blocks,
                                             std::uint32_t first = 0) {
  std::vector<std::byte> bytes;
  const auto put = [&](auto x) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof x);
    std::memcpy(bytes.data() + at, &x, sizeof x);
  };
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto value = [&](std::uint32_t i) {
      return value_by_rule(first + static_cast<std::uint32_t>(block), i);
    };
    const auto end = bytes.size() + models::facts_of(type).block_bytes;
    if (type == models::stored_type::f32)
      put(static_cast<float>(value(0)));
    else if (type == models::stored_type::bf16)
      put(to_bf16(static_cast<float>(value(0))));
    else
      put(std::uint16_t{0x1c00});
    if (type == models::stored_type::q4_1)
      put(std::uint16_t{0x9c00});
    for (std::uint32_t i = 0; bytes.size() < end; ++i)
      put(static_cast<std::int8_t>(value(i) * 200));
  }
  return bytes;
}

/// A tiny model whose rows are whole blocks.
inline models::language_spec wide_spec(std::string_view config) {
  auto x = tiny_spec(config);
  x.width = x.inner = 32;
  x.head_width = x.width / x.heads;
  if (x.kind == models::architecture_kind::llama)
    x.rope.width = x.head_width;
  return x;
}

/// Matrices of one type, and vectors as f32. @pre rows are whole blocks
class stored_language final : public models::language_base {
public:
  stored_language(const models::language_spec& x, models::stored_type type)
    : spec_(x),
      tensors_(models::tensors_of(x)),
      type_(type) {
    const auto plain = tensors_by_rule(x, at::kFloat);
    for (std::size_t place = 0; place < tensors_.size(); ++place) {
      if (!is_vector(place)) {
        rooms_.push_back(blocks_by_rule(
          type, tensors_[place].size() / models::facts_of(type).block_values,
          1000 * static_cast<std::uint32_t>(place)));
        continue;
      }
      auto& room = rooms_.emplace_back(tensors_[place].size() * sizeof(float));
      std::memcpy(room.data(), plain[place].data_ptr<float>(), room.size());
    }
  }

  const models::language_spec& spec() const noexcept override {
    return spec_;
  }

  const models::tensor_list& tensors() const noexcept override {
    return tensors_;
  }

  models::base_tensor at(std::size_t place) const noexcept override {
    return {is_vector(place) ? models::stored_type::f32 : type_, rooms_[place]};
  }

  const models::digest& content() const noexcept override {
    return content_;
  }

  bool is_made() const noexcept override {
    return false;
  }

  std::uint64_t bytes() const noexcept override {
    std::uint64_t sum = 0;
    for (const auto& x : rooms_)
      sum += x.size();
    return sum;
  }

private:
  bool is_vector(std::size_t place) const {
    return tensors_[place].shape.size() == 1;
  }

  models::language_spec spec_;
  models::tensor_list tensors_;
  models::stored_type type_;
  std::vector<std::vector<std::byte>> rooms_; ///< Of each tensor.
  models::digest content_{};
};

} // namespace troupe::test
