#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/keys.hpp"

namespace troupe::node {

/// What somebody is given to join with: where, whose server it is, and the
/// secret of a pair that enrols one key.
struct invitation_line {
  std::string address;
  public_key server{};
  key_pair own;
};

/// One word: ADDRESS/KEY/SECRET.
std::string write_line(const invitation_line& x);

/// Nothing: it is another word.
std::optional<invitation_line> read_line(std::string_view x);

/// Whether it begins as a line does: behind its address there is more.
bool looks_like_line(std::string_view x);

} // namespace troupe::node
