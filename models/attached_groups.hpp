#pragma once

#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "models/inner_adapters.hpp"

namespace troupe::models {

/// Whether these stand inside, and nothing but routers after them.
bool is_attached(const inner_adapters& to, const std::vector<inner_group>& all,
                 bool has_router);

/// As `attach` leaves them: all switched on, counting one.
void set_back(inner_adapters& x);

/// Attaches these, unless they are attached already: then they are set back.
/// Values stay as they were in that case.
[[nodiscard]] result<void> attach_groups(inner_adapters& to,
                                         std::vector<inner_group> groups,
                                         kernels::backend& arithmetic);

/// All tensors of a base, each whole and counting one: what is added to a base
/// of zeros is a model that learns.
inner_group whole_base(std::string_view name, const tensor_list& base);

} // namespace troupe::models
