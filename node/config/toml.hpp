#pragma once

// TOML, and the one place that includes the library: it asserts on a table
// header like [.a], where it should say what is wrong. Here its assertions
// throw; all units must agree on that.

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace troupe::node {

struct toml_confusion {};

[[noreturn]] inline void confuse_toml() {
  throw toml_confusion{};
}

} // namespace troupe::node

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(x) ((x) ? void() : ::troupe::node::confuse_toml())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace troupe::node {

struct toml_problem {
  std::uint64_t line;
  std::string what;
};

/// The text as a table, or where it stops to be one and why.
[[nodiscard]] tl::expected<toml::table, toml_problem>
read_toml(std::string_view text);

} // namespace troupe::node
