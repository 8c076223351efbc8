#pragma once

// Lines of JSON with texts: what is said of one that is not what it should be.

#include <string>
#include <string_view>

#include "core/json.hpp"

namespace troupe::models {

/// Which keys an object has, to be said behind one that it lacks.
std::string about_keys(const json& in);

/// What a line is that has no text under a key, to be said behind what it is
/// not.
std::string about_no_text(const json& in, const std::string& key);

/// Of a line that begins a list, behind what would do: that it is one a line.
/// Empty otherwise.
std::string about_list(std::string_view line);

} // namespace troupe::models
