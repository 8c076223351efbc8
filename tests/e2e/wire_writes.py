"""How often a joining process syncs, and what it writes for a visit, counted by its system calls.

Usage: wire_writes.py TROUPE

Clients of one process share syncs: twelve that are invited together have far fewer than twelve times those of one. And a
visit writes 1.1 times its offer and what changed of its client's state, and 64 KiB, at most. Exit code 77: tracing is not
allowed here.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from wire_syncs import end, may_trace, tracer

CONFIG = """
name = "writes"
method = "{method}"
rounds = {rounds}
evaluate_every = 0
[data]
kind = "synthetic"
dimension = {dimension}
[clients]
clients = {clients}
clients_per_round = {clients}
expected = {clients}
[model]
kind = "mlp"
hidden = [{hidden}]
[training]
local_epochs = 1
batch_size = 20
learning_rate = 0.01
"""
TRACED = "fsync,fdatasync,write,writev,pwrite64,pwritev"
CALL = re.compile(r"^(\d+) +(\w+)\(\d+<([^>]*)>.*?(?:\) += (-?\d+).*|<unfinished \.\.\.>)$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>.*\) += (-?\d+)")
ROUNDS = 8
TOGETHER = 12
OVERHEAD = 64 << 10


def calls_in(trace):
    """(name, path, what it returned) of each call on a file."""
    begun = {}
    for line in trace:
        if found := RESUMED.match(line):
            pid, name, result = found.groups()
            if (pid, name) in begun:
                yield name, begun.pop((pid, name)), int(result)
        elif found := CALL.match(line):
            pid, name, path, result = found.groups()
            if result is None:
                begun[pid, name] = path
            else:
                yield name, path, int(result)


class Counted:
    """What a process did in its store, over a run."""

    def __init__(self, troupe, scratch, **size):
        self.scratch, self.store = scratch, scratch / "store"
        (scratch / "run.toml").write_text(CONFIG.format(**size), encoding="utf-8")
        self.summary = self.play(troupe, size["clients"])
        self.visits = size["rounds"] * size["clients"]
        assert self.summary["visits"] == self.visits, self.summary
        self.syncs, self.written = 0, collections.Counter()
        with open(scratch / "trace", encoding="utf-8", errors="replace") as trace:
            for name, path, result in calls_in(trace):
                self.count(name, pathlib.Path(path), result)

    def count(self, name, path, result):
        if not any(x.name.startswith("run-") for x in (path, *path.parents)) or self.store not in path.parents:
            return
        if "sync" in name:
            self.syncs += 1
        elif result > 0:
            self.written[path.name.split("-")[0]] += result

    def play(self, troupe, clients):
        words, out = self.scratch / "server.log", self.scratch / "summary.json"
        with open(words, "w", encoding="utf-8") as log, open(out, "w", encoding="utf-8") as said:
            server = subprocess.Popen([troupe, "serve", self.scratch / "run.toml", "--insecure", "--format", "json",
                                       "--folder", self.scratch / "runs"], stdout=said, stderr=log)
        joined = None
        try:
            until = time.monotonic() + 60
            while not (found := re.search(r"^tcp://\S+", words.read_text(encoding="utf-8"), re.MULTILINE)):
                assert server.poll() is None and time.monotonic() < until, words.read_text(encoding="utf-8")
                time.sleep(0.02)
            joined = subprocess.Popen(
                [*tracer(), "-y", "-s", "0", "-o", self.scratch / "trace", "-e", f"trace={TRACED}", troupe, "join",
                 found[0], "--insecure", "--virtual", str(clients), "--workers", "1", "--store", self.store],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            assert (server.wait(200), joined.wait(60)) == (0, 0), words.read_text(encoding="utf-8")
        finally:
            if server.poll() is None:
                server.kill()
            end(joined)
        return json.loads(out.read_text(encoding="utf-8"))


def in_scratch(troupe, **size):
    with tempfile.TemporaryDirectory() as name:
        found = Counted(troupe, pathlib.Path(name).resolve(), **size)
        found.states = [x.stat().st_size for x in found.store.glob("run-*/state-*")]
        return found


def syncs_are_shared(troupe):
    small = {"method": "fedavg", "rounds": ROUNDS, "dimension": 20, "hidden": 10}
    one = in_scratch(troupe, clients=1, **small).syncs
    many = in_scratch(troupe, clients=TOGETHER, **small).syncs
    print(f"{one / ROUNDS:.1f} syncs for a visit alone, {many / ROUNDS:.1f} for {TOGETHER} together")
    assert one >= ROUNDS, "a visit needs a sync at least"
    assert 2 * many < TOGETHER * one, f"{many} syncs of {TOGETHER} clients, {one} of one"


def little_is_written(troupe):
    """Of a method that has a state of its own beside what it offers; all of it changes in each visit."""
    found = in_scratch(troupe, method="scaffold", rounds=6, clients=3, dimension=100, hidden=1000)
    assert len(found.states) == 3, f"states of {found.states} bytes"
    offer, state = found.summary["bytes_up"] / found.visits, max(found.states)
    written = sum(found.written.values()) / found.visits
    most = 1.1 * (offer + state) + OVERHEAD
    print(f"a visit writes {written:.0f} bytes, for an offer of {offer:.0f} and a state of {state}: {dict(found.written)}")
    assert state > OVERHEAD and written > offer + state, "this is not what a visit keeps"
    assert written <= most, f"a visit writes {written:.0f} bytes, {most:.0f} would do"


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    if why := may_trace():
        print(f"skipped: {why}")
        sys.exit(1 if os.environ.get("TROUPE_NO_SKIPS") else 77)
    syncs_are_shared(troupe)
    little_is_written(troupe)


if __name__ == "__main__":
    main()
