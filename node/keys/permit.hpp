#pragma once

// What a key may do, as its file says it.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/keys.hpp"
#include "core/name.hpp"
#include "core/result.hpp"

namespace troupe::node {

struct permit {
  std::string name;
  std::string role = "client"; ///< There is no other yet.
  /// Names of clients with data of their own: one, PREFIX*, or any.
  std::string clients = "*";
  std::uint32_t numbers = 1000;    ///< Clients of the run's partition, at most.
  std::int64_t expires_ms = never; ///< Since 1970.

  static constexpr std::int64_t never =
    std::numeric_limits<std::int64_t>::max();

  friend bool operator==(const permit&, const permit&) = default;
};

/// A line that was given to somebody, as a server keeps it: it enrols one key.
struct invitation {
  permit what; ///< It expires when the line does.
  std::optional<public_key> used = {};
};

/// What is wrong with it; empty: nothing.
std::string problem_of(const permit& x);

std::string write_permit(const permit& x);
[[nodiscard]] result<permit> read_permit(std::string_view text);

std::string write_invitation(const invitation& x);
[[nodiscard]] result<invitation> read_invitation(std::string_view text);

/// As 2026-12-01T08:30:00Z, or never.
std::string moment_of(std::int64_t ms);

/// Reads such a text, and nothing else.
std::optional<std::int64_t> moment_in(std::string_view text);

/// As 90s, 15m, 1h, 30d. In milliseconds.
std::optional<std::int64_t> duration_in(std::string_view text);

} // namespace troupe::node
