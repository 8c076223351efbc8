#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/language/tokenizer.hpp"

namespace troupe::models {

/// Which of many texts a longer one begins with: a walk, byte by byte.
class prefix_tree {
public:
  /// Where a walk stands.
  using place = std::uint32_t;

  static constexpr place root = 0;
  static constexpr place nowhere = ~place{0}; ///< No text goes on like that.

  prefix_tree() = default;

  /// Of two that are equal, the last counts. The texts may go afterwards.
  explicit prefix_tree(
    std::vector<std::pair<std::string_view, token_id>> texts);

  /// @pre `at` is somewhere
  place next(place at, char byte) const noexcept;

  /// From the root.
  place after(std::string_view text) const noexcept;

  /// The text that ends here. @pre `at` is somewhere
  std::optional<token_id> ends(place at) const noexcept;

  std::optional<token_id> find(std::string_view text) const noexcept;

  struct token_found {
    token_id id = 0;
    std::size_t bytes = 0; ///< None: there is no token.
  };

  /// The longest of the texts that go on from `at` as this one begins.
  token_found longest(place at, std::string_view text) const noexcept;

private:
  /// Those that come next stand beside each other, ordered by their bytes.
  struct node {
    place first = 0;
    std::uint32_t count = 0;
    std::optional<token_id> id = {};
  };

  void add(std::uint8_t byte);

  std::vector<node> nodes_;
  std::vector<std::uint8_t> bytes_; ///< By which one comes to each node.
};

} // namespace troupe::models
