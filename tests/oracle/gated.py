"""A gate, and experts behind it (DDOME, and FedMix as DDOME's paper has it): what goes into the last
layer of a common model that nobody trains is what the gate sees of a row."""

import numpy as np

import by_hand
from draws import derive_seed
from mixtures import softmax
from planted import wrong
from visit import Descent, descend


class Gate:
    """A layer with ReLU and a linear one, with a logit for each expert."""

    def __init__(self, inputs, hidden, experts):
        self.shapes = ((hidden, inputs), (hidden,), (experts, hidden), (experts,))

    def parts(self, g):
        at, parts = 0, []
        for shape in self.shapes:
            size = int(np.prod(shape))
            parts.append(g[at:at + size].reshape(shape))
            at += size
        return parts

    def logits(self, g, h):
        first, first_bias, last, last_bias = self.parts(g)
        return np.maximum(h @ first.T + first_bias, 0) @ last.T + last_bias

    def pull_back(self, g, h, slopes):
        """The gradient where the logits of each row have these slopes."""
        first, first_bias, last, _ = self.parts(g)
        hidden = np.maximum(h @ first.T + first_bias, 0)
        below = (slopes @ last) * (hidden > 0)
        return np.concatenate([x.ravel() for x in (
            below.T @ h, below.sum(axis=0), slopes.T @ hidden, slopes.sum(axis=0))])


def embedded(visit, x):
    """What goes into the last layer of the common model."""
    model = visit.common_model
    inputs, _ = model.run(visit.common, x)
    if wrong("embedded_before_relu"):
        layer = model.layers[-2]
        return inputs[-2] @ model.weight(visit.common, layer).T + model.bias(visit.common, layer)
    return inputs[-1]


