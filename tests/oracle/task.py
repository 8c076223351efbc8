"""What runs train on: rows that the oracle writes itself as CSV, FLoRAL's linear clusters, whose rows
the executable draws, and texts of users, over a small language model."""

from dataclasses import dataclass

import numpy as np

import classified
import routed
import texts
from adapters import Adapter
from draws import Stream, derive_seed, single
from gated import Gate
from halves import outer_places
from llama import Llama
from lora import random_gain
from methods import METHODS, OVER_A_FROZEN_MODEL, instances
from model import Model
from planted import wrong
from transformer import Transformer

SHAPE = "oracle.shape"  # Of a model that the oracle writes; it is no key of a configuration.
SIZES = (5, 8, 12, 20, 6, 15)  # Of the clients; labels and inputs differ between them.
FEATURES, CLASSES = 4, 3


@dataclass
class Task:
    config: dict
    model: Model
    train: list  # Of each client, inputs and what they should give.
    test: list = ()
    adapter: Adapter = None
    own_adapter: Adapter = None
    frozen: np.ndarray = None
    common_model: Model = None
    common: np.ndarray = None  # What nobody trains, below a gate.
    gate: Gate = None
    streams: list = ()         # Of each user, its tokens.
    attention: Adapter = None  # What stands beside attention, and what one expert is.
    experts: Adapter = None


def table(seed):
    """Per client, its inputs and labels; clients pull towards different answers."""
    random = Stream(derive_seed(seed, "oracle"))
    clients = []
    for k, count in enumerate(SIZES):
        truth = random.normals(CLASSES * FEATURES).reshape(CLASSES, FEATURES)
        x = random.normals(count * FEATURES).reshape(count, FEATURES).round(3) + 0.3 * k
        y = (x @ truth.T + random.normals(count * CLASSES).reshape(count, CLASSES)).argmax(axis=1)
        clients.append((x, y))
    return clients


def write_table(path, seed):
    with open(path, "w", encoding="utf-8") as to:
        to.write(",".join(f"x{i}" for i in range(FEATURES)) + ",who,label\n")
        for k, (x, y) in enumerate(table(seed)):
            for inputs, label in zip(x, y):
                to.write(",".join(f"{v:.3f}" for v in inputs) + f",{k + 1},{label}\n")


def clusters(seed, clients, groups, rows, tests):
    """FLoRAL's linear task: y = the first 3 of W_c x + b, W_c = W + 2 u_c v_c^T."""
    random, deviation = Stream(derive_seed(seed, "clusters.truth")), 10**-0.5
    weights = random.normals(100, deviation).reshape(10, 10)
    bias = random.normals(10, deviation)
    truths = []
    for _ in range(groups):
        u, v = random.normals(10, deviation), random.normals(10)
        truths.append(weights + 2 * np.outer(u, v))
    train, test = [], []
    for k in range(clients):
        random = Stream(derive_seed(seed, "clusters.rows", k))
        for to, count in ((train, rows), (test, tests)):
            x = random.normals(count * 10).reshape(count, 10)
            to.append((single(x), single((x @ truths[k % groups].T + bias)[:, :3])))
    return train, test


def scale_of(config, rank):
    return config.get("options.alpha", 0) / rank**(
        0.5 if config.get("alpha_over") == "root" else 1) or 1.0


def model_of(config):
    shape = Llama if config.get(SHAPE) == "llama" else Transformer
    if config.get("data.task") == "classify":
        shape = classified.Classifier
    return shape(config["data.context"], "model.layers" in config)


