"""One visit of a client, and the procedures whose clients train whole models. Each is written from
its publication: it takes a visit and returns what the client offers, block by block."""

import math
from dataclasses import dataclass, field

import numpy as np

import texts
from draws import Stream, derive_seed
from model import along
from planted import wrong


@dataclass
class Visit:
    task: object  # What a run trains: see task.py.
    client: int   # From 1.
    seed: int
    progress: float
    fetched: dict  # Block: values.
    state: dict    # What the client keeps; a visit may change it.
    shares: dict = field(default_factory=dict)  # Block: what its offer is multiplied by.
    norms: dict = field(default_factory=dict)   # Block: what its offer weighs, if it says so.
    lacks: dict = field(default_factory=dict)   # Block: where the client has no values.
    narrowest: float = math.inf                 # By which a choice might have been another one.
    loose: float = 0.0                          # How far rounding of slopes may have moved it.

    def __getattr__(self, name):
        return getattr(self.task, name)

    @property
    def rows(self):
        return self.task.train[self.client - 1]

    @property
    def examples(self):
        return len(self.rows[0])

    @property
    def fall(self):
        """What the schedule has left of all rates."""
        return self.fall_at(self.progress)

    def fall_at(self, progress):
        how = self.task.config
        kind = how["training.schedule.kind"]
        if kind == "cosine" and not wrong("rate_never_falls"):
            last = how["training.schedule.last"]
            return last + (1 - last) * (1 + math.cos(math.pi * progress)) / 2
        if kind == "exponential" and not wrong("rate_never_falls"):
            return how["training.schedule.last"] ** progress
        if kind == "step":
            falls = how["training.schedule.steps"]
            done = min(falls, math.floor(progress * (falls + 1)))
            return how["training.schedule.factor"] ** done
        return 1.0

    @property
    def rate(self):
        return self.task.config["training.learning_rate"] * self.fall

    def rate_at(self, made):
        """After so many steps of this visit: the schedule may follow all that the client has made."""
        whole = self.task.config.get("training.schedule.own_steps", 0)
        if not whole:
            return self.rate
        steps = self.state.get("own steps", 0) + made + wrong("steps_count_from_one")
        return self.task.config["training.learning_rate"] * self.fall_at(steps / whole)

    @property
    def batch(self):
        return min(self.task.config["training.batch_size"] or self.examples, self.examples)

    @property
    def steps(self):
        epoch = math.ceil(self.examples / self.batch)
        how = self.task.config
        if how.get("printed_schedule") and not self.state:
            return 1  # Averages come after the steps 0, I, 2 I, …
        if how["training.local_steps"]:
            return how["training.local_steps"]
        epochs, draws = how["training.local_epochs"], Stream(derive_seed(self.seed, "straggler"))
        if draws.uniform() < how["training.stragglers"] and not wrong("works_to_the_end"):
            epochs = 1 + draws.below(epochs - 1)
        return epochs * epoch

    def batches(self, seed=None):
        if self.task.streams:
            of = self.task.streams[self.client - 1]
            return texts.batches(self, of.train, self.seed if seed is None else seed)
        x, y = self.rows
        return ((x[rows], y[rows]) for rows in self.places(seed))

    def places(self, seed=None, count=None):
        """Of the client's rows, or of so many. Epoch after epoch, each in an order of its own where there are several batches and the
        configuration says so; the last batch of one may be smaller."""
        count = count or self.examples
        batch = min(self.task.config["training.batch_size"] or count, count)
        order, draws = list(range(count)), Stream(
            derive_seed(self.seed if seed is None else seed, "batches"))
        shuffled = self.task.config["training.shuffle"] and batch < count
        while True:
            if shuffled and not wrong("order_of_the_file"):
                draws.shuffle(order)
            for at in range(0, count, batch):
                yield order[at:at + batch]

    def option(self, name):
        return self.task.config[name]


class Descent:
    """SGD with momentum and weight decay, or AdamW (Loshchilov and Hutter)."""

    def __init__(self, visit, moments=None):
        self.visit, self.how = visit, visit.config
        self.moments = moments if moments is not None else {}

    def step(self, w, gradient, rate):
        decay, kept = self.how["training.weight_decay"], self.moments
        if self.how["training.optimiser"] == "sgd":
            gradient = gradient + decay * w
            kept["v"] = self.how["training.momentum"] * kept.get("v", 0) + gradient
            return w - rate * kept["v"]
        if wrong("decay_in_gradient"):
            gradient = gradient + decay * w
        else:
            w = w - rate * decay * w
        before = dict(kept)
        kept["t"] = kept.get("t", 0) + 1
        kept["m"], kept["v"], step = self.adamw(before, gradient)
        self.note_loose(before, gradient, rate)
        return w - rate * step

    def adamw(self, before, gradient):
        first, second, t = self.how["training.beta1"], self.how["training.beta2"], before.get("t", 0) + 1
        m = first * before.get("m", 0) + (1 - first) * gradient
        v = second * before.get("v", 0) + (1 - second) * gradient**2
        return m, v, m / (1 - first**t) / (np.sqrt(v / (1 - second**t)) + 1e-8)

    def note_loose(self, before, gradient, rate):
        """A slope of nearly nothing makes a step of any length: the largest one's last bit says how long."""
        bit = np.max(abs(gradient), initial=0.0) * np.finfo(np.float32).eps
        ends = [self.adamw(before, gradient + by)[2] for by in (-bit, bit)]
        self.visit.loose += rate * float(np.linalg.norm(ends[1] - ends[0])) / 2


