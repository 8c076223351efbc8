#pragma once

// The library's behaviour is undefined where it reads a letter beyond ASCII as
// a part of a word, and what it reads so is not for us to foresee. So it never
// sees one: each goes in as a code of letters that every TOML may have within
// quotes and comments, and none outside, and comes back in what was read.

#include <optional>
#include <string>
#include <string_view>

#include "node/config/toml.hpp"

namespace troupe::node {

class toml_cover {
public:
  /// What begins a code is longer than anything like it in `text`.
  explicit toml_cover(std::string_view text);

  /// The text with a code for each run of letters beyond ASCII.
  [[nodiscard]] const std::string& text() const {
    return text_;
  }

  /// An error speaks of a code, and so of what nobody wrote.
  [[nodiscard]] bool shows_in(std::string_view error) const;

  /// The letters for the codes, in names and in texts; or what is wrong.
  [[nodiscard]] std::optional<toml_problem> lift(toml::table& read) const;

private:
  [[nodiscard]] std::string lifted(std::string_view x) const;
  std::optional<toml_problem> lift_node(toml::node& x) const;
  std::optional<toml_problem> lift_name(toml::table& in,
                                        const toml::key& name) const;

  std::string open_;
  std::string text_;
};

} // namespace troupe::node
