#include <algorithm>
#include <string>
#include <string_view>

#include "node/config/checks.hpp"

namespace troupe::node {

// What is rounded is a little off, either way: a mean makes that less.
void check_wire(const experiment& x, const entries& said,
                std::string_view origin, const method_list& methods,
                problems& wrong) {
  const auto* found = methods.find(x.method);
  if (x.merge.wire == sent_as::f32 || !found)
    return;
  const auto refuse = [&](std::string_view what) {
    const auto at = said.find("merge.wire");
    wrong.add(at == said.end() ? origin : std::string_view{at->second.where},
              what);
  };
  const std::string whose =
    "wire = \"bf16\" is for what is averaged, and method '" + found->name + "'";
  if (!found->offers)
    return refuse(whose + " merges nothing: \"f32\" would do");
  for (const auto& block : found->blocks)
    if (travels(block.where) && block.merge.kind != merge_kind::mean)
      return refuse(whose + " does not average '" + block.name
                    + "': \"f32\" would do");
  if (x.merge.rule.kind != merge_kind::mean)
    refuse("wire = \"bf16\" is for what is averaged: rule = \"mean\", or "
           "\"f32\", would do");
}

} // namespace troupe::node