def descend(visit, w, batches=None, steps=None, term=lambda w: 0, part=slice(None)):
    """Local steps from w, along the gradient and a term, of a part of the model."""
    by, w = Descent(visit), w.copy()
    batches = batches or visit.batches()
    for _ in range(visit.steps if steps is None else steps):
        gradient = visit.model.gradient(w, next(batches)) + term(w)
        w[part] = by.step(w[part], gradient[part], visit.rate)
    return w


def averaged(visit):
    """FedAvg (McMahan et al. 2017)."""
    start = visit.fetched["model"]
    return {"model": descend(visit, start) - start}


def proximal(visit):
    """FedProx (Li et al. 2020): g + mu (w - w_t)."""
    start, mu = visit.fetched["model"], visit.option("proximal")
    anchor = 0 if wrong("proximal_to_zero") else start
    sign = -1 if wrong("proximal_sign") else 1
    return {"model": descend(visit, start, term=lambda w: sign * mu * (w - anchor)) - start}


def controlled(visit):
    """SCAFFOLD (Karimireddy et al. 2020), option II."""
    x, c = visit.fetched["model"], visit.fetched["control"]
    own = visit.state.get("own_control", np.zeros_like(x))
    towards = own - c if wrong("control_sign") else c - own
    y = descend(visit, x, term=lambda w: towards)
    steps = 1 if wrong("control_without_steps") else visit.steps
    new = own - c + (x - y) / (steps * visit.rate)
    visit.state["own_control"] = new
    return {"model": y - x, "control": new - own}


def alone(visit):
    """Everybody trains a model of its own, from where all begin."""
    start = visit.state.get("own_model", visit.fetched["model"])
    if wrong("trains_what_is_shared"):
        start = visit.fetched["model"]
    visit.state["own_model"] = descend(visit, start)
    return {}


def two_stage(visit):
    """Ditto (Li et al. 2021): over the same batches, v follows g(v) + lambda (v - w_t)."""
    start, held = visit.fetched["model"], visit.option("lambda")
    w, v = start.copy(), visit.state.get("own_model", start).copy()
    batches, of_w, of_v = visit.batches(), Descent(visit), Descent(visit)
    for _ in range(visit.steps):
        rows = next(batches)
        w = of_w.step(w, visit.model.gradient(w, rows), visit.rate)
        anchor = w if wrong("held_to_moving_model") else start
        v = of_v.step(v, visit.model.gradient(v, rows) + held * (v - anchor), visit.rate)
    visit.state["own_model"] = v
    return {"model": w - start}


def envelope(visit):
    """pFedMe (Dinh et al. 2020): theta solves f + lambda/2 |theta - w|^2 on each batch by K steps,
    from where it was; then w moves by eta lambda (w - theta)."""
    start, held = visit.fetched["model"], visit.option("lambda")
    w, theta = start.copy(), visit.state.get("own_model", start).copy()
    batches = visit.batches()
    for _ in range(visit.steps):
        rows = next(batches)
        if wrong("envelope_from_model"):
            theta = w.copy()
        for _ in range(int(visit.option("inner_steps"))):
            slope = visit.model.gradient(theta, rows) + held * (theta - w)
            theta = theta - visit.option("inner_rate") * slope
        w = w - visit.rate * (1 if wrong("envelope_rate") else held) * (w - theta)
    visit.state["own_model"] = theta
    return {"model": w - start}


def adapted(visit, w, rows):
    """Per-FedAvg's model of a client: one step away."""
    return w - visit.option("inner_rate") * visit.model.gradient(w, rows)


def meta(visit):
    """Per-FedAvg (Fallah et al. 2020): the gradient after an inner step on one batch, on the next
    one; with `difference` also through that step, on a third."""
    start = visit.fetched["model"]
    w, batches = start.copy(), visit.batches()
    for _ in range(visit.steps):
        first, second = next(batches), next(batches)
        there = w if wrong("inner_step_missing") else adapted(visit, w, first)
        slope = visit.model.gradient(there, second)
        if visit.option("difference") > 0:
            third = next(batches)
            if not wrong("curvature_left_out"):
                slope = slope - visit.option("inner_rate") * along(
                    lambda p, rows=third: visit.model.gradient(p, rows), w, slope)
        w = w - visit.rate * slope
    return {"model": w - start}


def joined(visit):
    """The shared body under the client's own head, which is drawn at its first visit."""
    fresh = visit.model.initial(derive_seed(visit.seed, "head"))[visit.model.head_at:]
    return np.concatenate([visit.fetched["body"], visit.state.get("head", fresh)])


def split(visit):
    """FedRep (Collins et al. 2021): the head learns first, `head_passes` times as long as then the
    body. FedPer (Arivazhagan et al. 2019): both learn together."""
    at, w = visit.model.head_at, joined(visit)
    passes = int(visit.option("head_passes"))
    phases = [(slice(at, None), passes * visit.steps), (slice(0, at), visit.steps)]
    if passes == 0:
        phases = [(slice(None), visit.steps)]
        if wrong("head_alone"):
            phases = [(slice(at, None), visit.steps), (slice(0, at), visit.steps)]
    if wrong("body_first"):
        phases.reverse()
    for part, steps in phases:
        w = descend(visit, w, steps=steps, part=part)
    visit.state["head"] = w[at:]
    return {"body": w[:at] - visit.fetched["body"]}
