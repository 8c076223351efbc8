#include <utility>

#include "policies/methods/averaged.hpp"
#include "policies/methods/common_options.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

namespace {

using methods::joined;

/// Who is where among the experts of a block.
struct cast {
  std::uint32_t generalists = 1;
  std::uint32_t specialists = 7; ///< At most: `training.experts` says how many.
  bool attention = true; ///< Merged; else it stays where it was trained.
};

std::vector<option_spec> of_cast() {
  return joined(
    methods::of_averaged(),
    {{.name = "gate",
      .says = "what chooses experts: one map, or two with noise in training, "
              "as the authors' Llama program has it",
      .kind = option_kind::choice,
      .words = {"linear", "noisy"}},
     {.name = "top_weights",
      .says = "what chosen experts count: their softmax, or what they have of "
              "that over all",
      .kind = option_kind::choice,
      .words = {"renormalised", "of_all"}},
     {.name = "router_deviation",
      .says = "of the values that routers begin with",
      .value = 0.02,
      .range = {.max = 1e6},
      .unit = "times a normal draw"},
     {.name = "router_bias",
      .says = "linear routers have a bias, which begins with zeros",
      .kind = option_kind::flag},
     {.name = "balance",
      .says = "weight of the load balance, which favours the generalist",
      .value = 0.01,
      .range = {.max = 1e6},
      .unit = "times the loss"},
     {.name = "balance_scale",
      .says = "of the load balance: 1 where it is met, or as printed",
      .kind = option_kind::choice,
      .words = {"normalised", "printed"}},
     {.name = "balance_of",
      .says = "what routers see where loads are balanced: a block's input, or "
              "its output, as in the authors' program",
      .kind = option_kind::choice,
      .words = {"input", "output"}},
     {.name = "balance_chances",
      .says = "of the load balance: among all logits, or with zero in place "
              "of those that are not chosen, as in the authors' program",
      .kind = option_kind::choice,
      .words = {"all", "kept"}},
     {.name = "favoured",
      .says = "the part of all choices that the load balance wants for "
              "expert 0; 0: as large as the others'",
      .value = 0.5,
      .range = below_one,
      .unit = "of the choices"}});
}

/// Of routers that learn in bursts of their own.
std::vector<option_spec> of_bursts() {
  return {{.name = "router_data",
           .says = "the rows of a client that its routers learn from",
           .kind = option_kind::choice,
           .words = {"validation", "training"}},
          {.name = "router_steps",
           .says = "of the routers, in a burst",
           .kind = option_kind::whole,
           .value = 10,
           .range = {.max = 1e6},
           .unit = "steps"},
          {.name = "router_every",
           .says = "of a client's own steps there is a burst",
           .kind = option_kind::whole,
           .value = 30,
           .range = {.min = 1, .max = 1e9},
           .unit = "steps"},
          {.name = "router_rate",
           .says = "learning rate of the routers, which has no schedule",
           .value = 0.002,
           .range = {.max = 1e6},
           .unit = "times the gradient"},
          {.name = "grad_leak_compat",
           .says = "what one phase leaves of the other's gradient is kept, as "
                   "in the authors' program",
           .kind = option_kind::flag}};
}

option_spec of_attention() {
  return {.name = "attention",
          .says = "who has the factors beside attention",
          .kind = option_kind::choice,
          .words = {"shared", "private"}};
}

option_spec of_start() {
  return {.name = "generalist_start",
          .says = "what a client's first visit begins with of what is merged: "
                  "what came, or factors of its own",
          .kind = option_kind::choice,
          .words = {"common", "own"}};
}

option_spec joint() {
  return {.name = "joint",
          .says = "routers learn with the experts, from training rows",
          .kind = option_kind::flag};
}

/// Expert 0 and on are generalists, whom all clients share; those after them
/// are a client's own.
recipe routed(std::string name, std::string summary, const cast& who,
              std::string procedure, const std::vector<option_spec>& more) {
  const bool offers = who.generalists > 0;
  recipe x{.name = std::move(name),
           .summary = std::move(summary),
           .blocks = {{.name = "model", .where = scope::frozen}},
           .legs = {{.fetch = {{.family = "model"}}}},
           .roles = {{.procedure = {std::move(procedure)}}},
           .personal = true,
           .options = joined(of_cast(), more),
           .offers = offers};
  auto& fetch = x.legs.front().fetch;
  if (offers) {
    x.options.push_back(of_start());
    x.blocks.push_back({.name = "generalist",
                        .count = who.generalists,
                        .weight = weight_rule::one});
    fetch.push_back({.family = "generalist"});
  }
  // Where nothing is merged it is where all begin.
  x.blocks.push_back({.name = "attention", .weight = weight_rule::one});
  fetch.push_back({.family = "attention"});
  if (who.attention) {
    x.blocks.back().personal_option = "attention";
    x.options.push_back(of_attention());
  }
  if (who.specialists > 0)
    x.blocks.push_back({.name = "specialist",
                        .where = scope::personal,
                        .count = who.specialists});
  x.blocks.push_back({.name = "router", .where = scope::personal});
  if (offers)
    x.blocks.push_back({.name = "left_generalist",
                        .where = scope::personal,
                        .count = who.generalists});
  x.blocks.push_back({.name = "left_attention", .where = scope::personal});
  return x;
}

} // namespace

/// Fan et al., "On-Device Collaborative Language Modeling via a Mixture of
/// Generalists and Specialists": over a language model that nobody trains, each
/// feed-forward block is several, and a router in front of it chooses two for
/// each token. The generalist's factors are merged by a plain mean; the others
/// and the routers never travel. Experts learn from training rows, and now and
/// then routers from validation rows.
///
///   generalist       expert 0 of each block
///   attention        factors beside attention, which has no router
///   specialist       a client's other experts, as many as it has room for
///   router           of all blocks
///   left_generalist  as the client left it, to be scored; so the next
///   left_attention
recipe methods::comigs() {
  return routed("comigs",
                "a generalist and each client's specialists, chosen by token",
                {}, "routed_sgd", of_bursts());
}

/// Two generalists and no specialist.
recipe methods::comigs_2g() {
  return routed("comigs_2g", "two generalists, chosen by token",
                {.generalists = 2, .specialists = 0}, "routed_sgd",
                joined(of_bursts(), {joint()}));
}

/// Specialists alone: nothing is sent. What is shared is where all begin, and
/// keeps its first version.
recipe methods::comigs_2s() {
  return routed("comigs_2s", "each client's specialists alone, chosen by token",
                {.generalists = 0, .specialists = 8, .attention = false},
                "routed_sgd", joined(of_bursts(), {joint()}));
}

/// Yi et al., "pFedMoE", carried to language: as CoMiGS, and routers learn with
/// the experts.
recipe methods::pfedmoe() {
  return routed("pfedmoe",
                "a generalist and each client's specialists, whose routers "
                "learn with them",
                {}, "jointly_routed_sgd", {});
}

} // namespace troupe::policies
