#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Cho et al. (2024), "Heterogeneous LoRA for Federated Fine-tuning of
/// On-Device Foundation Models": client k has the first r_k ranks of a common
/// adapter, with r_k = rank_min + (budget - rank_min)(k - 1) / K, rounded down,
/// or going from `rank_first` to `rank_last`. It adds `penalty` times the size
/// of its last ranks, those beyond `keep_share`, to its loss, and gives these
/// up, as far as to `rank_min`, when a visit has made them smaller. What a
/// client lacks counts as zeros, and an offer weighs by the norm of the
/// product.
recipe methods::hetlora() {
  return {.name = "hetlora",
          .summary = "an adapter of which each client has as many ranks as it "
                     "needs",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter",
                      .merge = {.kind = merge_kind::padded},
                      .weight = weight_rule::rank_norm,
                      .rank = 12,
                      .rank_option = "budget",
                      .rank_counter = "rank"},
                     {.name = "left_adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "adapter"}}}},
          .roles = {{.procedure = {"pruned_sgd"}}},
          .personal = true,
          .defaults = {{"budget", 12},
                       {"rank_min", 8},
                       {"rank_first", 0}, // 0: as published.
                       {"rank_last", 0},
                       {"keep_share", 0.99},
                       {"penalty", 5e-3},
                       {"printed_schedule", 0},
                       {"convolution", 0},
                       {"adapter_bias", 0},
                       {"init_scale", 1},
                       {"normal_start", 0}}};
}

} // namespace troupe::policies
