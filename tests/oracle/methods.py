"""The catalogue: of each method, which blocks travel on which line, how a client learns, what its
offers weigh, and the options that its publication gives."""

from dataclasses import dataclass, field

import by_hand
import gated
import halves
import lora
import mixtures
import routed
import visit


@dataclass
class Method:
    learn: object               # A visit to what it offers.
    lines: tuple = (("model",),)  # Each a tuple of blocks; a family in the place of `C` lines.
    several: str = ""           # The family of which there are as many as `count` says.
    count: object = "components"  # An option, or how many.
    weight: str = "examples"    # Or "one", or "norm"; shares are a visit's own.
    options: dict = field(default_factory=dict)
    on_accept: bool = False     # A client's state waits until its offer is merged.
    asks: object = None         # What is off in what a visit asked for, if it asks.
    bound: float = 1e-4         # Of what differs.
    factored: bool = False      # Products are averaged, and factored anew.
    finish: object = None       # A client's last visit, which offers nothing.


WITH_ADAPTERS = {"components": 4, "budget": 0.01, "adapter_rate": 0, "router_rate": 0,
                 "epsilon": 1e-5, "adapter_server_rate": 1, "router_noise": 0, "share_floor": 0,
                 "stateless": 0, "warm_passes": 0, "warm_rate": 0}

BEHIND_A_GATE = {"options.gate_width": 0, "options.gate_rate": 0.001, "options.renormalise": 0,
                 "options.mix": "logits", "options.from_common": 0, "options.request": "gate",
                 "options.disjoint": 0}

AVERAGED = {"rank": 8, "options.alpha": 16}
EXPERTS = {**AVERAGED, "balance": 0.01, "balance_scale": "normalised"}
ROUTED = {**EXPERTS, "router_data": "validation", "router_steps": 10, "router_every": 30,
          "router_rate": 0.002, "grad_leak_compat": 0}
BLOCKS = {"rank": 16, "adapted": "blocks", "attention_rank": 8}
GENERALISTS = (("generalist.0",), ("generalist.1",), ("attention",))

METHODS = {
    "fedavg": Method(visit.averaged),
    "fedprox": Method(visit.proximal, options={"proximal": 1}),
    "scaffold": Method(visit.controlled, lines=(("model", "control"),), weight="one",
                       on_accept=True),
    "local": Method(visit.alone),
    "ditto": Method(visit.two_stage, weight="one", options={"lambda": 1}),
    "pfedme": Method(visit.envelope, weight="one",
                     options={"lambda": 15, "inner_rate": 0.01, "inner_steps": 5}),
    "per_fedavg": Method(visit.meta, weight="one", options={"inner_rate": 0.01, "difference": 0}),
    "fedrep": Method(visit.split, lines=(("body",),), options={"head_passes": 10}),
    "fedper": Method(visit.split, lines=(("body",),), options={"head_passes": 0}),
    "ifca": Method(mixtures.chosen, lines=(), several="model", weight="one",
                   options={"components": 4}),
    "fedem": Method(mixtures.expectation, lines=(), several="model", options={"components": 3}),
    "ensemble": Method(mixtures.ensemble, lines=(), several="model",
                       options={"components": 4, "router_rate": 0}),
    "ensemble_optimal": Method(mixtures.ensemble_tied, lines=(), several="model",
                               options={"components": 4}),
    "floral": Method(mixtures.mixed, several="adapter", options=WITH_ADAPTERS),
    "floral_optimal": Method(mixtures.mixed_tied, several="adapter", options=WITH_ADAPTERS),
    "local_adaptor": Method(mixtures.with_own_adapter,
                            options={"budget": 0.01, "adapter_rate": 0, "epsilon": 1e-5}),
    "pf2lora": Method(lora.two_level, lines=(("adapter",),), weight="one",
                      options={"rank": 8, "own_rank": 2, "inner_rate": 1e-3,
                               "first_order": 0, "joint": 0, "four_batches": 0, "printed_schedule": 0}),
    "per_fedavg_lora": Method(lora.common_meta, lines=(("adapter",),), weight="one",
                              options={"rank": 8, "inner_rate": 1e-3, "first_order": 0, "three_batches": 0}),
    "homlora": Method(lora.common, lines=(("adapter",),), weight="one", options={"rank": 8}),
    "hetlora": Method(lora.pruned, lines=(("adapter",),), weight="norm",
                      options={"rank": 12, "rank_min": 8, "keep_share": 0.99,
                               "penalty": 5e-3, "rank_first": 0, "rank_last": 0}),
    "flexlora": Method(lora.ranked, lines=(("adapter",),), factored=True,
                       options={"rank": 12, "rank_min": 8, "rank_first": 0, "rank_last": 0}),
    "fdlora": Method(lora.both, lines=(("adapter",),), weight="one", finish=lora.fuse,
                     options={"rank": 8, "own_rank": 8, "adapted": "blocks", "attention_rank": 8}),
    "ddome": Method(gated.ddome, lines=(("gate",),), several="model", count="options.experts",
                    options={"options.experts": 5, "options.chosen": 2, "options.anchors": 5,
                             **BEHIND_A_GATE, "options.answer": "expert"},
                    asks=by_hand.difference),
    "fedmix": Method(gated.joint, lines=(("gate",),), several="model", count="options.experts",
                     options={"options.experts": 2, **BEHIND_A_GATE,
                              "options.answer": "mixture"}),
    "average_ensemble": Method(gated.each, lines=(), several="model", count=2),
    "common_expert": Method(None),  # Nobody trains.
    "pretrained": Method(None, lines=(("adapter",),), options={"rank": 1}),
    "comigs": Method(routed.learned, lines=(("generalist",), ("attention",)), weight="one",
                     options={**ROUTED, "attention": "shared"}),
    "comigs_2g": Method(routed.learned, lines=GENERALISTS, weight="one",
                        options={**ROUTED, "attention": "shared", "joint": 0}),
    "comigs_2s": Method(routed.learned, lines=(("attention",),), options={**ROUTED, "joint": 0}),
    "pfedmoe": Method(routed.together, lines=(("generalist",), ("attention",)), weight="one",
                      options={**EXPERTS, "attention": "shared"}),
    "fedavg_lora": Method(routed.together, lines=GENERALISTS, weight="one", options=AVERAGED),
    "local_lora": Method(routed.together, lines=(("attention",),), options=AVERAGED),
    "centralised_lora": Method(routed.together, lines=(("attention",),), options=AVERAGED),
    "ffa_lora": Method(halves.outer_alone, lines=(("outer_factors",),), weight="one",
                       options=BLOCKS),
    "fedsa_lora": Method(halves.shared_inner, lines=(("inner_factors",),), weight="one",
                         options=BLOCKS),
    "pcl": Method(halves.line_of_own, lines=(), several="model_of", count="clients.clients",
                  weight="one", options={**BLOCKS, "watched": 1280},
                  bound=1e-3),  # Shares follow e to a loss, some hundred times as large.
}

