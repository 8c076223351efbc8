#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace troupe {

/// Only what some caller decides on. Everything else belongs into the context.
enum class errc : std::uint8_t {
  invalid_argument = 1, ///< The caller broke a documented precondition.
  invalid_config,       ///< A configuration cannot be used as written.
  invalid_data,         ///< A data file is missing, damaged or does not fit.
  malformed_message,    ///< Bytes from the network do not form a message.
  malformed_values,     ///< Not finite, or outside of the range of exact sums.
  version_mismatch,     ///< The peer's schema is one that we cannot read.
  unsupported,          ///< Not built in, or no such device here.
  device_failure,       ///< The accelerator reported an error.
  storage_failure,      ///< A file or the ledger cannot be read or written.
  diverged,             ///< Training left the numbers that can be merged.
  unavailable,          ///< A file cannot be read now; nothing is known of it.
};

struct error {
  errc code;
  std::string context; ///< For people: never parsed, never compared.
};

template <class T>
using result = tl::expected<T, error>;

inline tl::unexpected<error> fail(errc code, std::string context) {
  return tl::unexpected<error>{error{code, std::move(context)}};
}

} // namespace troupe
