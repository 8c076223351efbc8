"""Whom a client of DDOME asks for, from the gate that it fetched and its own rows; and whether that is
what the run says it disclosed, and what it was given."""

import gated
from planted import wrong


def fetched_by(visit):
    """The instances that a visit fetched, in order."""
    return sorted(int(x.partition(".")[2]) for x in visit.fetched if x.startswith("model."))


def is_held_out(visit):
    """The last so many are never invited."""
    return visit.client > len(visit.train) - visit.option("clients.held_out")


def rows_of(visit, x):
    """The rows by which a client asks: those that it trains on, or those that it has answered."""
    return x if is_held_out(visit) and not wrong("stranger_asks_by_training_rows") else visit.rows[0]


def best_of(visit, rows):
    """The K experts of largest score over all rows, best first, of equals the first."""
    gate = visit.fetched["gate"]
    if wrong("asks_by_trained_gate"):
        gate = gate + gated.joint(visit)["gate"]
    scores = gated.mean_gate(visit, gate, rows)
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    if wrong("asks_for_the_least"):
        order.reverse()
    return order[:int(visit.option("options.chosen"))]


def request_of(visit):
    """None of an anchor, whose place says it all."""
    return [] if visit.client <= visit.option("options.anchors") else best_of(
        visit, visit.rows[0])


def disclosed_by(event):
    return [int(x) for said in event.get("disclosed", []) if said["index"] == 0
            for x in said["values"]]


def difference(visit, event):
    """0 where a request is what its visit's gate says, and those came; else 1."""
    said, came = disclosed_by(event), fetched_by(visit)
    wanted = request_of(visit)
    if visit.option("options.request") == "random" and wanted:
        wanted = said if len(set(said)) == len(wanted) else wanted
    own = (visit.client - 1) % int(visit.option("options.experts"))
    due = sorted(wanted) if wanted else [own]
    return float(said != wanted or came != due)
