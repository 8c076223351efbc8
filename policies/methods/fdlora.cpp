#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Qi et al. (2024), "FDLoRA: Personalized Federated Learning of Large Language
/// Model via Dual LoRA Tuning": an adapter that is merged by a plain mean and
/// one that the client keeps learn together. In its last visit, which offers
/// nothing, a client looks for how much of either it uses: ten looks at a batch
/// of its validation rows, from none of both. The publication's own search is a
/// library's; this one is a compass search, within the same square and at the
/// same price of weights.
///
///   adapter       the merged one; `rank` is its rank
///   own_adapter   the client's; `own_rank` is its rank
///   left_adapter  the merged one as the client left it
///   fusion        how much of its own and of the merged one a client uses
recipe methods::fdlora() {
  return {.name = "fdlora",
          .summary = "a merged adapter and each client's own, fused in the end",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter", .weight = weight_rule::one},
                     {.name = "own_adapter", .where = scope::personal},
                     {.name = "left_adapter", .where = scope::personal},
                     {.name = "fusion", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}, {.family = "adapter"}}}},
          .roles = {{.procedure = {"two_adapters_sgd"}}},
          .personal = true,
          .options =
            joined(over_frozen_model(8, ranks, adapted_layers::blocks),
                   {{.name = "own_rank",
                     .says = "of each client's own adapter",
                     .kind = option_kind::whole,
                     .value = 8,
                     .range = ranks,
                     .unit = "ranks"},
                    {.name = "adapters",
                     .says = "of a client: two, or as in the authors' program "
                             "one, whose factors are fused before and after "
                             "the last merge, but for those of attention",
                     .kind = option_kind::choice,
                     .words = {"two", "one"}}}),
          .finish = {"fuse_adapters"}};
}

} // namespace troupe::policies
