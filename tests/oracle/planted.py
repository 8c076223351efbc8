"""Errors that can be planted in the oracle, each with what it is and the run that must see it. A
comparison that sees none of them would say nothing."""

ERRORS = {
    # What the server does.
    "one_for_examples": ("clients weigh the same where they weigh by examples", "fedavg sync"),
    "examples_for_one": ("clients weigh by examples where they weigh the same", "ditto sync"),
    "root_for_logarithm": ("n examples weigh their root, not their logarithm", "fedavg log"),
    "discount_squared": ("a stale offer is discounted twice", "fedbuff polynomial"),
    "polynomial_without_one": ("s^-a in the place of (1 + s)^-a", "fedbuff polynomial"),
    "knee_too_late": ("the hinge's knee is one version late", "fedbuff hinge"),
    "discount_renormalised": ("discounted weights are divided by their sum", "semisync"),
    "delta_for_model": ("deltas are added where models are mixed", "fedasync model"),
    "mixed_whole": ("where no rate is given, a client's model replaces the version",
                    "fedasync default rate"),
    "momentum_after": ("the server moves before its momentum hears of the mean", "momentum"),
    "bias_corrected": ("Adam's moments are corrected for their start", "adam"),
    "square_of_momentum": ("the second moment is that of the momentum", "adam"),
    "moment_from_zero": ("the second moment begins at zero, not at tau^2", "adam"),
    "yogi_as_adam": ("Yogi forgets as Adam does", "yogi"),
    "adagrad_forgets": ("Adagrad's sum of squares decays", "adagrad"),
    "root_with_tau": ("tau stands below the root", "adagrad"),
    "trimmed_too_little": ("one offer less is left out at either end", "trimmed mean"),
    "lower_median": ("of two in the middle the lower one is taken", "median"),
    "krum_neighbours": ("Krum asks n - f - 1 neighbours", "krum"),
    "multi_krum_keeps_one": ("multi-Krum keeps a single offer", "multi-krum"),
    "clipped_by_largest": ("an offer is cut where its largest value is too large", "clip_norm"),
    "control_discounted": ("a stale offer's control variate is discounted", "scaffold fedbuff"),
    "control_over_cohort": ("control variates are divided by the cohort", "scaffold sync"),
    "control_keeps_its_scale": ("c is not rescaled when clients join", "scaffold joins"),
    "shares_not_normalised": ("an adapter's mean is divided by n, not n pi", "floral sync"),
    "share_cancels": ("one offer alone is taken whole, whatever its share", "floral fedasync"),
    # What clients do.
    "rate_never_falls": ("the learning rate has no schedule", "fedavg cosine"),
    "decay_in_gradient": ("AdamW's decay goes through its moments", "homlora adamw"),
    "moments_begin_anew": ("AdamW's moments do not outlive a visit", "homlora adamw"),
    "works_to_the_end": ("a straggler does all of its work", "fedprox stragglers"),
    "order_of_the_file": ("each epoch has the order of the rows", "fedavg shuffled"),
    "proximal_sign": ("the proximal term pushes away", "fedprox sync"),
    "proximal_to_zero": ("the proximal term draws to zero", "fedprox sync"),
    "control_sign": ("a step follows g + c_i - c", "scaffold sync"),
    "control_without_steps": ("the new c_i is not divided by the steps", "scaffold sync"),
    "held_to_moving_model": ("Ditto's own model is held near the model in training",
                             "ditto clusters"),
    "trains_what_is_shared": ("Local begins each visit from the shared model", "local fedbuff"),
    "inner_step_missing": ("Per-FedAvg's gradient is that before its inner step",
                           "per_fedavg sync"),
    "curvature_left_out": ("Per-FedAvg's Hessian is left out", "per_fedavg hessian"),
    "envelope_from_model": ("pFedMe solves from the shared model each time", "pfedme sync"),
    "envelope_rate": ("pFedMe's model moves by its rate without lambda", "pfedme sync"),
    "body_first": ("FedRep's body is trained before its head", "fedrep sync"),
    "head_alone": ("FedPer's body is trained after its head", "fedper sync"),
    "most_loss": ("IFCA takes the model of most loss", "ifca sync"),
    "prior_left_out": ("FedEM's examples belong to models by their loss alone", "fedem sync"),
    "mixture_kept": ("FedEM's mixture stays even", "fedem clusters"),
    "losses_mixed": ("the ensemble mixes losses, not outputs", "ensemble sync"),
    "neighbour_tied": ("the cluster of a client is that of the next one", "ensemble_optimal"),
    "router_not_centred": ("the router's gradient lacks what it is compared with", "floral sync"),
    "shares_before_training": ("adapters are weighed by shares from before", "floral sync"),
    "not_preconditioned": ("adapters follow the plain gradient", "floral sync"),
    "adapter_not_kept": ("a client's adapter begins anew in each visit", "local_adaptor"),
    "old_own_adapter": ("PF2LoRA's gradient is taken before its inner step", "pf2lora sync"),
    "correction_sign": ("PF2LoRA's correction is added", "pf2lora sync"),
    "correction_at_new_point": ("PF2LoRA's mixed derivative is that of the new point",
                                "pf2lora sync"),
    "step_through_left_out": ("Per-FedAvg-LoRA's gradient is of the first order",
                              "per_fedavg_lora"),
    "penalty_left_out": ("HETLoRA's last ranks cost nothing", "hetlora sync"),
    "never_pruned": ("HETLoRA's clients keep their ranks", "hetlora sync"),
    "lacking_left_out": ("what a stale client lacks is that of its version",
                         "hetlora fedbuff"),
    "norm_for_one": ("HETLoRA's offers weigh the same", "hetlora sync"),
    # What troupe once did.
    "wide_start": ("the random factor is wider by the root of six", "pf2lora sync"),
}

active = set()


def wrong(name):
    """Whether this error is planted now."""
    assert name in ERRORS, name
    return name in active
