"""What CoMiGS is compared with beside averaged experts: methods of which one factor travels, and one of
a line for each client."""

import numpy as np

from draws import derive_seed
from lora import kept_descent, slope_by
from mixtures import softmax
from planted import wrong


def outer_places(adapter):
    """Where an adapter has its outer factors; the others are inner ones."""
    places = np.zeros(adapter.size, dtype=bool)
    for _, _, u, v, _ in adapter.parts:
        places[u:v] = True
    return places


def outer_alone(visit):
    """FFA-LoRA (Sun et al. 2024): inner factors stay as all began with them."""
    places = outer_places(visit.adapter)
    a = visit.adapter.initial(
        derive_seed(derive_seed(visit.option("seed"), "initial"), "adapter"), 1.0)
    learns = np.ones_like(places) if wrong("inner_factors_learn") else places
    a[places] = visit.fetched["outer_factors"]
    batches, by = visit.batches(), kept_descent(visit)
    for _ in range(visit.steps):
        slope = slope_by(visit, visit.adapter, a, 0, next(batches))
        a[learns] = by.step(a[learns], slope[learns], visit.rate)
    visit.state["adapter"] = a
    return {"outer_factors": a[places] - visit.fetched["outer_factors"]}


def shared_inner(visit):
    """FedSA-LoRA (Guo et al. 2025): both learn, and outer factors stay with the client."""
    places = outer_places(visit.adapter)
    if wrong("outer_factors_begin_anew"):
        visit.state.pop("adapter", None)
    a = visit.state.get("adapter", np.zeros(visit.adapter.size)).copy()
    a[~places] = visit.fetched["inner_factors"]
    batches, by = visit.batches(), kept_descent(visit)
    for _ in range(visit.steps):
        a = by.step(a, slope_by(visit, visit.adapter, a, 0, next(batches)), visit.rate)
    visit.state["adapter"] = a
    return {"inner_factors": a[~places] - visit.fetched["inner_factors"]}


def line_of_own(visit):
    """PCL (Wagner et al. 2024): each client begins with the mean of all clients' by the softmax of minus
    perplexities on its validation rows."""
    own = f"model_of.{visit.client - 1}"
    streams = visit.streams[visit.client - 1]
    ids, targets = streams.all_rows(streams.train if wrong("lines_by_training_rows")
                                    else streams.validation)
    lines = [visit.fetched[f"model_of.{k}"] for k in range(len(visit.train))]
    losses = np.array([
        visit.model.judge(visit.model.outputs(visit.frozen + visit.adapter.change(x), ids),
                          targets)[0].mean() for x in lines])
    shares = softmax(-losses if wrong("lines_by_loss") else -np.exp(losses))
    a = sum(share * x for share, x in zip(shares, lines))
    if wrong("own_line_alone"):
        a = visit.fetched[own].copy()
    batches, by = visit.batches(), kept_descent(visit)
    for _ in range(visit.steps):
        a = by.step(a, slope_by(visit, visit.adapter, a, 0, next(batches)), visit.rate)
    visit.state["adapter"] = a
    return {own: a - visit.fetched[own]}
