"""The runs that are compared: short ones, so that single precision does not drift, and each about
one thing."""

import json
import pathlib
import subprocess
from dataclasses import dataclass, field, replace

from classified import write_lines
from language_cases import LANGUAGE, TEXTS
from methods import DEFAULTS, METHODS
from record import Record
from task import SHAPE, SIZES, model_of, write_table
from texts import write_texts
from transformer import write_model

ROUNDS = 6     # Of those in rounds; versions of the others.
VERSIONS = 16  # Fewer than the ledger keeps.

TABLE = {
    "data.kind": "csv", "data.label": "label", "data.test_fraction": 0.0, "data.validation": 0.0,
    "partition.kind": "column", "partition.column": "who", "clients.clients": len(SIZES),
    "clients.clients_per_round": 3, "model.kind": "softmax", "training.local_steps": 3,
    "training.batch_size": 0, "training.shuffle": False, "training.learning_rate": 0.1,
}
CLUSTERS = {
    "evaluate_every": 1000,  # In the end.
    "data.kind": "clusters", "data.task": "linear", "data.clusters": 2, "clients.clients": 4,
    "clients.clients_per_round": 4, "model.kind": "regression", "model.hidden": [],
    "training.local_steps": 3, "training.batch_size": 0, "training.learning_rate": 0.05,
}
# Devices of different speeds, so that offers are several versions behind.
UNEQUAL = {"devices.speed.kind": "uniform", "devices.speed.slowest": 0.1,
           "devices.speed.fastest": 1.0, "pace.concurrency": 5}
FEDBUFF = {"pace.mode": "fedbuff", "pace.buffer_size": 2, "versions": VERSIONS, **UNEQUAL}
FEDASYNC = {"pace.mode": "fedasync", "versions": VERSIONS, **UNEQUAL}
SEMISYNC = {"pace.mode": "semisync", "pace.window_seconds": 0.1, "rounds": 12, **UNEQUAL}
MLP = {"model.kind": "mlp", "model.hidden": [5]}
ALL = {"clients.clients_per_round": len(SIZES)}
TWO = {"components": 2}
RANKS = {"rank": 2}
# Clients 1 and 2 are anchors, the other four ask for two of three experts.
GATED = {"options.experts": 3, "options.chosen": 2, "options.anchors": 2,
         "options.anchors_per_round": 1, "options.gate_rate": 0.3}
# A common model of its own, so that what the gate sees is not what experts see.
OVER_MLP = {**GATED, "common_model.kind": "mlp", "common_model.hidden": [6]}
# The same on the linear task, where two of four clients are anchors.
BEHIND_CLUSTERS = {"options__experts": 3, "options__anchors": 2, "options__anchors_per_round": 2,
                   "options__gate_rate": 0.3}
NO_ANCHORS = {"options.anchors": 0, "options.anchors_per_round": 0}


@dataclass
class Case:
    name: str
    method: str
    settings: dict
    on: dict = field(default_factory=lambda: TABLE)
    scenario: str = ""

    @property
    def quick(self):
        return self.name in QUICK

    def later(self, by):
        """The same with other draws."""
        return replace(self, settings={**self.settings, "seed": self.said()["seed"] + by})

    @property
    def has_both_ways(self):
        """Whether its adapters can stand inside the layers: linear ones, of what rows are written for."""
        return self.on is TABLE and bool({"rank", "budget"} & METHODS[self.method].options.keys())

    def inside(self):
        """The same where they do."""
        return replace(self, name=f"{self.name} inside",
                       settings={**self.settings, "model.factors": "inside"})

    def said(self):
        """What the configuration file says."""
        pace = {} if "versions" in self.settings else {"rounds": ROUNDS}
        said = {"seed": 5, "method": self.method, "name": "oracle", "evaluate_every": 0,
                "events": True, "ledger": "disk", "workers": 1,
                **pace, **self.on, **self.settings}
        return {key: value for key, value in said.items() if value is not None}

    def config(self):
        """What holds, with the defaults as they should be."""
        return {**DEFAULTS, **METHODS[self.method].options, **self.said()}

    def make(self, executable, folder):
        """The run."""
        said = self.said()
        here = pathlib.Path(folder) / f"{self.name} {said['seed']}".replace(" ", "_")
        here.mkdir()
        said["folder"] = str(here / "runs")
        if said["data.kind"] == "csv":
            write_table(here / "table.csv", said["seed"])
            said["data.path"] = str(here / "table.csv")
        if said["data.kind"] == "language":
            write = write_lines if said.get("data.task") == "classify" else write_texts
            write(here / "texts", said["seed"])
            said["data.path"] = str(here / "texts")
            if "model.layers" not in said:
                write_model(here / "base", model_of(said), said["seed"])
                said["model.path"] = str(here / "base")
        if self.scenario:
            (here / "scenario.toml").write_text(self.scenario, encoding="utf-8")
            said["scenario"] = str(here / "scenario.toml")
        said.pop(SHAPE, None)
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())
        (here / "run.toml").write_text(text, encoding="utf-8")
        done = subprocess.run([executable, "run", str(here / "run.toml")], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: exit code {done.returncode}\n"
                               f"{done.stdout}{done.stderr}")
        (run,) = (here / "runs").iterdir()
        return Record(run)


