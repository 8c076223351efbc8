"""Procedures of clients that have a part in several models or adapters."""

import numpy as np

from draws import Stream, derive_seed
from planted import wrong
from visit import descend


def softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def family(visit, name):
    """The values of all instances, as they were fetched."""
    return [visit.fetched[f"{name}.{c}"] for c in range(int(visit.option("components")))]


def shares_of(visit):
    """A client's shares: the softmax of logits of its own, which begin at zero."""
    return softmax(visit.state.get("mixture", np.zeros(int(visit.option("components")))))


def tied_to(visit):
    """The instance of a client whose cluster is known."""
    return (visit.client - 1 + wrong("neighbour_tied")) % int(visit.option("components"))


def offered(visit, name, trained, shares, own=None):
    """The differences from what was fetched, of one instance or of all."""
    offers = {}
    for c, (new, old) in enumerate(zip(trained, family(visit, name))):
        if own is None or c == own:
            offers[f"{name}.{c}"] = new - old
            visit.shares[f"{name}.{c}"] = shares[c]
    return offers


def logits_gradient(shares, gains):
    """Of a mixture: pi_c (q_c - sum of pi q)."""
    return shares * (gains - (0 if wrong("router_not_centred") else shares @ gains))


def rate_or(visit, name):
    """A rate of its own, or the learning rate; both follow the schedule."""
    return visit.option(name) * visit.fall or visit.rate


def mixed_weights(visit, base, adapters, shares):
    return base + sum(s * visit.adapter.change(a) for s, a in zip(shares, adapters))


def mixed_step(visit, base, adapters, shares, rows):
    """One gradient of the mixed model, and the adapters after their step along it."""
    slope = visit.model.gradient(mixed_weights(visit, base, adapters, shares), rows)
    gains = np.array([slope @ visit.adapter.change(a) for a in adapters])
    moved = []
    for share, a in zip(shares, adapters):
        gradient = share * visit.adapter.pull_back(a, slope)
        if not wrong("not_preconditioned"):
            gradient = visit.adapter.preconditioned(a, gradient, visit.option("epsilon"))
        moved.append(a - rate_or(visit, "adapter_rate") * gradient)
    return slope, gains, moved


class Router:
    """A client's logits, with what the authors' program adds: noise below `router_noise` while it
    trains, and a floor below which no adapter counts, of which there is no slope."""

    def __init__(self, visit, count):
        self.visit = visit
        self.logits = visit.state.get("mixture", np.zeros(count))
        self.noise = Stream(derive_seed(visit.seed, "router noise"))

    def shares(self):
        """Those of the softmax, and what adapters count with."""
        most = self.visit.option("router_noise")
        noise = [most * self.noise.uniform() for _ in self.logits] if most else 0
        pi = softmax(self.logits + noise)
        return pi, np.maximum(pi, self.visit.option("share_floor"))

    def step(self, pi, gains, rate):
        gains = np.where(pi < self.visit.option("share_floor"), 0, gains)
        self.logits = self.logits - rate * logits_gradient(pi, gains)

    def warm_up(self, base, adapters, rows):
        """A router that is not kept learns alone first."""
        rate = (self.visit.option("warm_rate") or self.visit.option("router_rate")
                or self.visit.config["training.learning_rate"])  # Without the schedule.
        for _ in range(int(self.visit.option("warm_passes")) * self.visit.steps):
            pi = softmax(self.logits)
            slope, gains, _ = mixed_step(self.visit, base, adapters, pi, rows)
            self.step(pi, gains, rate)


def mixed(visit, own=None):
    """FLoRAL, algorithm 1: base, adapters and router from one gradient, at one point."""
    base, adapters = visit.fetched["model"].copy(), family(visit, "adapter")
    if visit.option("stateless"):
        visit.state.pop("mixture", None)
    router = Router(visit, len(adapters))
    before = softmax(router.logits)
    router.warm_up(base, adapters, visit.rows)
    batches = visit.batches()
    for _ in range(visit.steps):
        pi, counted = router.shares()
        if own is not None:
            pi = counted = np.eye(len(adapters))[own]
        slope, gains, adapters = mixed_step(visit, base, adapters, counted, next(batches))
        base = base - visit.rate * slope
        router.step(pi, gains, rate_or(visit, "router_rate"))
    shares, logits = np.eye(len(adapters))[own or 0], router.logits
    if own is None:
        visit.state["mixture"] = logits
        shares = before if wrong("shares_before_training") else softmax(logits)
    return {"model": base - visit.fetched["model"],
            **offered(visit, "adapter", adapters, shares, own)}