OVER_A_FROZEN_MODEL = ("pf2lora", "per_fedavg_lora", "homlora", "hetlora", "pretrained", "ffa_lora",
                       "fedsa_lora", "pcl", "flexlora", "fdlora")
OFFERS_NOTHING = ("local", *routed.ALONE)

# What the configuration says where it says nothing.
DEFAULTS = {
    "pace.mode": "sync", "pace.buffer_size": 10, "pace.async_target": "model",
    "pace.staleness.kind": "polynomial", "pace.staleness.exponent": 0.5,
    "pace.staleness.slope": 10.0, "pace.staleness.knee": 4,
    "clients.example_weight": "n", "clients.held_out": 0, "data.cluster_rows": 0,
    "training.local_steps": 0, "training.local_epochs": 1, "training.batch_size": 0,
    "training.optimiser": "sgd", "training.momentum": 0.0, "training.weight_decay": 0.0,
    "training.shuffle": True, "training.stragglers": 0.0, "training.batches": "epochs",
    "training.beta1": 0.9, "training.beta2": 0.999,
    "training.schedule.kind": "constant", "training.schedule.last": 0.0,
    "training.schedule.steps": 2, "training.schedule.factor": 0.1,
    "server.optimiser": "plain", "server.server_learning_rate": None, "server.beta1": 0.9,
    "server.beta2": 0.99, "server.tau": 1e-3,
    "merge.rule": "mean", "merge.trim": 1, "merge.bad": 1, "merge.keep": 1,
    "merge.clip_norm": 0.0, "merge.wire": "f32",
}


def instances(method, config):
    return int(config[method.count] if isinstance(method.count, str) else method.count)


def lines_of(name, config):
    """All lines of a run, from 1 in the order of their numbers, each with its blocks."""
    method = METHODS[name]
    lines = list(method.lines)
    if method.several:
        lines += [(f"{method.several}.{c}",) for c in range(instances(method, config))]
    if config.get("plain_attention"):
        lines.append(("attention",))
    if config.get("attention") == "private":
        lines.remove(("attention",))
    return dict(enumerate(lines, 1))
