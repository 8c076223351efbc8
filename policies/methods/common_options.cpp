#include "policies/methods/common_options.hpp"

namespace troupe::policies::methods {

namespace {

enum class split : int { none = 0, balanced_2d = 5 };

std::vector<option_spec> of_all_adapters(split kernels, bool biases) {
  return {{.name = "convolution",
           .says = "which side of an adapter has a convolution's kernel",
           .kind = option_kind::choice,
           .value = static_cast<double>(kernels),
           .words = {"none", "in", "out", "balanced", "filter", "balanced_2d"}},
          {.name = "adapter_bias",
           .says = "adapters have the biases of their layers, too",
           .kind = option_kind::flag,
           .value = biases ? 1.0 : 0.0}};
}

} // namespace

option_spec components(double count, std::string_view what) {
  return {.name = "components",
          .says = "how many there are that clients choose from or mix",
          .kind = option_kind::whole,
          .value = count,
          .range = {.min = 1, .max = 1024},
          .unit = std::string{what}};
}

std::vector<option_spec> of_mixture() {
  return {{.name = "router_rate",
           .says = "learning rate of a client's mixture; 0: that of the model",
           .unit = "times the gradient"},
          {.name = "router_noise",
           .says = "added to a mixture's logits in training",
           .unit = "times a draw from 0 to 1"}};
}

std::vector<option_spec> joined(std::vector<option_spec> xs,
                                const std::vector<option_spec>& more) {
  xs.insert(xs.end(), more.begin(), more.end());
  return xs;
}

std::vector<option_spec> share_of_layers() {
  // A budget of 1 was one rank when budgets were ranks, too.
  return joined(
    {{.name = "budget",
      .says = "what one adapter of a layer may have, and rank 1 at least",
      .value = 0.01,
      .range = {.max = 1, .above_min = true, .below_max = true},
      .unit = "of the layer's weights"},
     {.name = "rank",
      .says = "of each adapter; 0: as many as 'budget' has room for",
      .kind = option_kind::whole,
      .range = {.max = ranks.max},
      .unit = "ranks",
      .was = "budget"},
     {.name = "adapter_norm",
      .says = "normalisations have adapters",
      .kind = option_kind::flag},
     {.name = "outer_random",
      .says = "the outer factor begins at random in place of the inner one",
      .kind = option_kind::flag},
     {.name = "adapter_rate",
      .says = "learning rate of adapters; 0: that of the base",
      .unit = "times the gradient"},
     {.name = "epsilon",
      .says = "what the preconditioner adds to a Gram matrix; 0: there is none",
      .value = 1e-5,
      .unit = "times the identity"}},
    of_all_adapters(split::balanced_2d, true));
}

namespace {

/// Of which layers adapters are.
std::vector<option_spec> of_layers(number_range range, adapted_layers of) {
  return {{.name = "adapted",
           .says = "the layers of a language model that have adapters, where "
                   "'model.adapt' names none",
           .kind = option_kind::choice,
           .value = static_cast<double>(of),
           .words = {"query_value", "blocks"}},
          {.name = "attention_rank",
           .says = "of the common adapter in a language model's attention; 0: "
                   "as elsewhere",
           .kind = option_kind::whole,
           .value = of == adapted_layers::blocks ? 8.0 : 0.0,
           .range = {.max = range.max},
           .unit = "ranks"}};
}

} // namespace

std::vector<option_spec> of_alpha(double alpha, bool over_root) {
  return {{.name = "alpha",
           .says = "what factors count, over their rank or its root; 0: one",
           .value = alpha,
           .range = {.max = 1e6},
           .unit = "times the product"},
          {.name = "alpha_over",
           .says = "what 'alpha' is divided by: the rank, or its root",
           .kind = option_kind::choice,
           .value = over_root ? 1.0 : 0.0,
           .words = {"rank", "root"}}};
}

option_spec head_of_clients() {
  return {.name = "head",
          .says = "who has the layer that says what a row of labelled text is",
          .kind = option_kind::choice,
          .words = {"shared", "private"}};
}

option_spec weights_of_offers() {
  return {.name = "weights",
          .says = "what a client's offers weigh: as much as anybody's, or by "
                  "its examples",
          .kind = option_kind::choice,
          .words = {"equal", "examples"}};
}

option_spec moments_between_visits() {
  return {.name = "moments",
          .says = "what a visit begins with of the optimiser's moments: those "
                  "that the client's last one left, or none",
          .kind = option_kind::choice,
          .words = {"kept", "reset"}};
}

std::vector<option_spec> over_frozen_model(double rank, number_range range,
                                           adapted_layers of) {
  return joined({{.name = "rank",
                  .says = "of the common adapter",
                  .kind = option_kind::whole,
                  .value = rank,
                  .range = range,
                  .unit = "ranks",
                  .was = "budget"},
                 {.name = "printed_schedule",
                  .says = "a client's first visit makes one step, as printed",
                  .kind = option_kind::flag},
                 {.name = "init_scale",
                  .says = "bound of a random factor's first values",
                  .value = 1,
                  .range = {.max = 1e6, .above_min = true},
                  .unit = "over the root of its length"},
                 {.name = "normal_start",
                  .says = "the factors that begin normally distributed",
                  .kind = option_kind::choice,
                  .words = {"none", "inner", "both"}}},
                joined(of_all_adapters(split::none, false),
                       joined(of_layers(range, of), of_alpha(0, false))));
}

std::vector<option_spec> of_first_ranks() {
  return {{.name = "rank_min",
           .says = "of a client, which it never gives up",
           .kind = option_kind::whole,
           .value = 8,
           .range = few_ranks,
           .unit = "ranks"},
          {.name = "rank_first",
           .says = "of the first client; 0: from 'rank_min' on, as published",
           .kind = option_kind::whole,
           .range = {.max = few_ranks.max},
           .unit = "ranks"},
          {.name = "rank_last",
           .says = "of the last client; 0: up to 'rank', as published",
           .kind = option_kind::whole,
           .range = {.max = few_ranks.max},
           .unit = "ranks"},
          {.name = "rank_per_expert",
           .says = "of each client, for each of the experts that "
                   "'training.experts' says; 0: it says none",
           .kind = option_kind::whole,
           .range = {.max = few_ranks.max},
           .unit = "ranks"}};
}

std::vector<option_spec> of_gated(double answer) {
  return {{.name = "gate_width",
           .says = "of the gate's hidden layer",
           .kind = option_kind::whole,
           .range = {.max = 65'536},
           .unit = "values; 0: as the embedding"},
          {.name = "gate_rate",
           .says = "learning rate of the gate, which has no schedule; 0: it "
                   "stands still",
           .value = 0.001,
           .range = {.max = 1e6},
           .unit = "times the gradient"},
          {.name = "renormalise",
           .says = "the weights of the experts that came add up to one",
           .kind = option_kind::flag},
          {.name = "mix",
           .says = "what of the experts is mixed in training",
           .kind = option_kind::choice,
           .words = {"logits", "probabilities"}},
          {.name = "answer",
           .says = "what answers a row: the expert with the largest weight, or "
                   "all that came together",
           .kind = option_kind::choice,
           .value = answer,
           .words = {"expert", "mixture"}},
          {.name = "from_common",
           .says = "experts begin as the common model",
           .kind = option_kind::flag},
          {.name = "start_noise",
           .says = "added to what experts begin with",
           .range = {.max = 1e6},
           .unit = "times a normal draw"}};
}

} // namespace troupe::policies::methods
