#include "policies/methods/averaged.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// FedAvg as CoMiGS is compared with it: over a language model that nobody
/// trains, each feed-forward block is two, of which both count a half. All
/// factors are merged by a plain mean, each with those of its place.
///
///   generalist       the factors of a block's two
///   attention        factors beside attention
///   left_generalist  as the client left them, to be scored; so the next
///   left_attention
recipe methods::fedavg_lora() {
  return {.name = "fedavg_lora",
          .summary = "two averaged experts of low rank that all train",
          .blocks =
            {{.name = "model", .where = scope::frozen},
             {.name = "generalist", .count = 2, .weight = weight_rule::one},
             {.name = "attention", .weight = weight_rule::one},
             {.name = "left_generalist", .where = scope::personal, .count = 2},
             {.name = "left_attention", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"},
                              {.family = "generalist"},
                              {.family = "attention"}}}},
          .roles = {{.procedure = {"averaged_sgd"}}},
          .personal = true,
          .options = of_averaged()};
}

} // namespace troupe::policies
