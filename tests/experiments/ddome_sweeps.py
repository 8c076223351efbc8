#!/usr/bin/env python3
"""Sweeps of DDOME on Fashion-MNIST beside what it is compared with, as tables: with label combinations, or with
mixtures of labels. Nothing is asserted of what comes out, but that each run has an end.

  ddome_sweeps.py EXECUTABLE FOLDER combinations | dirichlet

FOLDER keeps all of it. One that is there goes on where it stopped, run by run; for another program take another
folder. An hour or more of two cores for combinations, a quarter of one for mixtures."""

import json
import pathlib
import re
import statistics
import sys

import common_models

COLUMNS = {"zero_shot.mean": ("zero-shot, %", 100), "zero_shot.worst": ("worst", 100),
           "owner_accuracy": ("owners, %", 100), "expert_accuracy": ("one expert a row, %", 100),
           "experts_asked": ("experts asked", 1), "experts_used": ("experts in use", 1),
           "gate_entropy": ("gate's entropy", 1), "bytes_up": ("MiB up", 1 / 2**20),
           "bytes_down": ("MiB down", 1 / 2**20)}
LAST = 10  # Evaluations of which the publication has the best in one table.


def make_rows(troupe, folder, name):
    """One sweep, begun or gone on with; what it says of its progress is seen. Returns its rows by name, and the
    folder of what each run ended with."""
    home = folder / "sweeps" / name
    begun = sorted(home.glob("*/sweep.toml"))
    if begun:
        how = ["--resume", begun[-1].parent]
    else:
        how = [common_models.EXAMPLES / f"sweep_{name}.toml", "--folder", home,
               "--set", "events=false", "--set", "ledger=memory"]
    # Where the example's relative paths of common models begin.
    said = json.loads(common_models.run([troupe, "run", *how, "--format", "json"], cwd=folder))
    rows = {row["name"]: row["metrics"] for row in said["rows"]}
    cells = pathlib.Path(said["folder"]) / "cells"
    add_bests(rows, cells)
    return rows, cells


def ends_of(cells, name):
    """By seed, what the runs of a row ended with."""
    pattern = re.compile(re.escape(file_name(name)) + r"-(\d+)\.json")
    return {int(found[1]): json.loads(x.read_text(encoding="utf-8"))
            for x in sorted(cells.iterdir()) if (found := pattern.fullmatch(x.name))}


def curve_of(run):
    """What the clients that are never invited have at each evaluation of a run, in order."""
    found = {}
    with open(run / "metrics.jsonl", encoding="utf-8") as file:
        for line in file:
            x = json.loads(line)
            if x["kind"] == "evaluation" and "zero_shot" in x:
                found[x["version"]] = x["zero_shot"]["mean"]
    return [found[v] for v in sorted(found)]


def bests_of(curve):
    return {"best_of_last": max(curve[-LAST:]), "best_ever": max(curve)}


def mean_of(values):
    return {"runs": len(values), "mean": statistics.mean(values),
            "deviation": statistics.stdev(values) if len(values) > 1 else None}


def add_bests(rows, cells):
    """To each row the best of its runs' last evaluations and of all, as means over the seeds: the publication's
    tables have in part these."""
    for name, metrics in rows.items():
        found = [bests_of(curve_of(pathlib.Path(x["folder"]))) for x in ends_of(cells, name).values()]
        for key in ("best_of_last", "best_ever"):
            metrics[key] = mean_of([x[key] for x in found])


def file_name(row):
    """As a sweep names what it keeps of a row: node/sweep/sweep_plan.cpp."""
    return "".join(x if x.isascii() and (x.isalnum() or x == "_") else "-" for x in row)


def show(rows, columns):
    """As a table; means over seeds, with the spread of the first column behind it."""
    first = columns[0]
    heads = []
    for key in columns:
        heads.append(COLUMNS[key][0])
        if key == first:
            heads += ["±", f"best of the last {LAST}", "best ever"]
    print("| | " + " | ".join(heads) + " |")
    print("| --- " * (len(heads) + 1) + "|")
    for name, metrics in rows.items():
        cells = []
        for key in columns:
            cells.append(cell(metrics.get(key), "mean", COLUMNS[key][1]))
            if key == first:
                cells.append(cell(metrics.get(key), "deviation", COLUMNS[key][1]))
                cells += [cell(metrics.get(x), "mean", COLUMNS[key][1]) for x in ("best_of_last", "best_ever")]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(flush=True)


def cell(found, what, factor):
    value = found[what] if found else None
    return "" if value is None else f"{factor * value:.2f}"


def main():
    troupe, folder = (pathlib.Path(x).resolve() for x in sys.argv[1:3])
    name = sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    common_models.make(troupe, folder, "common_of_labels")
    rows, _ = make_rows(troupe, folder, name)
    columns = list(COLUMNS)
    if name == "dirichlet":  # Anchors own no labels there.
        columns = [x for x in columns if x not in ("owner_accuracy", "expert_accuracy")]
    else:
        columns.remove("experts_asked")
    show(rows, columns)


if __name__ == "__main__":
    main()
