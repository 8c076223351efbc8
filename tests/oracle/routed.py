"""CoMiGS (comigs.md, 2.2), and what it is compared with: each feed-forward block is several experts of
low rank, of which the first are everybody's and the others a client's own."""

import math

import numpy as np

import texts
from draws import Stream, derive_seed, single
from planted import wrong
from tape import Node, slopes
from transformer import LAYERS, WIDTH, Beside, Expert
from visit import Descent

# Who is how: generalists among a block's experts, and whether a router chooses.
CAST = {"comigs": (1, True), "comigs_2g": (2, True), "comigs_2s": (0, True), "pfedmoe": (1, True),
        "fedavg_lora": (2, False), "local_lora": (0, False), "centralised_lora": (0, False)}
ALONE = ("comigs_2s", "local_lora", "centralised_lora")


def method_of(visit):
    return visit.option("method")


def experts_of(visit):
    """Of this client's blocks, generalists included."""
    said = visit.config.get("training.experts", ())
    if not said or method_of(visit) == "comigs_2g" or not CAST[method_of(visit)][1]:
        return 2
    return said[(visit.client - 1) % len(said)]


def names_of(visit):
    """Of a client's groups of factors, its experts in order."""
    shared, has_router = CAST[method_of(visit)]
    count = experts_of(visit)
    experts = [f"generalist.{j}" if shared > 1 else "generalist" for j in range(min(shared, count))]
    experts += [f"specialist.{j}" for j in range(count - shared)]
    return experts, ["attention", *experts, *(["router"] if has_router and count > 1 else [])]


def offered(visit):
    """What all share, and is merged."""
    if method_of(visit) in ALONE:
        return []
    return [x for x in names_of(visit)[1] if x in visit.fetched]


def first(visit, name):
    """What is a client's own begins by its first visit's seed; but where nothing is merged all begin the
    same."""
    if name in visit.fetched:
        return visit.fetched[name]
    alone = method_of(visit) in ALONE and not wrong("all_begin_apart")
    seed = derive_seed(derive_seed(visit.option("seed"), "initial") if alone else visit.seed, name)
    if name == "router":
        wide = 0.2 if wrong("wide_routers") else 0.02
        return single(Stream(seed).normals(size_of_routers(visit), wide))
    return (visit.attention if name == "attention" else visit.experts).initial(seed, 1.0)


def begun(visit):
    kept, shared = visit.state.get("groups", {}), offered(visit)
    if wrong("generalist_stays"):
        shared = [x for x in shared if x not in kept]
    return {name: visit.fetched[name] if name in shared else kept.get(name, first(visit, name))
            for name in names_of(visit)[1]}


def scale_of(visit):
    """Rank-stabilised: alpha over the root of the rank."""
    rank, alpha = visit.option("rank"), visit.option("options.alpha")
    return alpha / (rank if wrong("alpha_over_rank") else math.sqrt(rank)) if alpha else 1.0


def expert(visit, adapter, values):
    """Its factors beside the products of their layers."""
    terms = {}
    for part in adapter.parts:
        (rows, columns, _, _), rank, u, v, end = part
        terms[visit.model.name_at(part[0])] = (values[u:u + rank * rows].reshape(rank, rows),
                                               values[v:end].reshape(rank, columns))
    return Expert(terms, scale_of(visit))


def beside(visit, groups):
    """All of a client's, from nodes of their values."""
    experts, _ = names_of(visit)
    found = Beside(attention=expert(visit, visit.attention, groups["attention"]),
                   experts=[expert(visit, visit.experts, groups[x]) for x in experts],
                   printed=visit.config.get("balance_scale") == "printed",
                   favoured=visit.config.get("favoured", 0.5))
    if "router" in groups:
        found.routers = routers(visit, groups["router"])
    return found


def is_noisy(visit):
    return visit.config.get("options.gate") == "noisy"


def size_of_routers(visit):
    count = experts_of(visit)
    return LAYERS * count * (WIDTH + (count if is_noisy(visit) else 0))


def routers(visit, values):
    """Of each layer; of noisy gates two."""
    count, size = experts_of(visit), size_of_routers(visit) // LAYERS
    found = []
    for at in range(0, LAYERS * size, size):
        inner = values[at:at + count * WIDTH].reshape(count, WIDTH)
        found.append((inner, values[at + count * WIDTH:at + size].reshape(count, count))
                     if is_noisy(visit) else inner)
    return found


def with_draws(rows, seed):
    """Batches with what is drawn in each."""
    return ((x, derive_seed(seed, "operators", i)) for i, x in enumerate(rows))


def passes(rows, most):
    """Rows that have a balance together, their part of the targets, and which of them is the first: all, however many go
    forward at once."""
    ids, targets = rows
    most = most if most and wrong("pass_by_pass") else len(ids)
    for at in range(0, len(ids), most):
        some = ids[at:at + most], targets[at:at + most]
        yield some, len(some[0]) / len(ids), at