def chances(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class Learning:
    """The gate of one visit: plain descent at a rate of its own, which no schedule rules."""

    def __init__(self, visit):
        self.visit, self.values = visit, visit.fetched["gate"].copy()
        self.by = Descent(visit)
        still = visit.option("options.disjoint") and visit.progress < 0.5
        self.rate = 0 if still and not wrong("gate_never_waits") else (
            visit.option("options.gate_rate"))

    def step(self, h, slopes):
        gradient = self.visit.gate.pull_back(self.values, h, slopes / len(h))
        if wrong("gate_has_momentum"):
            self.values = self.by.step(self.values, gradient, self.rate)
            return
        fall = self.visit.fall if wrong("gate_follows_schedule") else 1
        self.values = self.values - self.rate * fall * gradient


def experts_wait(visit):
    """Disjoint training: first the experts, then the gate."""
    late = visit.progress >= 0.5 and not wrong("experts_never_wait")
    return visit.option("options.disjoint") and late


def offered(visit, learning, start, now):
    offers = {"gate": learning.values - visit.fetched["gate"]}
    if not experts_wait(visit):
        offers |= {f"model.{i}": new - start[i] for i, new in now.items()}
    return offers


def apart(visit):
    """An anchor: its expert learns its rows, and the gate that all of them are this expert's."""
    (own,) = by_hand.fetched_by(visit)
    owner = own
    if wrong("neighbour_owns"):
        owner = (own + 1) % int(visit.option("options.experts"))
    start = {own: visit.fetched[f"model.{own}"]}
    learning, now, by = Learning(visit), start[own].copy(), Descent(visit)
    batches = visit.batches()
    for _ in range(visit.steps):
        x, y = next(batches)
        h = embedded(visit, x)
        p = chances(visit.gate.logits(learning.values, h))
        slopes = p.copy()
        slopes[:, owner] -= 1
        if wrong("softmax_twice"):
            slopes = chances(p)
            slopes[:, owner] -= 1
            slopes = p * (slopes - (p * slopes).sum(axis=1, keepdims=True))
        if not wrong("anchors_teach_nothing"):
            learning.step(h, slopes)
        if not experts_wait(visit):
            now = by.step(now, visit.model.gradient(now, (x, y)), visit.rate)
    return offered(visit, learning, start, {own: now})


def weights_of(visit, logits, asked):
    """What each of those asked for weighs, by row: of a softmax over all, or over these."""
    if visit.option("options.renormalise") or wrong("always_renormalised"):
        return chances(logits[:, asked])
    return chances(logits)[:, asked]


def slopes_of_logits(visit, logits, asked, along):
    """Slopes along the weights, to slopes along all logits of the gate."""
    slopes = np.zeros_like(logits)
    if visit.option("options.renormalise") and not wrong("others_are_pulled"):
        p = chances(logits[:, asked])
        slopes[:, asked] = p * (along - (p * along).sum(axis=1, keepdims=True))
        return slopes
    p = chances(logits)
    slopes[:, asked] = p[:, asked] * along
    return slopes - p * slopes.sum(axis=1, keepdims=True)


def of_logits(visit, said, weights, y):
    """One cross-entropy of the mixed logits: slopes along what each says, and along its weight."""
    together = sum(weights[:, [i]] * said[i] for i in range(len(said)))
    slopes = visit.model.judge(together, y)[1]
    each = [weights[:, [i]] * slopes for i in range(len(said))]
    if wrong("judged_alone"):
        each = [weights[:, [i]] * visit.model.judge(x, y)[1] for i, x in enumerate(said)]
    return each, np.stack([(slopes * x).sum(axis=1) for x in said], axis=1)


def of_chances(visit, said, weights, y):
    """-log of the sum of w_i p_i(y), where that is at least 1e-9."""
    judged = [visit.model.judge(x, y) for x in said]
    of_label = np.stack([np.exp(-x[0]) for x in judged], axis=1)
    total = (weights * of_label).sum(axis=1, keepdims=True)
    counts = total >= 1e-9
    belongs = np.where(counts, weights * of_label / total, 0)
    along = np.where(counts, -of_label / total, 0)
    return [belongs[:, [i]] * x[1] for i, x in enumerate(judged)], along


def moments_of(visit, expert):
    """None: they begin anew in each visit."""
    return visit.state.setdefault(expert, {}) if wrong("momentum_outlives_a_visit") else None


def joint(visit):
    """A common client: one loss of what the gate makes of the experts that it asked for, and one
    gradient of it."""
    asked = by_hand.fetched_by(visit)
    start = {i: visit.fetched[f"model.{i}"] for i in asked}
    now, by = dict(start), {i: Descent(visit, moments_of(visit, i)) for i in asked}
    learning = Learning(visit)
    mixes = of_logits
    if visit.option("options.mix") == "probabilities" and not wrong("chances_as_logits"):
        mixes = of_chances
    batches = visit.batches()
    for _ in range(visit.steps):
        x, y = next(batches)
        h = embedded(visit, x)
        logits = visit.gate.logits(learning.values, h)
        said = [visit.model.outputs(now[i], x) for i in asked]
        each, along = mixes(visit, said, weights_of(visit, logits, asked), y)
        if wrong("experts_learn_after_the_gate"):
            learning.step(h, slopes_of_logits(visit, logits, asked, along))
            stepped = visit.gate.logits(learning.values, h)
            each, _ = mixes(visit, said, weights_of(visit, stepped, asked), y)
        if not experts_wait(visit):
            now = {i: by[i].step(now[i], visit.model.pull_back(now[i], x, slopes / len(x)),
                                 visit.rate)
                   for i, slopes in zip(asked, each)}
        if not wrong("gate_learns_of_anchors_alone") and not wrong("experts_learn_after_the_gate"):
            learning.step(h, slopes_of_logits(visit, logits, asked, along))
    return offered(visit, learning, start, now)


def ddome(visit):
    anchor = visit.client <= visit.option("options.anchors")
    return apart(visit) if anchor and not wrong("anchors_are_common") else joint(visit)


def each(visit):
    """An average ensemble: models that know nothing of each other."""
    offers = {}
    for i in by_hand.fetched_by(visit):
        start = visit.fetched[f"model.{i}"]
        batches = visit.batches(derive_seed(visit.seed, "model", i))
        offers[f"model.{i}"] = descend(visit, start, batches) - start
    return offers


def mean_gate(visit, gate, x):
    """Of a client's rows, the sum of what each gives each expert."""
    return sum(softmax(row) for row in visit.gate.logits(gate, embedded(visit, x)))


def at_home(visit, x, method):
    """What a client answers of rows: each by the one expert of largest score among those that it asks
    for, or by what the gate makes of them all."""
    asked = by_hand.fetched_by(visit)
    if method == "ddome":
        asked = sorted(by_hand.best_of(visit, by_hand.rows_of(visit, x)))
    logits = visit.gate.logits(visit.fetched["gate"], embedded(visit, x))
    said = [visit.model.outputs(visit.fetched[f"model.{i}"], x) for i in asked]
    weights = weights_of(visit, logits, asked)
    if visit.option("options.answer") == "expert" and not wrong("answers_are_mixed"):
        weights = np.eye(len(asked))[logits[:, asked].argmax(axis=1)]
    return sum(weights[:, [i]] * said[i] for i in range(len(asked)))
