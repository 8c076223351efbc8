#!/usr/bin/env python3
"""How long FedBuff and synchronous FedAvg take where devices differ.

    tests/experiments/stragglers.py build/release/troupe docs/stragglers.svg

Both learn deploy/examples/stragglers.toml up to its target. Rates are tuned on
three seeds, and the comparison is made on five others. Prints a table and draws
the curves. Exits with 1 if FedBuff takes more than 0.6 of the time.
"""

import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PACES = {
    "FedBuff": [],
    "synchronous": ["mode=sync", "clients_per_round=100", "over_selection=1.3", "versions=200"],
}
RATES = list(itertools.product([0.05, 0.1, 0.2, 0.4], [1.0, 2.0]))  # Local, server.
TUNING, SEEDS = range(101, 104), range(1, 6)
BAR = 0.6


def run(troupe, folder, pace, rates, seed):
    """Virtual seconds to the target (None: not reached), and the curve."""
    changes = PACES[pace] + [f"seed={seed}", f"learning_rate={rates[0]}",
                             f"server_learning_rate={rates[1]}", "workers=1",
                             f"folder={folder}"]
    command = [troupe, "run", "deploy/examples/stragglers.toml", "--format", "json"]
    for x in changes:
        command += ["--set", x]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    out = json.loads(done.stdout)
    if not out["success"]:
        return None, []  # It diverged.
    with open(out["folder"] + "/metrics.jsonl", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    curve = [(x["at"], x["accuracy"]) for x in records if x["kind"] == "evaluation"]
    with open(out["folder"] + "/summary.json", encoding="utf-8") as file:
        reached = json.load(file)["reason"] == "the target is reached"
    return (out["virtual_seconds"] if reached else None), curve


def median_time(results):
    return statistics.median(x if x is not None else float("inf") for x, _ in results)


def draw(curves, target, path):
    """Accuracy over virtual minutes; a line per run."""
    wide, high, left, low = 640, 320, 56, 40
    last = max(t for runs in curves.values() for c in runs for t, _ in c) / 60
    styles = {"FedBuff": ("#0072b2", ""), "synchronous": ("#d55e00", ' stroke-dasharray="6 3"')}
    x = lambda t: left + (wide - left - 12) * t / 60 / last
    y = lambda a: 12 + (high - low - 12) * (1 - a / 0.9)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{wide}" height="{high}" fill="#fff"/>']
    for a in (0, 0.2, 0.4, 0.6, target):
        out.append(f'<path d="M{left} {y(a):.1f}H{wide - 12}" stroke="#ccc"/>'
                   f'<text x="{left - 6}" y="{y(a) + 4:.1f}" text-anchor="end">{a:.0%}</text>')
    for k in range(6):
        minutes = last * k / 5
        out.append(f'<text x="{x(minutes * 60):.1f}" y="{high - 22}" text-anchor="middle">'
                   f'{minutes:.0f}</text>')
    out.append(f'<text x="{wide / 2}" y="{high - 6}" text-anchor="middle">'
               'virtual minutes; test accuracy, five seeds each</text>')
    for k, (pace, runs) in enumerate(curves.items()):
        colour, dashes = styles[pace]
        for curve in runs:
            points = " ".join(f"{x(t):.1f},{y(a):.1f}" for t, a in curve)
            out.append(f'<polyline points="{points}" fill="none" stroke="{colour}"{dashes}/>')
        out.append(f'<path d="M{wide - 190} {190 + 20 * k}h30" stroke="{colour}" '
                   f'stroke-width="2"{dashes}/>'
                   f'<text x="{wide - 154}" y="{194 + 20 * k}">{pace}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


def main():
    troupe, picture = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        def runs_of(pace, rates, seeds):
            return list(pool.map(lambda s: run(troupe, folder, pace, rates, s), seeds))

        best, curves, medians = {}, {}, {}
        for pace in PACES:
            tuned = {}
            for rates in RATES:
                tuned[rates] = median_time(runs_of(pace, rates, TUNING))
                print(f"tuning {pace}: local {rates[0]}, server {rates[1]}: "
                      f"{tuned[rates]:.0f} s", file=sys.stderr)
            best[pace] = min(tuned, key=tuned.get)
            results = runs_of(pace, best[pace], SEEDS)
            curves[pace] = [c for _, c in results]
            times = [t if t is not None else float("inf") for t, _ in results]
            medians[pace] = statistics.median(times)
            print(f"| {pace} | {best[pace][0]} | {best[pace][1]} | {medians[pace]:.0f} s | "
                  f"{min(times):.0f} to {max(times):.0f} s |")
        draw(curves, 0.8, picture)
    ratio = medians["FedBuff"] / medians["synchronous"]
    print(f"ratio {ratio:.2f}, at most {BAR} is wanted")
    return 0 if ratio <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
