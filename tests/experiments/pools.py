#!/usr/bin/env python3
"""A pool of clients that grows, or of which one fifth at a time is there, with or without the anchors who stay: how
right each group's strangers are over time, under DDOME, FedAvg and FedMix, as a table and as one figure.

  pools.py EXECUTABLE COMMON FOLDER choose
  pools.py EXECUTABLE COMMON FOLDER growing | switching | switching_anchored
     --seeds 1 2 …   --rates 0.3 …   --rounds OF A GROUP'S TIME

COMMON is what `common` takes: common_models.py makes it as runs/common_of_labels.safetensors. FedAvg begins there,
as in the publication's tables, and clients of anchors are as often there under all three. `choose` finds the gate's
rate as docs/decisions/0042 says, and is red where the examples have another one. A pool is red if it grows and that
costs group 1 more under DDOME than under FedAvg, or if an evaluation of any run lacks a group; its figure, of means
over the seeds, is FOLDER/POOL.svg.

FOLDER keeps each run's curves, in a folder for each seed. One that is there goes on where it stopped; for another
program take another folder. On two cores some six minutes for `choose`, ten for a pool."""

import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor

import common_models

GROUPS, CLIENTS = 5, 100
LAST = 10  # Evaluations whose mean is what a group has in the end.
OFTEN = ["clients.often=5", "clients.often_per_round=5"]
# Of each kind, the example that it begins from.
KINDS = {"growing": "growing", "switching": "switching", "switching_anchored": "switching"}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
SEEDS = (1, 2, 3, 4, 5)
SEEDS_OF_CHOICE = (11, 12)
RATES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # The larger one first: it is taken where two are alike.
RATE_OF_DOMAINS = 0.3


def rate_of(example):
    with open(common_models.EXAMPLES / f"{example}.toml", "rb") as file:
        return tomllib.load(file)["options"]["gate_rate"]


def ddome(rate):
    return f"ddome, {rate:g}", [f"options.gate_rate={rate:g}"]


class Pool:
    def __init__(self, troupe, common, kind, length, folder):
        self.troupe, self.common, self.kind, self.length = troupe, common, kind, length
        self.home = folder / "pools" / f"{kind}_{length}"
        self.home.mkdir(parents=True, exist_ok=True)
        # The example's scenario has a group come every 200 versions.
        text = (common_models.EXAMPLES.parents[1] / f"scenarios/ddome/{kind}.toml").read_text(encoding="utf-8")
        self.scenario = self.home / "scenario.toml"
        self.scenario.write_text(
            re.sub(r"version = (\d+)", lambda x: f"version = {int(x[1]) // 200 * length}", text), encoding="utf-8")
        self.baselines = [("fedavg", ["method=fedavg", f"init={common}", *OFTEN]),
                          ("fedmix", ["method=fedmix", "options.experts=2", *OFTEN])]

    def curves(self, name, changes, seed):
        """Of each group, accuracies by version; of a run that was made before, what it left."""
        kept = self.home / f"seed_{seed}" / (re.sub("[^a-z0-9.]+", "_", name) + ".json")
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            part = kept.with_suffix(".part")
            part.write_text(json.dumps(self.run(name, changes, seed)), encoding="utf-8")
            os.replace(part, kept)
        groups = json.loads(kept.read_text(encoding="utf-8"))
        return [{int(v): a for v, a in group.items()} for group in groups]

    def run(self, name, changes, seed):
        """One stranger of each group, who trains nowhere."""
        command = [self.troupe, "run", common_models.EXAMPLES / f"{KINDS[self.kind]}.toml", "--format", "json"]
        with tempfile.TemporaryDirectory() as folder:
            for x in [f"seed={seed}", f"common={self.common}", f"folder={folder}", f"scenario={self.scenario}",
                      f"rounds={GROUPS * self.length}", f"evaluate_every={max(self.length // 20, 1)}",
                      f"clients.clients={CLIENTS + GROUPS}", f"clients.held_out={GROUPS}",
                      "workers=1", "events=false", "ledger=memory", *changes]:
                command += ["--set", x]
            said = json.loads(common_models.run(command))
            with open(said["folder"] + "/metrics.jsonl", encoding="utf-8") as file:
                records = [json.loads(line) for line in file]
        found = {x["version"]: x.get("method_results", {}) for x in records if x["kind"] == "evaluation"}
        names = [f"accuracy_group_{group}" for group in range(1, GROUPS + 1)]
        due = {self.length, GROUPS * self.length, *found}
        missing = [f"{x} at {v}" for v in sorted(due) for x in names if x not in found.get(v, {})]
        if missing:
            sys.exit(f"{self.kind} {name}, seed {seed}: no {', '.join(missing)}")
        return [{v: found[v][x] for v in sorted(found)} for x in names]

    def all_curves(self, methods, seeds):
        """Of each method those of all seeds, in their order; two runs at a time."""
        jobs = [(name, changes, seed) for seed in seeds for name, changes in methods]
        with ThreadPoolExecutor(2) as workers:
            found = dict(zip(((name, seed) for name, _, seed in jobs),
                             workers.map(lambda x: self.curves(*x), jobs)))
        return {name: [found[name, seed] for seed in seeds] for name, _ in methods}


