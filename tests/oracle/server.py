"""What a server makes of offers: staleness, weights, rules and optimisers, from their publications."""

import math
from dataclasses import dataclass

import numpy as np

from planted import wrong


def example_weight(kind, n):
    if kind == "equal" or wrong("one_for_examples") and kind == "n":
        return 1.0
    if kind == "log":
        return math.sqrt(n) if wrong("root_for_logarithm") else math.log(1 + n)
    return math.sqrt(n) if kind == "sqrt" else float(n)


def discount(config, behind):
    """FedAsync's functions (Xie et al. 2019), and FedBuff's root (Nguyen et al. 2022), which is a
    polynomial one."""
    kind, a = config["pace.staleness.kind"], config["pace.staleness.exponent"]
    if kind == "polynomial":
        return float(max(behind, 1) if wrong("polynomial_without_one") else 1 + behind) ** -a
    if kind == "exponential":
        return math.exp(-a * behind)
    if kind == "hinge":
        slope = config["pace.staleness.slope"]
        over = behind - config["pace.staleness.knee"] - wrong("knee_too_late")
        return 1 / (slope * over + 1) if over > 0 else 1.0
    return 1.0


@dataclass
class Part:
    """What one offer brings to one block."""
    delta: np.ndarray
    base: np.ndarray  # The version that it started from.
    weight: float     # n, what n weighs, or one.
    share: float      # pi, or one.
    lacks: np.ndarray  # Where the client has no values, or nothing.
    behind: int
    discount: float


def parted(config, offer, behind):
    by = discount(config, behind)
    return Part(behind=behind, discount=by**2 if wrong("discount_squared") else by, **offer)


NORM_STEP = 2.0**-27  # Products are whole steps of it where an offer weighs by a norm of up to 1,024.


def off_the_grid(parts):
    """How far a mean may be off where it is small, and so are its weights."""
    return NORM_STEP * math.sqrt(len(parts) * parts[0].delta.size) / sum(x.weight for x in parts) if parts else 0.0


def krum(deltas, bad, keep):
    """Blanchard et al. (2017): the offers whose squared distances to their n - f - 2 nearest add
    up to least."""
    near = max(len(deltas) - bad - (1 if wrong("krum_neighbours") else 2), 1)
    scores = []
    for i, one in enumerate(deltas):
        away = sorted(float(((one - x) ** 2).sum()) for j, x in enumerate(deltas) if j != i)
        scores.append(sum(away[:near]))
    best = np.argsort(scores, kind="stable")[:1 if wrong("multi_krum_keeps_one") else keep]
    return np.mean([deltas[i] for i in best], axis=0)


def robust(config, parts):
    """Rules that ask neither for n nor for pi (Yin et al. 2018, Blanchard et al. 2017)."""
    deltas = [x.discount * x.delta for x in parts]
    rule = config["merge.rule"]
    if rule == "median":
        if wrong("lower_median"):
            return np.sort(deltas, axis=0)[(len(deltas) - 1) // 2]
        return np.median(deltas, axis=0)
    if rule == "trimmed_mean":
        trim = config["merge.trim"] - wrong("trimmed_too_little")
        return np.sort(deltas, axis=0)[trim:len(deltas) - trim].mean(axis=0)
    return krum(deltas, config["merge.bad"], config["merge.keep"])


def alone(config):
    """Whether one offer makes a version, so that its weight would cancel."""
    return (config["pace.mode"] == "fedasync"
            or config["pace.mode"] == "fedbuff" and config["pace.buffer_size"] == 1)


def mean(config, parts, current):
    """Sum of a s d over the sum of a, with a = n pi. Of an offer alone it is pi s d; and where
    models are mixed, its way from the current version is taken, not from where it began."""
    if alone(config):
        (one,) = parts
        delta = one.delta
        if (config["pace.mode"] == "fedasync" and config["pace.async_target"] == "model"
                and not wrong("delta_for_model")):
            delta = one.base + one.delta - current
        return (1 if wrong("share_cancels") else one.share) * one.discount * delta
    if sum(x.weight * x.share for x in parts) == 0:
        return np.zeros_like(current)
    if wrong("discount_renormalised"):
        total = sum(x.weight * x.share * x.discount for x in parts)
    elif wrong("shares_not_normalised"):
        total = sum(x.weight for x in parts)
    else:
        total = sum(x.weight * x.share for x in parts)
    return sum(x.weight * x.share * x.discount * padded(x, current) for x in parts) / total


def mean_of_products(adapter, parts):
    """FlexLoRA: what clients add to the model is averaged, and not their factors."""
    offers, weights = [x.base + x.delta for x in parts], [x.weight for x in parts]
    if wrong("factors_are_averaged"):
        return sum(w * x for w, x in zip(weights, offers)) / sum(weights)
    return adapter.product_mean(offers, weights)


def padded(part, current):
    """What a client lacks counts as zeros: so it draws the version that is there to zero."""
    if part.lacks is None or wrong("lacking_left_out"):
        return part.delta
    return np.where(part.lacks, -current, part.delta)


class Optimiser:
    """FedAvgM (Hsu et al. 2019) and FedOpt (Reddi et al. 2021) of one block: m from the first step
    with 1 - beta1, v from tau^2, no correction for the start, tau outside of the root."""

    def __init__(self, config):
        self.config = config
        self.m = 0.0
        self.v = 0.0 if wrong("moment_from_zero") else config["server.tau"] ** 2

    def rate(self):
        said = self.config["server.server_learning_rate"]
        if said is not None:
            return said
        mixing = self.config["pace.mode"] == "fedasync" and not wrong("mixed_whole")
        return 0.6 if mixing else 1.0

    def step(self, mean_delta):
        """What the version moves by."""
        kind, rate = self.config["server.optimiser"], self.rate()
        beta1, beta2 = self.config["server.beta1"], self.config["server.beta2"]
        if kind == "plain":
            return rate * mean_delta
        before = self.m
        if kind == "momentum":
            self.m = beta1 * self.m + mean_delta
            return rate * (before if wrong("momentum_after") else self.m)
        self.m = beta1 * self.m + (1 - beta1) * mean_delta
        squares = (self.m if wrong("square_of_momentum") else mean_delta) ** 2
        if kind == "adagrad":
            self.v = (beta2 if wrong("adagrad_forgets") else 1) * self.v + squares
        elif kind == "adam" or wrong("yogi_as_adam"):
            self.v = beta2 * self.v + (1 - beta2) * squares
        else:
            self.v = self.v - (1 - beta2) * squares * np.sign(self.v - squares)
        self.steps = getattr(self, "steps", 0) + 1
        m, v = self.m, self.v
        if wrong("bias_corrected"):
            m, v = m / (1 - beta1**self.steps), v / (1 - beta2**self.steps)
        if wrong("root_with_tau"):
            return rate * m / np.sqrt(v + self.config["server.tau"])
        return rate * m / (np.sqrt(v) + self.config["server.tau"])


def sum_over_clients(parts, current, clients, clients_before):
    """SCAFFOLD's c: N c is the sum of all c_i, whatever an offer's staleness, and also when
    clients have joined since."""
    if wrong("control_over_cohort"):
        clients = len(parts)
    if wrong("control_discounted"):
        moved = sum(x.discount * x.delta for x in parts)
    else:
        moved = sum(x.delta for x in parts)
    if wrong("control_keeps_its_scale") or wrong("control_over_cohort"):
        return current + moved / clients
    return (clients_before * current + moved) / clients
