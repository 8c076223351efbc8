#include "models/frozen_base.hpp"

#include <algorithm>
#include <string>

#include "models/families.hpp"

namespace troupe::models {

void note_base(layout& to, const tensor_list& tensors, const digest& content) {
  auto found = std::ranges::find(to.frozen, model_family, &frozen_layout::name);
  if (found == to.frozen.end())
    found = to.frozen.insert(found, frozen_layout{});
  *found = {.name = std::string{model_family},
            .tensors = tensors,
            .size = size_of(tensors),
            .content = content};
}

} // namespace troupe::models
