#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"

namespace troupe::models {

namespace {

std::uint64_t two(const training_options&) {
  return 2;
}

std::uint64_t as_many_as_models(const training_options& how) {
  return static_cast<std::uint64_t>(option_or(how, "components", 1));
}

} // namespace

const procedure_table& procedures() {
  static const procedure_table table{
    .procedures = {{"sgd", sgd},
                   {"proximal_sgd", proximal_sgd},
                   {"controlled_sgd", controlled_sgd},
                   {"two_stage_sgd", two_stage_sgd},
                   {"own_sgd", own_sgd},
                   {"mixed_sgd", mixed_sgd},
                   {"tied_sgd", tied_sgd},
                   {"own_adapter_sgd", own_adapter_sgd},
                   {"chosen_sgd", chosen_sgd},
                   {"ensemble_sgd", ensemble_sgd},
                   {"tied_ensemble_sgd", tied_ensemble_sgd},
                   {"em_sgd", em_sgd},
                   {"envelope_sgd", envelope_sgd},
                   {"meta_sgd", meta_sgd},
                   {"split_sgd", split_sgd},
                   {"two_level_sgd", two_level_sgd},
                   {"common_sgd", common_sgd},
                   {"common_meta_sgd", common_meta_sgd},
                   {"pruned_sgd", pruned_sgd}},
    .choosers = {{"least_loss", least_loss}},
    .passes = {{"two_stage_sgd", two},
               {"mixed_sgd", mixed_passes},
               {"ensemble_sgd", as_many_as_models},
               {"em_sgd", as_many_as_models},
               {"envelope_sgd", envelope_passes},
               {"meta_sgd", meta_passes},
               {"split_sgd", split_passes},
               {"two_level_sgd", two_level_passes},
               {"common_meta_sgd", common_meta_passes}},
    .homes = {{"mixed_sgd", mixed_home},
              {"tied_sgd", tied_home},
              {"own_adapter_sgd", own_adapter_home},
              {"chosen_sgd", chosen_home},
              {"meta_sgd", meta_home},
              {"split_sgd", split_home},
              {"two_level_sgd", common_home},
              {"common_sgd", common_home},
              {"common_meta_sgd", common_meta_home},
              {"pruned_sgd", pruned_home}},
    .scorers = {{"ensemble_sgd", ensemble_scores},
                {"tied_ensemble_sgd", tied_ensemble_scores},
                {"em_sgd", em_scores}},
    .summaries = {{"mixed_sgd", summarise_mixtures},
                  {"chosen_sgd", summarise_choices},
                  {"ensemble_sgd", summarise_ensembles},
                  {"em_sgd", summarise_ensembles},
                  {"two_level_sgd", summarise_adapters},
                  {"common_sgd", summarise_adapters},
                  {"common_meta_sgd", summarise_meta_adapters},
                  {"pruned_sgd", summarise_adapters}}};
  return table;
}

} // namespace troupe::models