def last_ten(curve):
    return statistics.mean([curve[v] for v in sorted(curve)][-LAST:])


def final(curve):
    return curve[max(curve)]


def lost_in(curves, length):
    """By group 1, in one run."""
    return curves[0][length] - last_ten(curves[0])


def over_seeds(figure, runs, group):
    """The mean over seeds of what a figure says of a group's curves."""
    return statistics.mean(figure(curves[group]) for curves in runs)


def header(columns):
    print("| | " + " | ".join(columns) + " |")
    print("| --- " * (len(columns) + 1) + "|", flush=True)


def choose(pool, seeds, rates):
    """Says by what all groups have in the end which rate is the best; whether the examples have it."""
    found = pool.all_curves([ddome(rate) for rate in rates], seeds)
    header([f"group {x}" for x in range(1, GROUPS + 1)] + ["mean of all"])
    means = {}
    for rate in rates:
        groups = [over_seeds(last_ten, found[ddome(rate)[0]], group) for group in range(GROUPS)]
        means[rate] = statistics.mean(groups)
        print(f"| `gate_rate = {rate:g}` | " + " | ".join(f"{100 * x:.1f}" for x in groups)
              + f" | {100 * means[rate]:.2f} |")
    best = max(rates, key=means.get)  # The first of those that are alike.
    print(f"\nchosen by seeds {', '.join(map(str, seeds))}: {best:g}")
    wrong = 0
    for example in sorted(set(KINDS.values())):
        has = rate_of(example)
        wrong += has != best
        print(("holds  " if has == best else "FAILS  ") + f"{example}.toml has gate_rate = {has:g}", flush=True)
    return 1 if wrong else 0


