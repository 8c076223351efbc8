#include "models/procedures/built_in.hpp"

namespace troupe::models {

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
                   {"chosen_sgd", chosen_sgd}},
    .choosers = {{"least_loss", least_loss}},
    .passes = {{"two_stage_sgd", 2}},
    .homes = {{"mixed_sgd", mixed_home},
              {"tied_sgd", tied_home},
              {"own_adapter_sgd", own_adapter_home},
              {"chosen_sgd", chosen_home}},
    .summaries = {{"mixed_sgd", summarise_mixtures}}};
  return table;
}

} // namespace troupe::models
