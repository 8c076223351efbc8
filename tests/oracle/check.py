#!/usr/bin/env python3
"""Computes runs a second time, from the publications and in double precision, and compares.

  check.py EXECUTABLE               all runs
  check.py EXECUTABLE --quick       those of the gate
  check.py EXECUTABLE --only NAME   those whose name contains NAME
  check.py EXECUTABLE --seeds N     each run with so many seeds
  check.py EXECUTABLE --self-test   plants errors in the oracle: each must be seen
  check.py … --planted ERROR …      compares with some of them"""

import argparse
import os
import sys
import tempfile

try:
    import numpy
except ImportError:
    # Another Python may come first where the system's has the package.
    system = "/usr/bin/python3"
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system, "-B", *sys.argv])
    sys.exit("numpy is missing: ./dev setup installs it")

import planted
from cases import CASES
from replay import Replay

LEAST_BOUNDED = 0.5  # Of what is compared; a run of which less has a bound says nothing.
DRAWS = 3            # For a run whose clients chose too narrowly, the next ones are made.


def compared(case, record):
    """All differences, of single steps and of the whole run."""
    whole = [Replay(case.method, case.config(), record, anchored) for anchored in (True, False)]
    for x in whole:
        x.run()
    return whole


def largest(replays):
    return max((d for x in replays for d in x.differences), key=lambda d: d.parts)


def bounded(replays):
    """How much of what is compared could differ: of what clients have learned, if any learns."""
    found = [d for x in replays for d in x.differences]
    return float(numpy.mean([d.bounded for d in found if d.learned] or [d.bounded for d in found]))


def speaks(replays):
    return bounded(replays) >= LEAST_BOUNDED


def replayed(case, executable, folder):
    """The first of some draws of which most is bounded, or the last one."""
    for by in range(DRAWS):
        drawn = case.later(100 * by)
        replays = compared(drawn, drawn.make(executable, folder))
        if speaks(replays) or not largest(replays).fine:
            break
    return replays


def compare(executable, cases, folder):
    wrong = 0
    for case in cases:
        try:
            replays = replayed(case, executable, folder)
        except (RuntimeError, LookupError) as why:
            wrong += 1
            print(f"FAILED  {case.name}: {why}", flush=True)
            continue
        worst = [largest([x]) for x in replays]
        fine = all(x.fine for x in worst)
        verdict = "DIFFERS" if not fine else "equal  " if speaks(replays) else "SILENT "
        wrong += verdict != "equal  "
        print(f"{verdict} {case.name:28} {len(replays[0].trained):3} visits "
              f"{replays[0].merges:3} merges  step {worst[0].relative:.1e} ({worst[0].what})  "
              f"run {worst[1].relative:.1e} ({worst[1].what})  "
              f"bounded {100 * bounded(replays):.0f}%", flush=True)
        if not fine:
            for x, kind in zip(replays, ("step", "run")):
                off = [f"{d.what}: {d.relative:.2e}" for d in x.differences if not d.fine]
                print(f"        {kind}: {', '.join(off[:8])}")
    print(f"{len(cases)} runs, {wrong} differ or say nothing")
    return wrong


def see_errors(executable, cases, folder):
    """Each planted error makes its run differ, which is equal without it; or say nothing, where it is
    one of those that would let everything pass."""
    by_name, records, missed = {x.name: x for x in cases}, {}, 0
    errors = [(error, what, name) for error, (what, *names) in planted.ERRORS.items()
              for name in names if name in by_name]
    for error, what, name in errors:
        for by in range(DRAWS):
            case = by_name[name].later(100 * by)
            if (name, by) not in records:
                records[name, by] = case.make(executable, folder)
            before = compared(case, records[name, by])
            planted.active ^= {error}
            after = compared(case, records[name, by])
            planted.active ^= {error}
            if speaks(after) or not largest(after).fine or error in planted.OF_BOUNDS:
                break
        fine, worst = largest(before).fine and speaks(before), largest(after)
        seen = fine and not (speaks(after) if error in planted.OF_BOUNDS else worst.fine)
        missed += not seen
        print(f"{'seen  ' if seen else 'MISSED'} {error:26} {what}: {name}, {worst.what} "
              f"{worst.relative:.1e}, bounded {100 * bounded(after):.0f}%"
              + ("" if fine else "; it differs or says nothing without"), flush=True)
    print(f"{len(errors)} errors, {missed} missed")
    return missed


def main():
    reader = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("executable")
    reader.add_argument("--quick", action="store_true")
    reader.add_argument("--only", default="")
    reader.add_argument("--seeds", type=int, default=1)
    reader.add_argument("--self-test", action="store_true")
    reader.add_argument("--planted", choices=planted.ERRORS, metavar="ERROR", nargs="+",
                        default=[])
    said = reader.parse_args()
    planted.active = set(said.planted)
    cases = [x for x in CASES if said.only in x.name and (x.quick or not said.quick)]
    executable = os.path.abspath(said.executable)
    work, wrong = see_errors if said.self_test else compare, 0
    for by in range(said.seeds):
        with tempfile.TemporaryDirectory() as folder:
            wrong += work(executable, [x.later(by) for x in cases], folder)
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
