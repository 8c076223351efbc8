#include <utility>

#include "policies/methods/averaged.hpp"
#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

std::vector<option_spec> methods::of_averaged() {
  return joined(
    {{.name = "rank",
      .says = "of each expert's factors, and of those beside attention",
      .kind = option_kind::whole,
      .value = 8,
      .range = ranks,
      .unit = "ranks"}},
    of_alpha(16, true));
}

// What is shared is where all begin, and keeps its first version.
recipe methods::averaged_alone(std::string name, std::string summary) {
  return {
    .name = std::move(name),
    .summary = std::move(summary),
    .blocks = {{.name = "model", .where = scope::frozen},
               {.name = "attention", .weight = weight_rule::one},
               {.name = "specialist", .where = scope::personal, .count = 2},
               {.name = "left_attention", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "attention"}}}},
    .roles = {{.procedure = {"averaged_sgd"}}},
    .personal = true,
    .options = of_averaged(),
    .offers = false};
}

/// Everybody alone, as CoMiGS is compared with it: over a language model that
/// nobody trains, each feed-forward block is two, of which both count a half.
/// Nothing is sent.
///
///   specialist      the factors of a block's two, a client's own
///   attention       where the factors beside attention begin
///   left_attention  a client's own
recipe methods::local_lora() {
  return averaged_alone("local_lora",
                        "each client's two averaged experts of low rank; "
                        "nothing is merged");
}

} // namespace troupe::policies
