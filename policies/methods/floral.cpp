#include "policies/methods/methods.hpp"

namespace troupe::policies {

namespace {

recipe mixture_of_adapters(std::string name, std::string summary) {
  return {
    .name = std::move(name),
    .summary = std::move(summary),
    .blocks = {{.name = "model"},
               {.name = "adapter",
                .where = scope::expert,
                .count = 4,
                .weight = weight_rule::examples_times_share,
                .count_option = "components"},
               {.name = "model.buffers"},
               {.name = "mixture", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"},
                        {.family = "adapter"},
                        {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"mixed_sgd"}}},
    .personal = true,
    .disclosures =
      {{.name = "pi", .count_max = 4, .sum = 1, .count_option = "components"}},
    .defaults = {{"components", 4}, // C.
                 {"budget", 0.01},  // rho; from 1 on a rank.
                 {"convolution", 5},
                 {"adapter_bias", 1},
                 {"adapter_norm", 0},
                 {"rank_rule", 0}, // 1: that of the authors' program.
                 {"outer_random", 0},
                 {"adapter_rate", 0}, // 0: the learning rate, as is the next.
                 {"router_rate", 0},
                 {"adapter_server_rate", 1},
                 {"share_floor", 0}, // Of what an adapter counts with.
                 {"centred", 0},     // 1: before each visit.
                 {"epsilon", 1e-5},
                 {"router_noise", 0},
                 {"stateless", 0},   // 1: clients keep no router,
                 {"warm_passes", 0}, // and learn one first, in so many passes;
                 {"warm_rate", 0}}}; // 0: the router's rate.
}

} // namespace

/// Almansoori, Horváth and Takáč, "Collaborative and Efficient Personalization
/// with Mixtures of Adapters": one base for all, C adapters of low rank that
/// each client mixes by the softmax of logits of its own, and all of it learns
/// in one joint step from one gradient. The base is merged by n_k, adapter c by
/// n_k pi_c, with pi as it is after training. Adapters nobody supports keep
/// their version. `budget` is the share of a layer's weights that one adapter
/// of it may have.
recipe methods::floral() {
  return mixture_of_adapters(
    "floral", "a base and adapters of low rank that each client mixes");
}

/// The same with the mixture that is true where the data are made from clusters
/// in turn: client k has adapter k mod C alone, for ever.
recipe methods::floral_optimal() {
  auto method = mixture_of_adapters(
    "floral_optimal", "FLoRAL whose clients know their cluster: the oracle");
  method.roles = {{.procedure = {"tied_sgd"}}};
  std::erase_if(method.blocks,
                [](const block_spec& x) { return x.name == "mixture"; });
  std::erase_if(method.defaults, [](const auto& x) {
    return x.first.starts_with("router") || x.first.starts_with("warm")
           || x.first == "stateless";
  });
  return method;
}

} // namespace troupe::policies
