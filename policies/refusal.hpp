#pragma once

#include <string>

#include "policies/admission.hpp"

namespace troupe::policies {

/// What to say of a refused offer to those whose clients are honest: of what
/// such a client may meet without knowing, also what it may have been.
inline std::string about_refused(verdict why) {
  const std::string text{to_string(why)};
  return why == verdict::malformed
           ? text + ", perhaps by a value above merge.delta_max"
           : text;
}

} // namespace troupe::policies
