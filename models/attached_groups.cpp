#include "models/attached_groups.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "models/families.hpp"

namespace troupe::models {

namespace {

// How values begin is nothing to what is attached.
bool are_alike(const inner_group& x, const inner_group& y) {
  return x.name == y.name && x.scale == y.scale && x.expert == y.expert
         && x.counts_one == y.counts_one && x.plan.tensors == y.plan.tensors
         && x.plan.matrices == y.plan.matrices
         && x.plan.vectors == y.plan.vectors;
}

} // namespace

bool is_attached(const inner_adapters& to, const std::vector<inner_group>& all,
                 bool has_router) {
  const auto& found = to.groups();
  if (found.size() != all.size() + (has_router ? 1 : 0))
    return false;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!are_alike(found[i], all[i]))
      return false;
  return !has_router || found.back().name == router_family;
}

void set_back(inner_adapters& x) {
  for (std::size_t i = 0; i < x.groups().size(); ++i) {
    x.leave_out(i, false);
    x.switch_on(i, true);
  }
  x.mix({});
}

result<void> attach_groups(inner_adapters& to, std::vector<inner_group> groups,
                           kernels::backend& arithmetic) {
  if (!is_attached(to, groups, false))
    return to.attach(std::move(groups), &arithmetic);
  set_back(to);
  return {};
}

inner_group whole_base(std::string_view name, const tensor_list& base) {
  inner_group x{.name = std::string{name}, .plan = {}, .counts_one = true};
  x.plan.tensors = base;
  std::size_t at = 0;
  for (const auto& tensor : base) {
    x.plan.vectors.push_back(
      {.at = at, .size = tensor.size(), .in_adapter = at});
    at += tensor.size();
  }
  x.plan.model_size = at;
  return x;
}

} // namespace troupe::models
