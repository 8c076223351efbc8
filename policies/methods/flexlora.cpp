#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// Bai et al. (2024), "Federated Fine-tuning of Large Language Models under
/// Heterogeneous Tasks and Client Resources": client k has the first r_k ranks
/// of a common adapter, as many as under HETLoRA, and keeps them. What clients
/// add to the model is averaged by their examples, as products, and factored
/// anew: the common adapter is the best of its rank, largest values first, and
/// so are its first ranks of theirs. Inner factors have length one, and the
/// values are in the outer ones.
recipe methods::flexlora() {
  return {.name = "flexlora",
          .summary = "an adapter whose product is averaged and factored anew",
          .blocks = {{.name = "model", .where = scope::frozen},
                     {.name = "adapter",
                      .merge = {.kind = merge_kind::product_svd},
                      .rank = 12,
                      .rank_option = "rank",
                      .rank_counter = "rank"},
                     {.name = "left_adapter", .where = scope::personal}},
          .legs = {{.fetch = {{.family = "model"}, {.family = "adapter"}}}},
          .roles = {{.procedure = {"ranked_sgd"}}},
          .personal = true,
          .options = joined(over_frozen_model(12, few_ranks), of_first_ranks()),
          .asynchronous = standing::refused};
}

} // namespace troupe::policies
