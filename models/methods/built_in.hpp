#pragma once

// The procedures that stand in this folder, one per file. Recipes name them as
// they are called here.

#include "models/procedure.hpp"

namespace troupe::models {

/// Local SGD on the shared model (FedAvg).
result<trained> sgd(const visit_input& x, local_problem& on);

/// The same with `proximal` / 2 |w - fetched w|^2 added to the loss (FedProx,
/// Li et al. 2020); 0 if the option is missing, and then it has the bits of
/// `sgd`.
result<trained> proximal_sgd(const visit_input& x, local_problem& on);

/// SCAFFOLD (Karimireddy et al. 2020) with option II for the control variate:
/// see control_variate.cpp for momentum.
result<trained> controlled_sgd(const visit_input& x, local_problem& on);

/// Ditto (Li et al. 2021): the shared model as `sgd` does, then the client's
/// own model on the same batches, drawn by `lambda` towards the fetched shared
/// model.
result<trained> two_stage_sgd(const visit_input& x, local_problem& on);

/// The client's own model alone, begun from the fetched one. Offers nothing.
result<trained> own_sgd(const visit_input& x, local_problem& on);

/// FLoRAL: the shared model, adapters of low rank and the client's router in
/// one joint step. `tied_sgd`: the router is fixed, client k has adapter k mod
/// C.
result<trained> mixed_sgd(const visit_input& x, local_problem& on);
result<trained> tied_sgd(const visit_input& x, local_problem& on);
/// The shared model and an adapter of the client's own, which never travels.
result<trained> own_adapter_sgd(const visit_input& x, local_problem& on);
result<void> own_adapter_home(const home& x, local_problem& on);
result<void> mixed_home(const home& x, local_problem& on);
result<void> tied_home(const home& x, local_problem& on);
void summarise_mixtures(const evaluation_input& x, const local_problem& on,
                        evaluated& to);
/// 1 + `warm_passes`.
std::uint64_t mixed_passes(const training_options& how);

/// IFCA (Ghosh et al. 2020): the model of least loss, chosen before training.
result<choice> least_loss(const visit_input& x, local_problem& on);
result<trained> chosen_sgd(const visit_input& x, local_problem& on);
result<void> chosen_home(const home& x, local_problem& on);

/// How far the clients' choices are their clusters.
void summarise_choices(const evaluation_input& x, const local_problem& on,
                       evaluated& to);

/// FLoRAL's ensemble: C whole models whose outputs each client mixes.
result<trained> ensemble_sgd(const visit_input& x, local_problem& on);
result<trained> tied_ensemble_sgd(const visit_input& x, local_problem& on);
result<scores> ensemble_scores(const home& x, local_problem& on, split part,
                               std::span<const std::uint32_t> rows);
result<scores> tied_ensemble_scores(const home& x, local_problem& on,
                                    split part,
                                    std::span<const std::uint32_t> rows);
void summarise_ensembles(const evaluation_input& x, const local_problem& on,
                         evaluated& to);

/// FedEM (Marfoq et al. 2021): C models, and examples that belong to them in
/// parts.
result<trained> em_sgd(const visit_input& x, local_problem& on);
result<scores> em_scores(const home& x, local_problem& on, split part,
                         std::span<const std::uint32_t> rows);

/// pFedMe (Dinh et al. 2020), with `lambda`, `inner_rate` and `inner_steps`.
result<trained> envelope_sgd(const visit_input& x, local_problem& on);
std::uint64_t envelope_passes(const training_options& how);

/// Per-FedAvg (Fallah et al. 2020), with `inner_rate` and `difference`.
result<trained> meta_sgd(const visit_input& x, local_problem& on);
result<void> meta_home(const home& x, local_problem& on);
std::uint64_t meta_passes(const training_options& how);

/// FedRep (Collins et al. 2021) with `head_passes` above 0, else FedPer.
result<trained> split_sgd(const visit_input& x, local_problem& on);
result<void> split_home(const home& x, local_problem& on);
std::uint64_t split_passes(const training_options& how);

/// PF2LoRA: one common adapter over a frozen model, and one of each client's
/// own.
result<trained> two_level_sgd(const visit_input& x, local_problem& on);
std::uint64_t two_level_passes(const training_options& how);

/// The common adapter alone (HOMLoRA), and that at a client's own rank
/// (HETLoRA).
result<trained> common_sgd(const visit_input& x, local_problem& on);
result<trained> pruned_sgd(const visit_input& x, local_problem& on);
result<void> common_home(const home& x, local_problem& on);
result<void> pruned_home(const home& x, local_problem& on);

/// Per-FedAvg of the common adapter, with the whole second derivative.
result<trained> common_meta_sgd(const visit_input& x, local_problem& on);
result<void> common_meta_home(const home& x, local_problem& on);
std::uint64_t common_meta_passes(const training_options& how);
void summarise_adapters(const evaluation_input& x, const local_problem& on,
                        evaluated& to);
void summarise_meta_adapters(const evaluation_input& x, const local_problem& on,
                             evaluated& to);

} // namespace troupe::models
