#pragma once

// The parts of the methods that stand in this folder, for their table.

#include "models/methods/local_method.hpp"

namespace troupe::models {

using row_span = std::span<const std::uint32_t>;

/// Local SGD on the shared model (FedAvg).
task<done> sgd(visit& v);

/// The same with `proximal` / 2 |w - fetched w|^2 added to the loss (FedProx,
/// Li et al. 2020); 0 if the option is missing, and then it has the bits of
/// `sgd`.
task<done> proximal_sgd(visit& v);

/// SCAFFOLD (Karimireddy et al. 2020) with option II for the control variate:
/// see control_variate.cpp for momentum.
task<done> controlled_sgd(visit& v);

/// Ditto (Li et al. 2021): the shared model as `sgd` does, then the client's
/// own model on the same batches, drawn by `lambda` towards the fetched shared
/// model.
task<done> two_stage_sgd(visit& v);

/// The client's own model alone, begun from the fetched one. Offers nothing.
task<done> own_sgd(visit& v);

/// FLoRAL: the shared model, adapters of low rank and the client's router in
/// one joint step. `tied_sgd`: the router is fixed, client k has adapter k mod
/// C.
task<done> mixed_sgd(visit& v);
task<done> tied_sgd(visit& v);
/// The shared model and an adapter of the client's own, which never travels.
task<done> own_adapter_sgd(visit& v);
task<done> own_adapter_home(visit& v);
task<done> mixed_home(visit& v);
task<done> tied_home(visit& v);
void summarise_mixtures(const evaluation_input& x, const local_problem& on,
                        evaluated& to);
/// 1 + `warm_passes`.
std::uint64_t mixed_passes(const training_options& how);

/// IFCA (Ghosh et al. 2020): the model of least loss, chosen before training.
task<choice> least_loss(visit& v);
task<done> chosen_sgd(visit& v);
task<done> chosen_home(visit& v);

/// How far the clients' choices are their clusters.
void summarise_choices(const evaluation_input& x, const local_problem& on,
                       evaluated& to);

/// FLoRAL's ensemble: C whole models whose outputs each client mixes.
task<done> ensemble_sgd(visit& v);
task<done> tied_ensemble_sgd(visit& v);
task<scores> ensemble_scores(visit& v, split part, row_span rows);
task<scores> tied_ensemble_scores(visit& v, split part, row_span rows);
void summarise_ensembles(const evaluation_input& x, const local_problem& on,
                         evaluated& to);

/// FedEM (Marfoq et al. 2021): C models, and examples that belong to them in
/// parts.
task<done> em_sgd(visit& v);
task<scores> em_scores(visit& v, split part, row_span rows);

/// pFedMe (Dinh et al. 2020), with `lambda`, `inner_rate` and `inner_steps`.
task<done> envelope_sgd(visit& v);
std::uint64_t envelope_passes(const training_options& how);

/// Per-FedAvg (Fallah et al. 2020), with `inner_rate` and `difference`.
task<done> meta_sgd(visit& v);
task<done> meta_home(visit& v);
std::uint64_t meta_passes(const training_options& how);

/// FedRep (Collins et al. 2021) with `head_passes` above 0, else FedPer.
task<done> split_sgd(visit& v);
task<done> split_home(visit& v);
std::uint64_t split_passes(const training_options& how);

/// PF2LoRA: one common adapter over a frozen model, and one of each client's
/// own.
task<done> two_level_sgd(visit& v);
std::uint64_t two_level_passes(const training_options& how);

/// The common adapter alone (HOMLoRA), and that at a client's own rank
/// (HETLoRA).
task<done> common_sgd(visit& v);
task<done> pruned_sgd(visit& v);
task<done> common_home(visit& v);
task<done> pruned_home(visit& v);

/// Per-FedAvg of the common adapter, with the whole second derivative.
task<done> common_meta_sgd(visit& v);
task<done> common_meta_home(visit& v);
std::uint64_t common_meta_passes(const training_options& how);
void summarise_adapters(const evaluation_input& x, const local_problem& on,
                        evaluated& to);
void summarise_meta_adapters(const evaluation_input& x, const local_problem& on,
                             evaluated& to);

} // namespace troupe::models
