"""Runs of examples, each made once: what one ended with is kept, and one that was cut off goes on where it stopped."""

import json
import shutil
import statistics
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

CURVE = ("clients_perplexity", "perplexity_merged")


@dataclass
class Cell:
    """One run: an example, what is changed of it, and its seed."""

    study: str
    row: str
    seed: int
    example: object
    changes: list = field(default_factory=list)

    @property
    def name(self):
        plain = "".join(x if x.isalnum() or x in "._" else "-" for x in self.row)
        return f"{self.study}.{plain}.{self.seed}"


def rows_of(sweep, wanted=None):
    """Of a sweep's table, {row: changes}: its methods, and then its rows. With `wanted` these and no others."""
    table = tomllib.loads(sweep.read_text(encoding="utf-8"))["sweep"]
    found = {x: [f"method={x}"] for x in table.get("methods", [])} | table.get("rows", {})
    missing = [x for x in wanted or [] if x not in found]
    if missing:
        sys.exit(f"{sweep}: there is no row {', '.join(missing)}")
    return {x: found[x] for x in wanted or found}


def curve_in(folder):
    """[version, or round where nothing is merged, and value by name] of each evaluation."""
    with open(f"{folder}/metrics.jsonl", encoding="utf-8") as file:
        lines = [json.loads(x) for x in file]
    return [[x.get("round", x["version"]), {**{k: x[k] for k in CURVE if k in x}, **x.get("method_results", {})}]
            for x in lines if x["kind"] == "evaluation"]


class Maker:
    """Makes cells in a folder, so many at a time."""

    def __init__(self, troupe, folder, at_once):
        self.troupe, self.folder, self.at_once = troupe, folder, at_once
        for name in ("cells", "runs"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def started(self, cell):
        runs = self.folder / "runs" / cell.name
        begun = sorted(runs.glob("*/config.toml"))
        if begun:
            return [self.troupe, "run", "--resume", begun[-1].parent]
        changes = [*cell.changes, f"seed={cell.seed}", "events=false", f"folder={runs}"]
        return [self.troupe, "run", cell.example, *(y for x in changes for y in ("--set", x))]

    def make(self, cell):
        kept = self.folder / "cells" / f"{cell.name}.json"
        if kept.exists():
            return json.loads(kept.read_text(encoding="utf-8"))
        for is_last in (False, True):
            command = [str(x) for x in [*self.started(cell), "--format", "json"]]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
            if is_last or "--resume" not in command:
                sys.exit(f"{cell.name}: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            shutil.rmtree(self.folder / "runs" / cell.name)  # Cut off before there was anything to go on with.
        said = json.loads(done.stdout)
        said["curve"] = curve_in(said["folder"])
        kept.with_suffix(".part").write_text(json.dumps(said), encoding="utf-8")
        kept.with_suffix(".part").rename(kept)
        print(f"{cell.name}: {said['wall_seconds']:.0f} s", file=sys.stderr, flush=True)
        return said

    def make_all(self, cells):
        """{row: what each of its seeds said}."""
        with ThreadPoolExecutor(self.at_once) as pool:
            said = list(pool.map(self.make, cells))
        out = {}
        for cell, x in zip(cells, said):
            out.setdefault(cell.row, []).append(x)
        return out


def value(said, path):
    """What a run said, of a dotted key, or of its method; None: nothing."""
    at = said
    for key in path.split("."):
        at = at.get(key) if isinstance(at, dict) else None
    return said["method_results"].get(path) if at is None else at


def mean(rows, name, path):
    """Of all seeds of a row, and their deviation."""
    found = [value(x, path) for x in rows[name]]
    if None in found:
        sys.exit(f"{name}: {found.count(None)} of {len(found)} runs have no {path}")
    return statistics.mean(found), statistics.stdev(found) if len(found) > 1 else None


class Bounds:
    def __init__(self):
        self.wrong = 0

    def hold(self, what, true):
        print(("holds  " if true else "FAILS  ") + what, flush=True)
        self.wrong += not true
