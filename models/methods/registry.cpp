#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"

namespace troupe::models {

namespace {

std::uint64_t two(const training_options&) {
  return 2;
}

std::uint64_t as_many_as_models(const training_options& how) {
  return static_cast<std::uint64_t>(option_of(how, "components"));
}

/// A pull towards other parameters is a term of SGD's step.
template <const char* Option>
result<void> check_pulled(const recipe&, const training_options& how) {
  return option_of(how, Option) != 0 ? check_terms(how) : result<void>{};
}

constexpr char proximal[] = "proximal";
constexpr char lambda[] = "lambda";

} // namespace

const method_table& local_methods() {
  static const method_table table{
    {"sgd", {.train = sgd}},
    {"proximal_sgd", {.train = proximal_sgd, .needs = check_pulled<proximal>}},
    {"controlled_sgd", {.train = controlled_sgd, .needs = check_sgd}},
    {"two_stage_sgd",
     {.train = two_stage_sgd, .passes = two, .needs = check_pulled<lambda>}},
    {"own_sgd", {.train = own_sgd}},
    {"mixed_sgd",
     {.train = mixed_sgd,
      .home = mixed_home,
      .summary = summarise_mixtures,
      .passes = mixed_passes,
      .needs = check_plain_sgd}},
    {"tied_sgd",
     {.train = tied_sgd, .home = tied_home, .needs = check_plain_sgd}},
    {"own_adapter_sgd",
     {.train = own_adapter_sgd,
      .home = own_adapter_home,
      .needs = check_plain_sgd}},
    {"least_loss", {.choose = least_loss}},
    {"chosen_sgd",
     {.train = chosen_sgd, .home = chosen_home, .summary = summarise_choices}},
    {"ensemble_sgd",
     {.train = ensemble_sgd,
      .score = ensemble_scores,
      .summary = summarise_ensembles,
      .passes = as_many_as_models,
      .needs = check_plain_sgd}},
    {"tied_ensemble_sgd",
     {.train = tied_ensemble_sgd,
      .score = tied_ensemble_scores,
      .needs = check_plain_sgd}},
    {"em_sgd",
     {.train = em_sgd,
      .score = em_scores,
      .summary = summarise_ensembles,
      .passes = as_many_as_models,
      .needs = check_plain_sgd}},
    {"envelope_sgd",
     {.train = envelope_sgd,
      .passes = envelope_passes,
      .needs = check_plain_sgd}},
    {"meta_sgd",
     {.train = meta_sgd,
      .home = meta_home,
      .passes = meta_passes,
      .needs = check_plain_sgd}},
    {"split_sgd",
     {.train = split_sgd,
      .home = split_home,
      .passes = split_passes,
      .needs = check_plain_sgd}},
    {"two_level_sgd",
     {.train = two_level_sgd,
      .home = common_home,
      .summary = summarise_adapters,
      .passes = two_level_passes}},
    {"common_sgd",
     {.train = common_sgd, .home = common_home, .summary = summarise_adapters}},
    {"common_meta_sgd",
     {.train = common_meta_sgd,
      .home = common_meta_home,
      .summary = summarise_meta_adapters,
      .passes = common_meta_passes}},
    {"pruned_sgd",
     {.train = pruned_sgd,
      .home = pruned_home,
      .summary = summarise_adapters}}};
  return table;
}

} // namespace troupe::models
