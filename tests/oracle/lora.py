"""Procedures over a frozen model: one adapter that travels, and what clients have beside it."""

import math

import numpy as np

from draws import derive_seed
from model import along
from planted import wrong
from visit import Descent


def slope_by(visit, adapter, at, others, rows):
    """The gradient by an adapter's factors, beside what others add to the frozen model."""
    there = visit.frozen + adapter.change(at) + others
    return adapter.pull_back(at, visit.model.gradient(there, rows))


def kept_descent(visit):
    """AdamW's moments stay with the client."""
    if wrong("moments_begin_anew"):
        visit.state.pop("moments", None)
    moments = {**visit.state.get("moments", {})}
    if visit.config["training.optimiser"] == "adamw":
        visit.state["moments"] = moments
    return Descent(visit, moments)


def own_one(visit):
    """A client's own adapter, as it left it."""
    own = visit.own_adapter
    y = visit.state.get("own_adapter", own.initial(
        derive_seed(visit.seed, "own adapter"), random_gain()))
    return own.factors(y) if wrong("own_head_begins_anew") else y


def common(visit):
    """HOMLoRA: FedAvg on the factors. A head of the client's own learns from the same gradient."""
    if visit.own_adapter:
        return both(visit)
    x, batches, by = visit.fetched["adapter"].copy(), visit.batches(), kept_descent(visit)
    for i in range(visit.steps):
        x = by.step(x, slope_by(visit, visit.adapter, x, 0, next(batches)), visit.rate_at(i))
    return {"adapter": x - visit.fetched["adapter"]}


def random_gain():
    """The random factor is uniform within 1 / sqrt(fan_in)."""
    return 6**0.5 if wrong("wide_start") else 1.0


def inner_rate(visit, made):
    """A schedule holds for both levels."""
    if wrong("inner_rate_never_falls"):
        return visit.option("inner_rate")
    return visit.option("inner_rate") * visit.rate_at(made) / visit.option("training.learning_rate")


def two_level(visit):
    """PF2LoRA, algorithm 1, with two batches a step or four: y' = y - alpha F_y(x, y), then x along
    F_x(x, y') - alpha F_xy(x, y) F_y(x, y')."""
    common_one, own = visit.adapter, visit.own_adapter
    batches, by = visit.batches(), kept_descent(visit)
    x, y = visit.fetched["adapter"].copy(), own_one(visit)
    for i in range(visit.steps):
        alpha = inner_rate(visit, i)
        inner, outer = next(batches), next(batches)
        of_v, of_mixed = outer, inner
        if visit.option("four_batches"):
            of_v, of_mixed = next(batches), next(batches)
        after = y - alpha * slope_by(visit, own, y, common_one.change(x), inner)
        if visit.option("joint") or wrong("old_own_adapter"):
            h = slope_by(visit, common_one, x, own.change(y), outer)
        else:
            h = slope_by(visit, common_one, x, own.change(after), outer)
        if not visit.option("first_order") and not visit.option("joint"):
            v = slope_by(visit, own, after, common_one.change(x), of_v)
            point = after if wrong("correction_at_new_point") else y
            correction = along(lambda p: slope_by(visit, common_one, x, own.change(p), of_mixed),
                               point, v)
            h = h - (-1 if wrong("correction_sign") else 1) * alpha * correction
        y = after
        x = by.step(x, h, visit.rate_at(i))
    visit.state["own_adapter"] = y
    return {"adapter": x - visit.fetched["adapter"]}


def common_meta(visit):
    """Per-FedAvg on the factors, with the whole gradient through the inner step."""
    batches, by = visit.batches(), kept_descent(visit)
    x = visit.fetched["adapter"].copy()
    for i in range(visit.steps):
        alpha = inner_rate(visit, i)
        inner, outer = next(batches), next(batches)
        third = next(batches) if visit.option("three_batches") else inner
        there = x - alpha * slope_by(visit, visit.adapter, x, 0, inner)
        h = slope_by(visit, visit.adapter, there, 0, outer)
        if not visit.option("first_order") and not wrong("step_through_left_out"):
            h = h - alpha * along(lambda p: slope_by(visit, visit.adapter, p, 0, third), x, h)
        x = by.step(x, h, visit.rate_at(i))
    return {"adapter": x - visit.fetched["adapter"]}


