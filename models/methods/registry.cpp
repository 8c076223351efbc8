#include "models/methods/built_in.hpp"

namespace troupe::models {

const method_table& local_methods() {
  static const method_table table{{"sgd", sgd},
                                  {"proximal_sgd", proximal_sgd},
                                  {"own_sgd", own_sgd},
                                  {"controlled_sgd", controlled_sgd},
                                  {"two_stage_sgd", two_stage_sgd},
                                  {"mixed_sgd", mixed_sgd},
                                  {"tied_sgd", tied_sgd},
                                  {"own_adapter_sgd", own_adapter_sgd},
                                  {"least_loss", least_loss},
                                  {"chosen_sgd", chosen_sgd},
                                  {"ensemble_sgd", ensemble_sgd},
                                  {"tied_ensemble_sgd", tied_ensemble_sgd},
                                  {"em_sgd", em_sgd},
                                  {"envelope_sgd", envelope_sgd},
                                  {"meta_sgd", meta_sgd},
                                  {"split_sgd", split_sgd},
                                  {"two_level_sgd", two_level_sgd},
                                  {"common_sgd", common_sgd},
                                  {"pruned_sgd", pruned_sgd},
                                  {"ranked_sgd", ranked_sgd},
                                  {"common_meta_sgd", common_meta_sgd},
                                  {"each", each_sgd},
                                  {"common_alone", common_alone},
                                  {"top_of_gate", top_of_gate},
                                  {"apart", apart_sgd},
                                  {"jointly", joint_sgd},
                                  {"routed_sgd", routed_sgd},
                                  {"jointly_routed_sgd", jointly_routed_sgd},
                                  {"averaged_sgd", averaged_sgd},
                                  {"base_alone", base_alone},
                                  {"outer_sgd", outer_sgd},
                                  {"shared_inner_sgd", shared_inner_sgd},
                                  {"own_line", own_line},
                                  {"line_sgd", line_sgd},
                                  {"two_adapters_sgd", two_adapters_sgd},
                                  {"fuse_adapters", fuse_adapters}};
  return table;
}

} // namespace troupe::models
