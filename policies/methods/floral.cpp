#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

namespace {

using methods::components;
using methods::joined;
using methods::of_mixture;
using methods::share_of_layers;

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
    .options = joined(
      joined(share_of_layers(), of_mixture()),
      {components(4, "adapters"),
       {.name = "rank_rule",
        .says = "a convolution's rank is counted by its kernel, or as in the "
                "authors' program as if that were 2",
        .kind = option_kind::choice,
        .words = {"kernel", "program"}},
       {.name = "adapter_server_rate",
        .says = "the part of the way to the mean that the server moves an "
                "adapter",
        .value = 1,
        .range = {.max = 1, .above_min = true},
        .unit = "times the mean delta"},
       {.name = "share_floor",
        .says = "what an adapter counts with at least",
        .range = below_one,
        .unit = "of a mixture"},
       {.name = "centred",
        .says = "what adapters have in common moves into the base first",
        .kind = option_kind::flag},
       {.name = "stateless",
        .says = "clients keep no mixture and learn one in each visit",
        .kind = option_kind::flag},
       {.name = "warm_passes",
        .says = "of the mixture alone, before the rest learns",
        .kind = option_kind::whole,
        .range = {.max = 1e6},
        .unit = "visits' steps"},
       {.name = "warm_rate",
        .says = "learning rate of the mixture alone; 0: 'router_rate'",
        .unit = "times the gradient"}})};
}

} // namespace

/// Almansoori, Horváth and Takáč, "Collaborative and Efficient Personalization
/// with Mixtures of Adapters": one base for all, C adapters of low rank that
/// each client mixes by the softmax of logits of its own, and all of it learns
/// in one joint step from one gradient. The base is merged by n_k, adapter c by
/// n_k pi_c, with pi as it is after training. Adapters nobody supports keep
/// their version. `budget` (rho) is the share of a layer's weights that one
/// adapter of it may have, `components` is C.
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
  std::erase_if(method.options, [](const option_spec& x) {
    return x.name.starts_with("router") || x.name.starts_with("warm")
           || x.name == "stateless";
  });
  return method;
}

} // namespace troupe::policies
