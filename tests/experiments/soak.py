#!/usr/bin/env python3
"""A million visits in one run: does memory stay where it is, does a visit cost
what it cost, are the files in the folder as many as before?

    tests/experiments/soak.py build/release/troupe [VISITS]

Memory and CPU are the process's own, read at a tenth, at half and at the end.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

CONFIG = """
name = "soak"
method = "scaffold"
updates = {visits}
evaluate_every = 100
snapshot_seconds = 1
workers = 1
[data]
kind = "quadratic"
dimension = 100
[model]
kind = "quadratic"
[clients]
clients = 1000
[pace]
mode = "fedbuff"
buffer_size = 20
concurrency = 100
[training]
local_steps = 1
batch_size = 0
learning_rate = 0.05
[devices]
seconds_per_step = 0.1
speed = {{ kind = "lognormal", sigma = 0.5 }}
[availability]
kind = "windows"
share = 0.7
period = 3600
"""


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return 0


def look(pid, folder, visits):
    files = [x for x in folder.rglob("*") if x.is_file()]
    return {
        "visits": visits,
        "cpu": cpu_seconds(pid),
        "memory": resident(pid),
        "files": len(files),
        "ledger": sum(x.stat().st_size for x in files
                      if "ledger" in x.name or x.parent.name == "versions"),
        "records": sum(x.stat().st_size for x in files if x.suffix == ".jsonl"),
    }


def main():
    troupe = os.path.realpath(sys.argv[1])
    visits = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    marks = [visits // 10, visits // 2, visits * 98 // 100]
    with tempfile.TemporaryDirectory() as scratch:
        config = pathlib.Path(scratch, "soak.toml")
        config.write_text(CONFIG.format(visits=visits))
        run = subprocess.Popen([troupe, "run", str(config), "--folder", scratch + "/runs"],
                               stdout=subprocess.DEVNULL)
        seen = []
        while run.poll() is None and marks:
            time.sleep(0.5)
            for status in pathlib.Path(scratch, "runs").glob("*/status.json"):
                try:
                    done = json.loads(status.read_text())["visits"]
                except (ValueError, KeyError):
                    continue
                if done >= marks[0]:
                    marks.pop(0)
                    seen.append(look(run.pid, status.parent, done))
                    print(json.dumps(seen[-1]), flush=True)
        if run.wait() != 0 or marks:
            sys.exit(f"the run ended with {run.returncode} before {marks} visits")
    first, middle, last = seen
    growth = last["memory"] / first["memory"] - 1
    early = (middle["cpu"] - first["cpu"]) / (middle["visits"] - first["visits"])
    late = (last["cpu"] - middle["cpu"]) / (last["visits"] - middle["visits"])
    print(f"memory {100 * growth:+.2f} %, CPU per visit {1e6 * early:.1f} us before the half and"
          f" {1e6 * late:.1f} us after it, files {first['files']} and {last['files']}")
    holds = growth < 0.01 and late < 1.1 * early and last["files"] <= first["files"] + 2
    sys.exit(0 if holds else "it does not hold")


if __name__ == "__main__":
    main()