def first_rank(visit):
    """r_min + (r_max - r_min)(k - 1) / M, rounded down; or from one to another; or so many for each
    expert that a client would have."""
    each = visit.config.get("rank_per_expert", 0)
    if each and not wrong("ranks_by_order"):
        said = visit.config["training.experts"]
        return min(each * said[(visit.client - 1) % len(said)], visit.option("rank"))
    first, last = visit.option("rank_first"), visit.option("rank_last")
    if first and last:
        return math.floor(first + (last - first) * (visit.client - 1) / (len(visit.train) - 1))
    low, high = visit.option("rank_min"), visit.option("rank")
    return math.floor(low + (high - low) * (visit.client - 1) / len(visit.train))


def tails(visit, a, kept, rank):
    """Of each layer, the norms of what its factors have beyond the ranks that stay."""
    for part in visit.adapter.parts:
        u = visit.adapter.u(a, part)[kept:rank]
        v = visit.adapter.v(a, part)[kept:rank]
        yield part, u, v, np.linalg.norm(u), np.linalg.norm(v)


def penalty_gradient(visit, a, kept, rank):
    gradient = np.zeros_like(a)
    for part, u, v, size_u, size_v in tails(visit, a, kept, rank):
        if size_u > 0:
            visit.adapter.u(gradient, part)[kept:rank] = size_v * u / size_u
        if size_v > 0:
            visit.adapter.v(gradient, part)[kept:rank] = size_u * v / size_v
    return gradient


def tail_size(visit, a, kept, rank):
    return sum(x[3] * x[4] for x in tails(visit, a, kept, rank))


def pruned(visit):
    """HETLoRA (Cho et al. 2024): the first ranks of the adapter, of which the last cost something
    and are given up when a visit has made them smaller. An offer weighs the norm of its product,
    and what a client has not counts as zeros. As CoMiGS has it, what is beside attention may be apart:
    of one rank, and merged by a plain mean."""
    rank = visit.state.get("rank", first_rank(visit))
    kept = math.floor(visit.option("keep_share") * rank)
    start = visit.adapter.cut(visit.fetched["adapter"], rank)
    penalty = 0 if wrong("penalty_left_out") else visit.option("penalty")
    a, batches, by = start.copy(), visit.batches(), kept_descent(visit)
    apart, beside, by_apart = visit.attention, visit.fetched.get("attention"), Descent(visit, {})
    for _ in range(visit.steps):
        rows, others, of_beside = next(batches), 0, 0
        if apart:
            others = apart.change(beside)
            of_beside = slope_by(visit, apart, beside, visit.adapter.change(a), rows)
        slope = visit.adapter.cut(slope_by(visit, visit.adapter, a, others, rows), rank)
        a = by.step(a, slope + penalty * penalty_gradient(visit, a, kept, rank), visit.rate)
        if apart:
            beside = by_apart.step(beside, of_beside, visit.rate)
        if apart and wrong("attention_has_the_clients_ranks"):
            beside = apart.cut(beside, rank)
    smaller = tail_size(visit, a, kept, rank) < tail_size(visit, start, kept, rank)
    if smaller and not wrong("never_pruned"):
        rank = max(kept, int(visit.option("rank_min")))
        a = visit.adapter.cut(a, rank)
    visit.state["rank"] = rank
    visit.lacks["adapter"] = visit.adapter.cut(np.ones_like(a), rank) == 0
    visit.norms["adapter"] = np.linalg.norm(visit.adapter.change(a))
    if wrong("norm_for_one"):
        visit.norms["adapter"] = 1.0
    offer = {"adapter": a - visit.fetched["adapter"]}
    if apart:
        offer["attention"] = beside - visit.fetched["attention"]
        if wrong("attention_by_norms"):
            visit.norms["attention"] = visit.norms["adapter"]
    return offer