def mixed_tied(visit):
    return mixed(visit, tied_to(visit))


def own_adapter(visit):
    return visit.state.get("own_adapter", visit.adapter.initial(
        derive_seed(visit.seed, "own adapter"), 6**0.5))


def with_own_adapter(visit):
    """FLoRAL's baseline: the base is shared, and one adapter stays with its client."""
    base, adapter = visit.fetched["model"].copy(), own_adapter(visit)
    if wrong("adapter_not_kept"):
        visit.state.pop("own_adapter", None)
        adapter = own_adapter(visit)
    batches = visit.batches()
    for _ in range(visit.steps):
        slope, _, (adapter,) = mixed_step(visit, base, [adapter], [1.0], next(batches))
        base = base - visit.rate * slope
    visit.state["own_adapter"] = adapter
    return {"model": base - visit.fetched["model"]}


def ensemble(visit, own=None):
    """Whole models in the place of adapters: their outputs are mixed."""
    models = family(visit, "model")
    logits = visit.state.get("mixture", np.zeros(len(models)))
    batches = visit.batches()
    for _ in range(visit.steps):
        rows = next(batches)
        shares = softmax(logits) if own is None else np.eye(len(models))[own]
        outputs = [visit.model.outputs(w, rows[0]) for w in models]
        together = sum(s * o for s, o in zip(shares, outputs))
        slopes = visit.model.judge(together, rows[1])[1] / len(rows[0])
        gains = np.array([(slopes * o).sum() for o in outputs])
        by_model = [slopes] * len(models)
        if wrong("losses_mixed"):
            judged = [visit.model.judge(o, rows[1]) for o in outputs]
            by_model = [x[1] / len(rows[0]) for x in judged]
            gains = np.array([x[0].mean() for x in judged])
        models = [w - visit.rate * s * visit.model.pull_back(w, rows[0], slope)
                  for w, s, slope in zip(models, shares, by_model)]
        if own is None:
            logits = logits - rate_or(visit, "router_rate") * logits_gradient(shares, gains)
    if own is None:
        visit.state["mixture"] = logits
        shares = softmax(logits)
    return offered(visit, "model", models, shares, own)


def ensemble_tied(visit):
    return ensemble(visit, tied_to(visit))


def best_of(visit):
    """IFCA's choice: the model of least loss on what the client trains on."""
    losses = [visit.model.losses(w, visit.rows).mean() for w in family(visit, "model")]
    return int(np.argmax(losses) if wrong("most_loss") else np.argmin(losses))


def chosen(visit):
    """IFCA (Ghosh et al. 2020): that model is trained and offered."""
    name = f"model.{best_of(visit)}"
    return {name: descend(visit, visit.fetched[name]) - visit.fetched[name]}


def expectation(visit):
    """FedEM (Marfoq et al. 2021): an example belongs to model c by pi_c exp(-loss); the new pi is
    the mean of that; then each model is trained on examples that count so much."""
    models, rows = family(visit, "model"), visit.rows
    prior = visit.state.get("mixture", np.full(len(models), 1 / len(models)))
    losses = np.array([visit.model.losses(w, rows) for w in models])
    logits = -losses + (0 if wrong("prior_left_out") else np.log(prior)[:, None])
    belongs = np.exp(logits - logits.max(axis=0))
    belongs /= belongs.sum(axis=0)
    if not wrong("mixture_kept"):
        visit.state["mixture"] = belongs.mean(axis=1)
    offers = {}
    for c, start in enumerate(models):
        w, places = start.copy(), visit.places()
        for _ in range(visit.steps):
            at = next(places)
            w = w - visit.rate * visit.model.gradient(w, (rows[0][at], rows[1][at]),
                                                      belongs[c][at])
        offers[f"model.{c}"] = w - start
    return offers
