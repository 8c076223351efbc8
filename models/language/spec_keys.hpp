#pragma once

// Keys of a model's description, wherever they stand. The first that is wrong
// is what is said in the end.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/language/spec.hpp"

namespace troupe::models {

/// Is there, and is neither a number nor a flag nor a text.
struct unreadable_value {};

/// What stands under a key; nothing: it is not there.
using said_value =
  std::variant<std::monostate, double, bool, std::string, unreadable_value>;

class spec_keys {
public:
  using look_up = std::function<said_value(std::string_view key)>;

  spec_keys(look_up look, std::string_view origin)
    : look_(std::move(look)),
      origin_(origin) {
    // nop
  }

  bool has(std::string_view key) const {
    return !std::holds_alternative<std::monostate>(look_(key));
  }

  /// A whole number from 1. One that is not there is wrong.
  std::uint32_t count(std::string_view key);

  /// A whole number from 0.
  std::uint32_t count_or(std::string_view key, std::uint32_t otherwise);

  /// One that is not there is wrong.
  double number(std::string_view key);
  double number_or(std::string_view key, double otherwise);
  bool flag_or(std::string_view key, bool otherwise);
  std::string text_or(std::string_view key, std::string_view otherwise);

  /// An id; below zero there is none.
  std::optional<std::uint32_t> token(std::string_view key) const;

  /// @param found "is 7", "is not there"
  void refuse(std::string_view key, std::string_view found,
              std::string_view would_do);

  /// Of a flag that must be as it mostly is.
  void must_be(std::string_view key, bool wanted);

  /// What was wrong, or the spec if it goes together.
  result<language_spec> end(const language_spec& x) const;

private:
  std::uint32_t whole(std::string_view key, std::uint32_t least,
                      std::uint32_t otherwise);

  look_up look_;
  std::string origin_;
  std::optional<error> wrong_ = {};
};

/// By the names of transformers.
activation_kind activation_of(spec_keys& keys, std::string_view key,
                              std::string_view otherwise);

} // namespace troupe::models
