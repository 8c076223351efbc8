#pragma once

// JSON: a value, and its text. The library that reads and makes the text is in
// the .cpp alone, since each unit that includes its header pays seconds.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/result.hpp"

namespace troupe {

/// null, a bool, a number, a text, a list, or an object whose keys keep their
/// order.
class json {
public:
  using list = std::vector<json>;
  using members = std::vector<std::pair<std::string, json>>;

  json() = default;

  json(std::nullptr_t) {
    // nop
  }

  json(std::same_as<bool> auto x) : value_(x) {
    // nop
  }

  json(std::signed_integral auto x) : value_(std::int64_t{x}) {
    // nop
  }

  json(std::unsigned_integral auto x) requires(!std::same_as<decltype(x), bool>)
    : value_(std::uint64_t{x}) {
    // nop
  }

  json(double x) : value_(x) {
    // nop
  }

  json(const char* x) : value_(std::string{x}) {
    // nop
  }

  json(std::string_view x) : value_(std::string{x}) {
    // nop
  }

  json(std::string x) : value_(std::move(x)) {
    // nop
  }

  template <class T>
  json(const std::vector<T>& xs) : value_(list(xs.begin(), xs.end())) {
    // nop
  }

  template <class T>
  json(const std::map<std::string, T>& xs)
    : value_(members(xs.begin(), xs.end())) {
    // nop
  }

  /// The error says where it is none. More than 64 levels are refused.
  [[nodiscard]] static result<json> parse(std::string_view text);

  /// Of one line of a file: the error says what it is, for who writes such
  /// lines. A key that an object has twice is refused: nobody knows which of
  /// the two is meant.
  [[nodiscard]] static result<json> parse_line(std::string_view text);

  /// An object if each item is a pair of a text and something else: {{"a", 1}};
  /// else a list.
  json(std::initializer_list<json> items);

  static json array() {
    json x;
    x.value_.emplace<list>();
    return x;
  }

  static json object() {
    json x;
    x.value_.emplace<members>();
    return x;
  }

  /// Of an object, or of null, which becomes one. What is not there is null.
  json& operator[](std::string_view key);

  /// Likewise, of a key that is not there yet: nobody looks.
  void add(std::string key, json x);

  /// To a list, or to null, which becomes one.
  void push_back(json x);

  // What it is: nothing where it is something else.

  /// What an object has under a key; of a key that it has twice, the last.
  const json* find(std::string_view key) const;

  std::optional<double> number() const;
  std::optional<std::uint64_t> count() const; ///< A whole number from 0.
  std::optional<bool> flag() const;
  const std::string* text() const;
  const list* items() const;
  const members* fields() const;

  /// Beyond UTF-8 letters are replaced.
  /// @param indent of each level; below zero: all in one line
  std::string dump(int indent = -1) const;

private:
  struct writer;
  struct builder;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double,
               std::string, list, members>
    value_;
};

} // namespace troupe