def in_clusters(name, method, **settings):
    return Case(name, method, {k.replace("__", "."): v for k, v in settings.items()}, on=CLUSTERS)


CASES = [
    # Paces, staleness and weights, under FedAvg.
    Case("fedavg sync", "fedavg", {}),
    Case("fedavg mlp", "fedavg", MLP),
    Case("fedavg batches", "fedavg", {"training.batch_size": 3, "training.local_steps": 0,
                                      "training.local_epochs": 2}),
    Case("fedavg shuffled", "fedavg", {"training.batch_size": 3, "training.local_steps": 0,
                                       "training.local_epochs": 2, "training.shuffle": True}),
    Case("fedavg momentum", "fedavg", {"training.momentum": 0.9,
                                       "training.weight_decay": 0.05}),
    Case("fedavg adamw", "fedavg", {"training.optimiser": "adamw", "training.weight_decay": 0.05,
                                    "training.learning_rate": 0.02}),
    Case("fedavg cosine", "fedavg", {"training.schedule.kind": "cosine",
                                     "training.schedule.last": 0.1}),
    Case("fedavg step", "fedavg", {"training.schedule.kind": "step",
                                   "training.schedule.factor": 0.5}),
    Case("fedavg root", "fedavg", {"clients.example_weight": "sqrt"}),
    Case("fedavg log", "fedavg", {"clients.example_weight": "log"}),
    Case("fedavg adamw shuffled log", "fedavg", {
        "training.optimiser": "adamw", "training.weight_decay": 0.05,
        "training.learning_rate": 0.02, "training.batch_size": 3, "training.local_steps": 0,
        "training.local_epochs": 2, "training.shuffle": True, "clients.example_weight": "log"}),
    Case("fedavg equal", "fedavg", {"clients.example_weight": "equal"}),
    Case("fedbuff constant", "fedavg", {**FEDBUFF, "pace.staleness.kind": "constant"}),
    Case("fedbuff polynomial", "fedavg", FEDBUFF),
    Case("fedbuff hinge", "fedavg", {**FEDBUFF, "pace.staleness.kind": "hinge",
                                     "pace.staleness.slope": 0.7, "pace.staleness.knee": 1}),
    Case("fedbuff exponential", "fedavg", {**FEDBUFF, "pace.staleness.kind": "exponential",
                                           "pace.staleness.exponent": 0.3}),
    Case("fedbuff of one", "fedavg", {**FEDBUFF, "pace.buffer_size": 1,
                                      "server.server_learning_rate": 0.7}),
    Case("semisync", "fedavg", SEMISYNC),
    Case("fedasync model", "fedavg", {**FEDASYNC, "server.server_learning_rate": 0.5}),
    Case("fedasync delta", "fedavg", {**FEDASYNC, "server.server_learning_rate": 0.5,
                                      "pace.async_target": "delta"}),
    Case("fedasync hinge", "fedavg", {**FEDASYNC, "server.server_learning_rate": 0.5,
                                      "pace.staleness.kind": "hinge",
                                      "pace.staleness.slope": 0.7, "pace.staleness.knee": 1}),
    Case("fedasync default rate", "fedavg", FEDASYNC),
    Case("over-selection", "fedavg", {"pace.over_selection": 2.0,
                                      "devices.speed.kind": "half_normal"}),
    # Server optimisers.
    Case("server rate", "fedavg", {"server.server_learning_rate": 0.7}),
    Case("momentum", "fedavg", {"server.optimiser": "momentum", "server.beta1": 0.8,
                                "server.server_learning_rate": 0.5}),
    Case("adam", "fedavg", {"server.optimiser": "adam", "server.server_learning_rate": 0.05}),
    Case("yogi", "fedavg", {"server.optimiser": "yogi", "server.server_learning_rate": 0.05}),
    Case("adagrad", "fedavg", {"server.optimiser": "adagrad",
                               "server.server_learning_rate": 0.05}),
    # Of stale offers, each optimiser under another discount.
    Case("momentum fedbuff", "fedavg", {**FEDBUFF, "pace.staleness.kind": "constant",
                                        "server.optimiser": "momentum", "server.beta1": 0.8,
                                        "server.server_learning_rate": 0.5}),
    Case("yogi fedbuff", "fedavg", {**FEDBUFF, "pace.staleness.kind": "hinge",
                                    "pace.staleness.slope": 0.7, "pace.staleness.knee": 1,
                                    "server.optimiser": "yogi",
                                    "server.server_learning_rate": 0.05}),
    Case("adagrad fedbuff", "fedavg", {**FEDBUFF, "pace.staleness.kind": "exponential",
                                       "pace.staleness.exponent": 0.3,
                                       "server.optimiser": "adagrad",
                                       "server.server_learning_rate": 0.05}),
    Case("adam fedbuff", "fedavg", {**FEDBUFF, "server.optimiser": "adam",
                                    "server.server_learning_rate": 0.05}),
    Case("adam fedasync", "fedavg", {**FEDASYNC, "server.optimiser": "adam",
                                     "server.server_learning_rate": 0.05}),
    Case("adam scaffold", "scaffold", {"server.optimiser": "adam",
                                       "server.server_learning_rate": 0.05}),
    # Rules, over the offers of all six clients.
    Case("median", "fedavg", {"merge.rule": "median", **ALL}),
    Case("trimmed mean", "fedavg", {"merge.rule": "trimmed_mean", "merge.trim": 2, **ALL}),
    Case("krum", "fedavg", {"seed": 3, "merge.rule": "krum", "merge.bad": 1, **ALL}),
    Case("multi-krum", "fedavg", {"merge.rule": "krum", "merge.bad": 1, "merge.keep": 3, **ALL}),
    Case("median fedbuff", "fedavg", {**FEDBUFF, "merge.rule": "median",
                                      "pace.buffer_size": 3}),
    Case("median floral", "floral", {**TWO, "epsilon": 0.01, "merge.rule": "median"}),
    Case("clip_norm", "fedavg", {"merge.clip_norm": 0.1}),
    Case("fedavg bf16", "fedavg", {"merge.wire": "bf16"}),
    Case("fedasync bf16", "fedavg", {"merge.wire": "bf16", **FEDASYNC}),
    Case("floral clip_norm", "floral", {**TWO, "epsilon": 0.01, "merge.clip_norm": 0.2}),
    # Methods.
    Case("fedprox sync", "fedprox", {}),
    Case("fedprox stragglers", "fedprox", {"training.batch_size": 5, "training.local_steps": 0,
                                           "training.local_epochs": 4,
                                           "training.stragglers": 0.6}),
    Case("fedprox momentum", "fedprox", {"training.momentum": 0.9,
                                         "training.weight_decay": 0.1}),
    Case("fedprox fedbuff", "fedprox", FEDBUFF),
    Case("scaffold sync", "scaffold", {}),
    Case("scaffold rate", "scaffold", {"server.server_learning_rate": 0.7}),
    Case("scaffold fedbuff", "scaffold", FEDBUFF),
    Case("scaffold semisync", "scaffold", SEMISYNC),
    Case("scaffold joins", "scaffold", {"rounds": 8, "clients.clients_per_round": 2},
         scenario="[[scene]]\nversion = 4\njoin = [3, 6]\n"),
    Case("scaffold joins fedbuff", "scaffold", FEDBUFF,
         scenario="[[scene]]\nversion = 5\njoin = [4, 6]\n"),
    Case("ditto sync", "ditto", {"lambda": 0.5}),
    Case("ditto momentum", "ditto", {"training.momentum": 0.9}),
    Case("ditto fedbuff", "ditto", FEDBUFF),
    Case("pfedme sync", "pfedme", {"server.server_learning_rate": 0.8}),
    Case("pfedme fedbuff", "pfedme", FEDBUFF),
    Case("per_fedavg sync", "per_fedavg", {"inner_rate": 0.3}),
    Case("per_fedavg hessian", "per_fedavg", {"inner_rate": 0.3, "difference": 0.01}),
    Case("per_fedavg batches", "per_fedavg", {"inner_rate": 0.3, "training.batch_size": 3}),
    Case("fedrep sync", "fedrep", {**MLP, "head_passes": 2}),
    Case("fedper sync", "fedper", MLP),
    Case("ifca sync", "ifca", TWO),
    Case("ifca fedbuff", "ifca", {**TWO, **FEDBUFF}),
    Case("fedem sync", "fedem", TWO),
    Case("fedem batches", "fedem", {**TWO, "training.batch_size": 3}),
    Case("fedem fedbuff", "fedem", {**TWO, **FEDBUFF}),
    Case("ensemble sync", "ensemble", TWO),
    Case("ensemble fedbuff", "ensemble", {**TWO, **FEDBUFF}),
    Case("ensemble fedasync", "ensemble", {**TWO, **FEDASYNC,
                                           "server.server_learning_rate": 0.5}),
    Case("ensemble_optimal", "ensemble_optimal", {**TWO, **ALL}),
    Case("floral sync", "floral", {**TWO, "epsilon": 0.01, "merge.delta_max": 64.0}),
    Case("floral mlp", "floral", {**TWO, **MLP, "rank": 2, "epsilon": 0.1,
                                  "merge.delta_max": 64.0, "router_rate": 0.5,
                                  "adapter_rate": 0.05}),
    Case("floral server rate", "floral", {**TWO, "epsilon": 0.01, "adapter_server_rate": 0.5}),
    Case("floral cosine", "floral", {**TWO, "epsilon": 0.01, "adapter_rate": 0.05,
                                     "router_rate": 0.5, "training.schedule.kind": "cosine",
                                     "training.schedule.last": 0.1}),
    Case("floral noise", "floral", {**TWO, "epsilon": 0.01, "router_noise": 1}),
    Case("floral floor", "floral", {**TWO, "epsilon": 0.01, "share_floor": 0.48,
                                    "router_rate": 1.0}),
    Case("floral stateless", "floral", {**TWO, "epsilon": 0.01, "stateless": 1,
                                        "warm_passes": 2, "warm_rate": 0.5}),
    Case("floral adam", "floral", {**TWO, "epsilon": 0.01, "server.optimiser": "adam",
                                   "server.server_learning_rate": 0.05}),
    Case("floral semisync", "floral", {**TWO, **SEMISYNC, "epsilon": 0.01}),
    Case("floral fedbuff", "floral", {**TWO, **FEDBUFF, "epsilon": 0.01}),
    Case("floral fedbuff of one", "floral", {**TWO, **FEDBUFF, "pace.buffer_size": 1,
                                             "epsilon": 0.01}),
    Case("floral fedasync", "floral", {**TWO, **FEDASYNC, "epsilon": 0.01,
                                       "server.server_learning_rate": 0.5}),
    Case("floral_optimal", "floral_optimal", {**TWO, "epsilon": 0.01,
                                              **ALL}),
    Case("local_adaptor", "local_adaptor", {"epsilon": 0.01}),
    Case("pf2lora sync", "pf2lora", {**RANKS, "own_rank": 1, "inner_rate": 0.1}),
    Case("pf2lora first order", "pf2lora", {**RANKS, "own_rank": 1, "inner_rate": 0.1,
                                            "first_order": 1}),
    Case("pf2lora joint", "pf2lora", {**RANKS, "own_rank": 1, "inner_rate": 0.1, "joint": 1}),
    Case("pf2lora four batches", "pf2lora", {**RANKS, "own_rank": 1, "inner_rate": 0.1,
                                             "four_batches": 1, "training.batch_size": 2}),
    Case("pf2lora printed", "pf2lora", {**RANKS, "own_rank": 1, "inner_rate": 0.1,
                                        "printed_schedule": 1}),
    Case("pf2lora mlp adamw", "pf2lora", {**RANKS, **MLP, "own_rank": 1, "inner_rate": 0.1,
                                          "training.optimiser": "adamw",
                                          "training.learning_rate": 0.02}),
    Case("pf2lora fedbuff", "pf2lora", {**RANKS, **FEDBUFF, "own_rank": 1, "inner_rate": 0.1}),
    Case("per_fedavg_lora", "per_fedavg_lora", {**RANKS, "inner_rate": 0.3}),
    Case("per_fedavg_lora batches", "per_fedavg_lora", {
        **RANKS, "inner_rate": 0.3, "three_batches": 1, "training.batch_size": 2}),
    Case("homlora sync", "homlora", RANKS),
    Case("homlora adamw", "homlora", {**RANKS, "training.optimiser": "adamw",
                                      "training.learning_rate": 0.02,
                                      "training.weight_decay": 0.3}),
    # With seed 5 both part in the first versions, by up to a fifth, and with the five seeds
    # after it they are equal: the penalty divides by norms that are next to zero there.
    Case("hetlora sync", "hetlora", {"seed": 6, "rank": 3, "rank_min": 1, "keep_share": 0.7,
                                     "penalty": 0.2, **ALL, "rounds": 10}),
    Case("hetlora ranks", "hetlora", {"rank": 3, "rank_min": 1, "rank_first": 3,
                                      "rank_last": 1, **ALL}),
    Case("hetlora fedbuff", "hetlora", {"seed": 6, **FEDBUFF, "rank": 3, "rank_min": 1,
                                        "keep_share": 0.7, "penalty": 0.2}),
    # A gate over a common model that nobody trains.
    Case("ddome sync", "ddome", OVER_MLP),
    Case("ddome softmax", "ddome", GATED),
    Case("ddome mlp", "ddome", {**OVER_MLP, **MLP, "options.gate_width": 5}),
    Case("ddome renormalised", "ddome", {**OVER_MLP, "options.renormalise": 1, **ALL}),
    Case("ddome chances", "ddome", {**OVER_MLP, "options.mix": "probabilities", **ALL}),
    Case("ddome chances renormalised", "ddome", {**OVER_MLP, "options.mix": "probabilities",
                                                 "options.renormalise": 1}),
    Case("ddome momentum", "ddome", {**OVER_MLP, "training.momentum": 0.9,
                                     "training.weight_decay": 0.05}),
    Case("ddome batches", "ddome", {**OVER_MLP, "training.batch_size": 3,
                                    "training.local_steps": 0, "training.shuffle": True}),
    Case("ddome exponential", "ddome", {**OVER_MLP, "training.schedule.kind": "exponential",
                                        "training.schedule.last": 0.1}),
    Case("ddome one expert", "ddome", {**OVER_MLP, "options.chosen": 1}),
    Case("ddome all experts", "ddome", {**OVER_MLP, "options.chosen": 3}),
    Case("ddome no anchors", "ddome", {**OVER_MLP, **NO_ANCHORS}),
    Case("ddome only anchors", "ddome", {**OVER_MLP, "options.experts": 6, "options.anchors": 6,
                                         "options.anchors_per_round": 3}),
    Case("ddome still gate", "ddome", {**OVER_MLP, "options.gate_rate": 0}),
    Case("ddome random request", "ddome", {**OVER_MLP, "options.request": "random"}),
    Case("ddome disjoint", "ddome", {**OVER_MLP, "options.disjoint": 1, "rounds": 10, **ALL}),
    Case("ddome from common", "ddome", {**GATED, **MLP, "options.from_common": 1}),
    Case("ddome equal", "ddome", {**OVER_MLP, "clients.example_weight": "equal"}),
    Case("ddome fedbuff", "ddome", {**OVER_MLP, **FEDBUFF}),
    Case("ddome semisync", "ddome", {**OVER_MLP, **SEMISYNC}),
    Case("ddome fedasync", "ddome", {**OVER_MLP, **FEDASYNC,
                                     "server.server_learning_rate": 0.5}),
    Case("fedmix sync", "fedmix", {"options.gate_rate": 0.3}),
    Case("fedmix renormalised", "fedmix", {"options.gate_rate": 0.3, "options.experts": 3,
                                           "options.renormalise": 1}),
    Case("fedmix fedbuff", "fedmix", {"options.gate_rate": 0.3, **FEDBUFF}),
    Case("average_ensemble", "average_ensemble", {"training.batch_size": 3,
                                                  "training.local_steps": 0,
                                                  "training.shuffle": True}),
    Case("common_expert", "common_expert", {}),
    # The same where what clients use themselves is scored.
    in_clusters("fedavg clusters", "fedavg"),
    in_clusters("local", "local"),
    in_clusters("local fedbuff", "local", pace__mode="fedbuff", pace__concurrency=3,
                rounds=0, time_budget=0.5),
    in_clusters("ditto clusters", "ditto"),
    in_clusters("pfedme clusters", "pfedme"),
    in_clusters("per_fedavg clusters", "per_fedavg", inner_rate=0.1),
    in_clusters("fedrep clusters", "fedrep", model__hidden=[4], head_passes=2),
    in_clusters("fedper clusters", "fedper", model__hidden=[4]),
    in_clusters("ifca clusters", "ifca", components=2),
    in_clusters("fedem clusters", "fedem", components=2),
    in_clusters("ensemble clusters", "ensemble", components=2),
    in_clusters("floral clusters", "floral", components=2, epsilon=0.01),
    in_clusters("floral_optimal clusters", "floral_optimal", components=2, epsilon=0.01),
    in_clusters("local_adaptor clusters", "local_adaptor", epsilon=0.01),
    in_clusters("pf2lora clusters", "pf2lora", rank=2, own_rank=1, inner_rate=0.05),
    in_clusters("per_fedavg_lora clusters", "per_fedavg_lora", rank=2, inner_rate=0.05),
    in_clusters("homlora clusters", "homlora", rank=2),
    in_clusters("hetlora clusters", "hetlora", rank=3, rank_min=1, keep_share=0.7, penalty=0.2),
    in_clusters("flexlora clusters", "flexlora", rank=3, rank_min=1),
    in_clusters("ddome clusters", "ddome", model__hidden=[4], **BEHIND_CLUSTERS),
    in_clusters("ddome clusters renormalised", "ddome", model__hidden=[4],
                options__renormalise=1, options__answer="mixture", **BEHIND_CLUSTERS),
    # Who is never invited asks by the rows that it has answered: its only other row says otherwise.
    in_clusters("ddome clusters held out", "ddome", model__hidden=[4], clients__clients=8,
                clients__held_out=3, clients__clients_per_round=5, data__cluster_rows=1,
                options__chosen=1, **{**BEHIND_CLUSTERS, "options__gate_rate": 0.05}),
    in_clusters("fedmix clusters", "fedmix", model__hidden=[4], options__gate_rate=0.3),
    in_clusters("fedprox clusters", "fedprox", proximal=3),
    in_clusters("scaffold clusters", "scaffold"),
    in_clusters("ensemble_optimal clusters", "ensemble_optimal", components=2),
    *(Case(name, method, settings, on=TEXTS) for name, method, settings in LANGUAGE),
]
CASES += [x.inside() for x in CASES if x.has_both_ways]