def language(method, config):
    """Nobody trains the model; the weights are those that the oracle wrote, or the seed's."""
    classifies = config.get("data.task") == "classify"
    streams = classified.rows_of(config) if classifies else [
        texts.streams_of(config, user) for user in texts.DOCUMENTS]
    is_made, tests = "model.layers" in config, [x.all_rows(x.test) for x in streams]
    if config.get("data.pooled"):
        streams = [texts.joined(streams)]
    task = Task(config, model_of(config),
                [x.all_rows(x.train) for x in streams], tests, streams=streams)
    seed = config["seed"]
    task.frozen = task.model.initial(derive_seed(seed, "initial") if is_made else seed)
    size = {"rank": config["rank"]}
    attention = task.model.named(*task.model.attention)
    blocks = task.model.named(*task.model.blocks)
    if method in routed.CAST:
        task.attention = Adapter(task.model, size, False, attention)
        task.experts = Adapter(task.model, size, False, blocks)
        return task
    layers = None  # What makes queries and values.
    if config.get("plain_attention"):
        layers = blocks
        rank = config["attention_rank"]
        task.attention = Adapter(task.model, {"rank": rank}, False, attention, scale_of(config, rank))
    elif config.get("adapted") == "blocks":
        layers = task.model.named(*task.model.attention, *task.model.blocks)
        size["other"] = dict.fromkeys(attention, config["attention_rank"])
    scale = scale_of(config, config["rank"])
    # A head is learned whole, by all or by each for itself.
    head, own_head = (task.model.head if classifies else []), []
    if config.get("options.head") == "private":
        head, own_head = [], head
    task.adapter = Adapter(task.model, size, False, layers, scale, head)
    if "own_rank" in config:  # It counts what the common one does.
        if wrong("own_adapter_counts_by_its_own_rank"):
            scale *= config["rank"] / config["own_rank"]
        task.own_adapter = Adapter(task.model, {"rank": config["own_rank"]}, False, layers, scale,
                                   own_head)
    elif own_head:
        task.own_adapter = Adapter(task.model, {}, False, [], whole=own_head)
    return task


def task_of(method, config):
    if config["data.kind"] == "language":
        return language(method, config)
    if config["data.kind"] == "csv":
        train, test = [(single(x), y) for x, y in table(config["seed"])], []
        widths, labels = [FEATURES, *config.get("model.hidden", []), CLASSES], True
    else:
        train, test = clusters(derive_seed(config["seed"], "data"), config["clients.clients"],
                               config["data.clusters"], config["data.cluster_rows"] or 7, 500)
        widths, labels = [10, *config.get("model.hidden", []), 3], False
    task = Task(config, Model(widths, labels), train, test)
    size = {x: config[x] for x in ("rank", "budget") if x in config}
    if size:
        frozen = method in OVER_A_FROZEN_MODEL
        task.adapter = Adapter(task.model, size, biased=not frozen)
        if frozen:
            task.frozen = task.model.initial(derive_seed(config["seed"], "initial"))
    if "options.gate_rate" in METHODS[method].options:
        add_gate(task, method, config, widths)
    if "own_rank" in config:
        task.own_adapter = Adapter(task.model, {"rank": config["own_rank"]}, biased=False)
    return task


def add_gate(task, method, config, widths):
    """The common model is as the experts where nothing else is said, and the gate over it as wide as
    what goes into its last layer."""
    if "common_model.kind" in config:
        widths = [widths[0], *config.get("common_model.hidden", []), widths[-1]]
    task.common_model = Model(widths, task.model.labels)
    task.common = task.common_model.initial(
        derive_seed(derive_seed(config["seed"], "initial"), "common"))
    seen = task.common_model.layers[-1][1]
    task.gate = Gate(seen, config["options.gate_width"] or seen,
                     instances(METHODS[method], config))


def initial_gate(gate, seed):
    """Each layer is uniform within one over the root of its inputs."""
    parts = []
    for i, shape in enumerate(gate.shapes):
        columns = gate.shapes[i - i % 2][1]
        draws = Stream(derive_seed(seed, "initial parameters", i))
        parts.append(draws.around_zero(int(np.prod(shape)), columns**-0.5))
    return np.concatenate(parts)


def first_values(task, method, block):
    """A block's values in version 0."""
    seed = derive_seed(task.config["seed"], "initial")
    family, _, instance = block.partition(".")
    place = int(instance or 0)
    if family == "gate":
        return initial_gate(task.gate, derive_seed(seed, "gate"))
    if family == "model" and task.config.get("options.from_common"):
        return task.common
    if family in ("generalist", "attention"):
        adapter = task.experts if family == "generalist" else task.attention
        return adapter.initial(derive_seed(seed, family, place), 1.0)
    if family in ("inner_factors", "outer_factors", "model_of"):
        whole = task.adapter.initial(derive_seed(seed, "adapter"), 1.0)
        outer = outer_places(task.adapter)
        return whole if family == "model_of" else whole[
            outer if family == "outer_factors" else ~outer]
    if family == "control":
        return np.zeros(task.model.size)
    if family == "adapter":
        wide = METHODS[method].several == "adapter"
        return task.adapter.initial(derive_seed(seed, "adapter", place),
                                    6**0.5 if wide else random_gain())
    first = task.model.initial(derive_seed(seed, "model", place) if place else seed)
    return first[:task.model.head_at] if family == "body" else first
