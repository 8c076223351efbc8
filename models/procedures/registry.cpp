#include "models/procedures/built_in.hpp"

namespace troupe::models {

const procedure_table& procedures() {
  static const procedure_table table{
    .procedures = {{"sgd", sgd},
                   {"proximal_sgd", proximal_sgd},
                   {"controlled_sgd", controlled_sgd},
                   {"two_stage_sgd", two_stage_sgd},
                   {"own_sgd", own_sgd}},
    .choosers = {},
    .passes = {{"two_stage_sgd", 2}}};
  return table;
}

} // namespace troupe::models