# Each method, pace, staleness, rule and optimiser once, several of them in a run where they
# are of different parts: what the gate runs.
QUICK = (
    "fedavg sync", "fedavg adamw shuffled log", "momentum fedbuff", "adam fedbuff",
    "yogi fedbuff", "adagrad fedbuff", "semisync", "fedasync model", "fedasync delta",
    "fedasync default rate", "median", "trimmed mean", "krum", "multi-krum", "clip_norm",
    "fedavg bf16",
    "fedprox sync", "scaffold sync",
    "scaffold fedbuff", "scaffold semisync", "scaffold joins", "per_fedavg sync", "ditto sync",
    "pfedme sync", "fedrep sync", "fedper sync", "ifca sync", "fedem sync", "ensemble sync",
    "ensemble fedasync", "ensemble_optimal", "floral sync", "floral fedasync",
    "floral fedbuff of one", "floral_optimal", "local_adaptor", "pf2lora sync", "per_fedavg_lora",
    "homlora sync", "hetlora sync", "hetlora fedbuff", "local", "local fedbuff", "ditto clusters",
    "ddome sync", "ddome renormalised", "ddome chances", "ddome fedbuff", "fedmix sync",
    "average_ensemble", "ddome clusters", "ddome clusters held out", "comigs sync", "comigs four",
    "comigs many fedbuff", "comigs_2g sync", "comigs_2s sync", "pfedmoe sync", "fedavg_lora",
    "local_lora", "ffa_lora", "fedsa_lora", "pcl", "pretrained", "pf2lora language",
    "pf2lora classifies by own heads", "homlora classifies", "homlora language", "hetlora experts",
    "flexlora language", "fdlora", "centralised_lora",
    "floral mlp inside", "pf2lora sync inside",
)
assert set(QUICK) <= {x.name for x in CASES}

# Methods of which the gate runs none, each with why; tests/tidy holds that it has all the others.
WITHOUT = {
    "common_expert": "nobody trains, so that there is only a first version, as of any model",
}