def show(pool, seeds, rate):
    """What each group has in the end, and what group 1 has lost; whether that is no more than under FedAvg."""
    methods = [ddome(rate), *pool.baselines]
    if rate != RATE_OF_DOMAINS:
        methods.insert(1, ddome(RATE_OF_DOMAINS))
    found = pool.all_curves(methods, seeds)
    print(f"Seeds {', '.join(map(str, seeds))}: means of the last {LAST} evaluations, and of the last one\n")
    header([f"group {x}" for x in range(1, GROUPS + 1)]
           + ["group 1 at the end of its time", "lost", f"lost, seed {seeds[0]}, one evaluation less one other"])
    lost = {}
    for name, runs in found.items():
        at_end = over_seeds(lambda curve: curve[pool.length], runs, 0)
        lost[name] = statistics.mean(lost_in(curves, pool.length) for curves in runs)
        old = runs[0][0][pool.length] - final(runs[0][0])
        groups = [f"{100 * over_seeds(last_ten, runs, x):.1f}, {100 * over_seeds(final, runs, x):.1f}"
                  for x in range(GROUPS)]
        print(f"| `{name}` | " + " | ".join(groups)
              + f" | {100 * at_end:.1f} | {100 * lost[name]:.1f} | {100 * old:.1f} |", flush=True)
    draw({name: [mean_curve(runs, group) for group in range(GROUPS)] for name, runs in found.items()},
         pool.length, pool.home.parents[1] / f"{pool.kind}.svg")
    if pool.kind != "growing":
        return 0
    ours, theirs = lost[ddome(rate)[0]], lost["fedavg"]
    held = ours <= theirs
    by = [100 * (lost_in(mine, pool.length) - lost_in(his, pool.length))
          for mine, his in zip(found[ddome(rate)[0]], found["fedavg"])]
    spread = f", deviation {statistics.stdev(by):.2f}" if len(by) > 1 else ""
    print("\nlost under DDOME less what is lost under FedAvg, by seed: " + ", ".join(f"{x:+.1f}" for x in by)
          + f"; mean {statistics.mean(by):+.2f}{spread}")
    print("\n" + ("holds  " if held else "FAILS  ") + f"group 1 loses {100 * ours:.2f} points under DDOME, at most the "
          f"{100 * theirs:.2f} of FedAvg wanted", flush=True)
    return 0 if held else 1


def mean_curve(runs, group):
    return {v: statistics.mean(curves[group][v] for curves in runs) for v in runs[0][group]}


def draw(all_curves, length, path):
    """A panel per method, a line per group."""
    wide, high, low, top = 250, 210, 34, 24
    last = GROUPS * length
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide * len(all_curves)} {high + 20}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{wide * len(all_curves)}" height="{high + 20}" fill="#fff"/>']
    for panel, (name, curves) in enumerate(all_curves.items()):
        left = panel * wide + 36
        x = lambda v, left=left: left + (wide - 48) * v / last
        y = lambda a: top + (high - low - top) * (1 - a)
        out.append(f'<text x="{left}" y="14">{name}</text>')
        for a in (0, 0.5, 1):
            out.append(f'<path d="M{left} {y(a):.1f}H{x(last):.1f}" stroke="#ccc"/>'
                       f'<text x="{left - 4}" y="{y(a) + 4:.1f}" text-anchor="end">{a:.0%}</text>')
        for group, curve in enumerate(curves):
            points = " ".join(f"{x(v):.1f},{y(a):.1f}" for v, a in sorted(curve.items()))
            out.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[group]}"/>')
        for k in range(GROUPS + 1):
            out.append(f'<text x="{x(k * length):.1f}" y="{high - 18}" text-anchor="middle">'
                       f'{k * length}</text>')
    for group, colour in enumerate(COLOURS):
        at = 36 + 90 * group
        out.append(f'<path d="M{at} {high + 4}h20" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{at + 24}" y="{high + 8}">group {group + 1}</text>')
    pathlib.Path(path).write_text("\n".join(out) + "\n</svg>\n", encoding="utf-8")


def arguments():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("executable", "common", "folder"):
        words.add_argument(name, type=lambda x: pathlib.Path(x).resolve())
    words.add_argument("what", choices=["choose", *KINDS])
    words.add_argument("--seeds", type=int, nargs="+", help="11 12 to choose, else 1 to 5")
    words.add_argument("--rates", type=float, nargs="+", help="to choose from; of a pool one, which is its example's")
    words.add_argument("--rounds", type=int, default=200, help="of a group's time: 200")
    said = words.parse_args()
    if said.what != "choose" and said.rates and len(said.rates) > 1:
        words.error("a pool has one rate")
    return said


def main():
    said = arguments()
    choosing = said.what == "choose"
    kind = "growing" if choosing else said.what
    pool = Pool(said.executable, said.common, kind, said.rounds, said.folder)
    if choosing:
        return choose(pool, said.seeds or SEEDS_OF_CHOICE, sorted(said.rates or RATES, reverse=True))
    return show(pool, said.seeds or SEEDS, said.rates[0] if said.rates else rate_of(KINDS[kind]))


if __name__ == "__main__":
    sys.exit(main())
