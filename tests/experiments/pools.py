#!/usr/bin/env python3
"""A pool of clients that grows, or of which one fifth at a time is there, with or without the anchors who stay: how
right each group's strangers are over time, under DDOME, FedAvg and FedMix, in one figure.

  pools.py EXECUTABLE COMMON FIGURE.svg [growing | switching | switching_anchored] [ROUNDS A GROUP HAS]

COMMON is what `common` takes: common_models.py makes it as runs/common_of_labels.safetensors. FedAvg begins there,
as in the publication's tables, and clients of anchors are as often there under all three. Says what group 1
loses after its time, and is red if a pool that grows costs it more under DDOME than under FedAvg, or if an
evaluation of any of these runs lacks a group. Ten minutes of two cores."""

import json
import pathlib
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import common_models

GROUPS, CLIENTS = 5, 100
OFTEN = ["clients.often=5", "clients.often_per_round=5"]
METHODS = {"ddome": [], "fedavg": ["method=fedavg", "init={common}", *OFTEN],
           "fedmix": ["method=fedmix", "options.experts=2", *OFTEN]}
# Of each kind, the example that it begins from.
KINDS = {"growing": "growing", "switching": "switching", "switching_anchored": "switching"}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")


class Pool:
    def __init__(self, troupe, common, kind, length, folder):
        self.troupe, self.common, self.kind, self.folder = troupe, common, kind, folder
        self.length = length
        # The example's scenario has a group come every 200 versions.
        text = pathlib.Path(f"deploy/scenarios/ddome/{kind}.toml").read_text(encoding="utf-8")
        self.scenario = pathlib.Path(folder) / "scenario.toml"
        self.scenario.write_text(
            re.sub(r"version = (\d+)", lambda x: f"version = {int(x[1]) // 200 * length}", text),
            encoding="utf-8")

    def curves(self, changes):
        """Of each group, accuracies by version: one stranger of each, who trains nowhere."""
        every = max(self.length // 20, 1)
        command = [self.troupe, "run", f"deploy/examples/ddome/{KINDS[self.kind]}.toml", "--format", "json"]
        for x in [f"common={self.common}", f"folder={self.folder}", f"scenario={self.scenario}",
                  f"rounds={GROUPS * self.length}", f"evaluate_every={every}",
                  f"clients.clients={CLIENTS + GROUPS}", f"clients.held_out={GROUPS}",
                  "workers=1", "events=false", "ledger=memory", *(x.format(common=self.common) for x in changes)]:
            command += ["--set", x]
        said = json.loads(common_models.run(command))
        with open(said["folder"] + "/metrics.jsonl", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        found = {x["version"]: x.get("method_results", {}) for x in records if x["kind"] == "evaluation"}
        names = [f"accuracy_group_{group}" for group in range(1, GROUPS + 1)]
        due = {self.length, GROUPS * self.length, *found}
        missing = [f"{name} at {v}" for v in sorted(due) for name in names if name not in found.get(v, {})]
        if missing:
            sys.exit(f"{self.kind} {' '.join(changes)}: no {', '.join(missing)}")
        return [{v: results[name] for v, results in found.items()} for name in names]


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


def main():
    troupe, common, picture, *more = sys.argv[1:]
    kind = more[0] if more else "growing"
    length = int(more[1]) if len(more) > 1 else 200
    lost, all_curves = {}, {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as workers:
        pool = Pool(troupe, common, kind, length, folder)
        print("| | " + " | ".join(f"group {x}" for x in range(1, GROUPS + 1)) + " | group 1 has lost |")
        print("| --- " * (GROUPS + 2) + "|", flush=True)
        for name, curves in zip(METHODS, workers.map(pool.curves, METHODS.values())):
            all_curves[name] = curves
            first, end = curves[0], max(curves[0])
            lost[name] = first[length] - first[end]
            print(f"| `{name}` | " + " | ".join(f"{100 * x[end]:.1f}" for x in curves)
                  + f" | {100 * lost[name]:.1f} |", flush=True)
    draw(all_curves, length, picture)
    return 1 if kind == "growing" and lost["ddome"] > lost["fedavg"] else 0


if __name__ == "__main__":
    sys.exit(main())
