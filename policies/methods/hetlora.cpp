#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Cho et al. (2024), "Heterogeneous LoRA for Federated Fine-tuning of
/// On-Device Foundation Models": client k has the first r_k ranks of a common
/// adapter, with r_k = rank_min + (rank - rank_min)(k - 1) / K, rounded down,
/// or going from `rank_first` to `rank_last`. It adds `penalty` times the size
/// of its last ranks, those beyond `keep_share`, to its loss, and gives these
/// up, as far as to `rank_min`, when a visit has made them smaller, in all
/// layers together or, with `pruning`, each layer by itself. What a
/// client lacks counts as zeros, and an offer weighs by the norm of the
/// product. As CoMiGS is compared with it (`plain_attention`), the factors
/// beside attention are a block of their own, which all clients have whole and
/// which is merged by a plain mean.
recipe methods::hetlora() {
  return {
    .name = "hetlora",
    .summary = "an adapter of which each client has as many ranks as it "
               "needs",
    .blocks = {{.name = "model", .where = scope::frozen},
               {.name = "adapter",
                .merge = {.kind = merge_kind::padded},
                .weight = weight_rule::rank_norm,
                .rank = 12,
                .rank_option = "rank",
                .rank_counter = "rank"},
               {.name = "left_adapter", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "adapter"}}}},
    .roles = {{.procedure = {"pruned_sgd"}}},
    .personal = true,
    .options = joined(
      over_frozen_model(12, few_ranks),
      joined(
        of_first_ranks(),
        {{.name = "keep_share",
          .says = "beyond it a client's ranks are held small, and given up",
          .value = 0.99,
          .range = a_share,
          .unit = "of its ranks"},
         {.name = "penalty",
          .says = "how strongly these are held small",
          .value = 5e-3,
          .unit = "times their norm"},
         {.name = "pruning",
          .says = "what gives its last ranks up: a client in all layers at "
                  "once, or each of its layers by itself",
          .kind = option_kind::choice,
          .words = {"client", "layer"}},
         {.name = "plain_attention",
          .says = "factors beside attention are merged apart from the others, "
                  "by a plain mean, and have 'attention_rank' at each client",
          .kind = option_kind::flag},
         head_of_clients(),
         moments_between_visits()})),
    .own = {"own_adapter", "head"},
    .more = {.flag = "plain_attention",
             .blocks = {{.name = "attention", .weight = weight_rule::one},
                        {.name = "left_attention", .where = scope::personal}}}};
}

} // namespace troupe::policies
