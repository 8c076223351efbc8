"""What a client uses itself once it is at home, scored on rows of its own."""

import numpy as np

import gated
import lora
import routed
import mixtures
import visit
from methods import METHODS, OVER_A_FROZEN_MODEL


def outputs(here, method, x):
    """Of a visit that trains nothing."""
    model, versions, state = here.model, here.fetched, here.state
    if method in routed.CAST:
        return routed.at_home(here, x)
    if method in ("local", "ditto", "pfedme"):
        return model.outputs(state.get("own_model", versions["model"]), x)
    if method == "per_fedavg":
        return model.outputs(visit.adapted(here, versions["model"], here.rows), x)
    if method == "ifca":
        return model.outputs(versions[f"model.{mixtures.best_of(here)}"], x)
    if method in ("fedrep", "fedper"):
        return model.outputs(np.concatenate([versions["body"], state["head"]]), x)
    if method == "local_adaptor":
        change = here.adapter.change(state["own_adapter"])
        return model.outputs(versions["model"] + change, x)
    if method in OVER_A_FROZEN_MODEL:
        return model.outputs(here.frozen + lora.at_home(here, method), x)
    if method in ("ddome", "fedmix"):
        return gated.at_home(here, x, method)
    if METHODS[method].several == "adapter":
        shares = mixtures.shares_of(here)
        if method == "floral_optimal":
            shares = np.eye(len(shares))[mixtures.tied_to(here)]
        return model.outputs(mixtures.mixed_weights(
            here, versions["model"], mixtures.family(here, "adapter"), shares), x)
    if METHODS[method].several == "model":
        models = mixtures.family(here, "model")
        shares = mixtures.shares_of(here)
        if method == "ensemble_optimal":
            shares = np.eye(len(shares))[mixtures.tied_to(here)]
        if method == "fedem":  # It keeps shares, not logits.
            shares = state.get("mixture", np.full(len(models), 1 / len(models)))
        return sum(s * model.outputs(w, x) for s, w in zip(shares, models))
    return model.outputs(versions["model"], x)


def owner(task, number):
    """Whose test rows these are: all are the one client's who has the texts of all users."""
    return 1 if task.config.get("data.pooled") else number


def loss(task, method, number, versions, state):
    x, y = task.test[number - 1]
    here = visit.Visit(task, owner(task, number), 0, 1.0, versions, state)
    return task.model.judge(outputs(here, method, x), y)[0].mean()


def perplexities(task, method, versions, states):
    """Of each client e to its mean loss, and then their mean; and that with what was merged since, where
    clients are scored as they were left."""
    clients = range(1, len(task.test) + 1)
    found = [np.exp(loss(task, method, k, versions, states.get(owner(task, k), {})))
             for k in clients]
    merged = []
    for k in clients if method in routed.CAST and method not in routed.ALONE else ():
        x, y = task.test[k - 1]
        here = visit.Visit(task, k, 0, 1.0, versions, states[k])
        said = routed.at_home(here, x, merged=True)
        merged.append(np.exp(task.model.judge(said, y)[0].mean()))
    return np.mean(found), np.mean(merged) if merged else None