def ranked(visit):
    """FlexLoRA (Bai et al. 2024): as many first ranks as under HETLoRA, for good. Factors are new in each
    version, and so an optimiser is."""
    rank = visit.state.setdefault("rank", first_rank(visit))
    a, batches, by = visit.adapter.cut(visit.fetched["adapter"], rank), visit.batches(), Descent(
        visit)
    for i in range(visit.steps):
        slope = slope_by(visit, visit.adapter, a, 0, next(batches))
        a = by.step(a, visit.adapter.cut(slope, rank), visit.rate_at(i))
    return {"adapter": a - visit.fetched["adapter"]}


def both(visit):
    """FDLoRA (Qi et al. 2024): what is merged and a client's own learn from one gradient."""
    x, batches, by = visit.fetched["adapter"].copy(), visit.batches(), kept_descent(visit)
    y = own_one(visit)
    moments = {} if wrong("own_moments_begin_anew") else {**visit.state.get("own moments", {})}
    by_own = Descent(visit, moments)
    for i in range(visit.steps):
        rows, rate = next(batches), visit.rate_at(i)
        of_x = slope_by(visit, visit.adapter, x, visit.own_adapter.change(y), rows)
        of_y = slope_by(visit, visit.own_adapter, y, visit.adapter.change(x), rows)
        x, y = by.step(x, of_x, rate), by_own.step(y, of_y, rate)
    visit.state |= {"own_adapter": y, "own moments": moments}
    return {"adapter": x - visit.fetched["adapter"]}


def fused(visit, weights):
    return (weights[1] * visit.adapter.change(visit.fetched["adapter"])
            + weights[0] * visit.own_adapter.change(visit.state["own_adapter"]))


def fuse(visit):
    """In its last visit a client looks ten times for how much of its own and of the merged it uses,
    on a batch of its validation rows: from none of both a step along each axis either way, to the
    first that is better, and half as far where none is. Weights cost a twentieth of their mean size."""
    of = visit.streams[visit.client - 1]
    ids, targets = of.all_rows(of.train if wrong("fusion_by_training_rows") else of.validation)
    size = min(visit.option("training.batch_size") or len(ids), len(ids))
    some = [i * len(ids) // size for i in range(size)]

    def worth(weights):
        said = visit.model.outputs(visit.frozen + fused(visit, weights), ids[some])
        price = 0 if wrong("fusion_costs_nothing") else 0.05
        return (visit.model.judge(said, targets[some])[0].mean()
                + price * np.abs(weights).mean())

    best, step, left = np.zeros(2), 0.5, 9
    least = worth(best)
    while left:
        for way in np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]) * step:
            there = np.clip(best + way, -1, 1)
            if (there == best).all() or not left:
                continue
            left, found = left - 1, worth(there)
            visit.narrowest = min(visit.narrowest, abs(found - least))
            if found < least:
                best, least = there, found
                break
        else:
            step /= 2
    visit.state["fusion"] = best


def at_home(visit, method):
    """What a client that has the newest common adapter adds to the frozen model."""
    if method == "pretrained":
        return 0.0
    if method in ("ffa_lora", "fedsa_lora", "pcl"):
        return visit.adapter.change(visit.state["adapter"])
    x = visit.fetched["adapter"]
    if method == "per_fedavg_lora":
        x = x - visit.option("inner_rate") * slope_by(visit, visit.adapter, x, 0, visit.rows)
    if method in ("hetlora", "flexlora"):
        x = visit.adapter.cut(x, visit.state["rank"])
    if method == "fdlora":
        return fused(visit, (1, 1) if wrong("never_fused") else visit.state["fusion"])
    change = visit.adapter.change(x)
    if method == "hetlora" and visit.attention:
        change = change + visit.attention.change(visit.fetched["attention"])
    if method in ("pf2lora", "homlora") and visit.own_adapter:
        change = change + visit.own_adapter.change(visit.state["own_adapter"])
    return change