def gradient(visit, groups, batch):
    """Of the loss with its balance of loads, which is that of the batch."""
    balance = 0.0 if wrong("balance_left_out") else visit.config.get("balance", 0.0)
    of, found = visit.model.nodes(visit.frozen), {name: 0.0 for name in groups}
    rows, seed = batch
    for some, share, first_row in passes(rows, visit.config.get("training.micro_batch", 0)):
        leaves = {name: Node(values) for name, values in groups.items()}
        experts = beside(visit, leaves)
        experts.seed, experts.first_row = seed, first_row
        loss = visit.model.loss(of, some, experts, balance) * share
        visit.narrowest = min(visit.narrowest, experts.narrowest)
        for name, slope in zip(groups, slopes(loss, list(leaves.values()))):
            found[name] = found[name] + slope
    return found


class Phase:
    """Groups that learn together, with moments that outlive a visit, and gradients that the other
    phase may leave behind."""

    def __init__(self, visit, key, names):
        self.names, self.state, self.key = names, visit.state, key
        if wrong("moments_of_experts_begin_anew") and key == "experts" or (
                wrong("moments_of_routers_begin_anew") and key == "routers"):
            visit.state.pop(key, None)
        self.moments = {**visit.state.get(key, {})}
        self.left = visit.state.get(key + " left", 0.0)
        self.by = Descent(visit, self.moments)

    def joined(self, groups):
        return np.concatenate([groups[x] for x in self.names])

    def step(self, groups, slopes_now, rate):
        moved = self.by.step(self.joined(groups), self.joined(slopes_now) + self.left, rate)
        self.left, at = 0.0, 0
        for name in self.names:
            groups[name] = moved[at:at + len(groups[name])]
            at += len(groups[name])

    def leave(self, slopes_now):
        """It clears its own gradient alone, when it steps."""
        self.left = self.left + self.joined(slopes_now)

    def keep(self):
        self.state[self.key], self.state[self.key + " left"] = self.moments, self.left


def apart(visit):
    """Experts learn from training rows, and after so many steps of the client's life its routers from
    validation rows, at a rate that never falls."""
    groups = begun(visit)
    of_experts = Phase(visit, "experts", [x for x in groups if x != "router"])
    of_routers = Phase(visit, "routers", ["router"] if "router" in groups else [])
    leaks = bool(visit.option("grad_leak_compat")) != wrong("gradients_leak") and of_routers.names
    own = visit.streams[visit.client - 1]
    learns_from = own.validation
    if visit.option("router_data") == "training" or wrong("routers_from_training_rows"):
        learns_from = own.train
    rows = with_draws(visit.batches(), visit.seed)
    of_bursts = derive_seed(visit.seed, "router")
    rows_of_routers = with_draws(texts.batches(visit, learns_from, of_bursts), of_bursts)
    before = visit.state.get("own steps", 0)
    for here in range(visit.steps):
        found = gradient(visit, groups, next(rows))
        of_experts.step(groups, found, visit.rate_at(here))
        if leaks:
            of_routers.leave(found)
        counted = here + 1 + (0 if wrong("bursts_by_visit") else before)
        if not of_routers.names or counted % visit.option("router_every"):
            continue
        for _ in range(int(visit.option("router_steps"))):
            found = gradient(visit, groups, next(rows_of_routers))
            of_routers.step(groups, found, visit.rate_at(here) if wrong("routers_follow_schedule")
                            else visit.option("router_rate"))
            if leaks:
                of_experts.leave(found)
    of_experts.keep()
    of_routers.keep()
    return handed_in(visit, groups)


def together(visit):
    """pFedMoE (Yi et al. 2024): one optimiser for routers and experts, on training rows."""
    groups, rows = begun(visit), with_draws(visit.batches(), visit.seed)
    names = [x for x in groups if x != "router"] if wrong("joint_routers_stand") else list(groups)
    everything = Phase(visit, "experts", names)
    for here in range(visit.steps):
        everything.step(groups, gradient(visit, groups, next(rows)), visit.rate_at(here))
    everything.keep()
    return handed_in(visit, groups)


def learned(visit):
    return (together if visit.config.get("joint") else apart)(visit)


def handed_in(visit, groups):
    """What is shared is offered; and remembered as the client leaves it, as is the rest."""
    visit.state["groups"] = groups
    return {name: groups[name] - visit.fetched[name] for name in offered(visit)}


def at_home(visit, ids, merged=False):
    """As the client left it; or with what was merged since."""
    groups = dict(visit.state["groups"])
    if merged != wrong("scored_as_merged"):
        groups |= {name: visit.fetched[name] for name in offered(visit)}
    leaves = {name: Node(values) for name, values in groups.items()}
    return visit.model.logits(visit.model.nodes(visit.frozen), ids, beside(visit, leaves)).value
