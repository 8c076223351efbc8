"""Kills the server and the clients of a served run, again and again, and looks at what is left.

Usage: wire_kills.py TROUPE [KILLS] [SEED]

A server with its ledger on disk and three joining processes with stores, killed with SIGKILL at
random instants and started again. The witnesses are the ledger, read by stock SQLite, and the
clients' stores: versions have no gap and merge as many offers as they should, no visit is in two
versions, no client has forgotten a visit that is merged, and hardly an offer is unanswered when the run ends.
"""

import collections
import contextlib
import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

BUFFER = 5
CONFIG = """
name = "killed"
method = "{method}"
versions = {versions}
evaluate_every = 0
[data]
kind = "synthetic"
dimension = 1000
[clients]
clients = 30
[pace]
mode = "fedbuff"
buffer_size = {buffer}
concurrency = 12
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 20
learning_rate = 0.01
"""


class Run:
    """A server and its joining processes."""

    def __init__(self, troupe, scratch, text):
        self.troupe = troupe
        self.scratch = scratch
        (scratch / "run.toml").write_text(text, encoding="utf-8")
        self.server = None
        self.clients = [None] * 3
        self.folder = None
        self.address = None
        self.starts = 0

    def log(self, name):
        self.starts += 1
        return open(self.scratch / f"{self.starts:03}-{name}.log", "w", encoding="utf-8")

    def serve(self):
        """Returns once it listens, or has ended."""
        first = self.folder is None
        log = self.log("server")
        self.server = subprocess.Popen(
            [self.troupe, "serve", self.folder or self.scratch / "run.toml", "--insecure",
             "--folder", self.scratch / "runs", "--format", "json"],
            stdout=self.log("summary"), stderr=log)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.server.poll() is None:
            if "tcp://" in pathlib.Path(log.name).read_text(encoding="utf-8"):
                if first:
                    (endpoint,) = (self.scratch / "runs").glob("*/endpoint")
                    self.folder = endpoint.parent
                    self.address = endpoint.read_text(encoding="utf-8").strip()
                return
            time.sleep(0.005)
        if self.server.poll() is None:
            raise AssertionError("the server does not listen")

    def join(self, i):
        self.clients[i] = subprocess.Popen(
            [self.troupe, "join", self.address, "--insecure", "--virtual", "10", "--workers", "1",
             "--store", self.scratch / f"store-{i}"],
            stdout=self.log(f"join-{i}"), stderr=subprocess.STDOUT)

    def close(self):
        for process in [self.server, *self.clients]:
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def logs(self):
        return "".join(f"== {path.name}\n{path.read_text(encoding='utf-8')[-600:]}\n"
                       for path in sorted(self.scratch.glob("*.log"))[-16:])


def kill(process):
    process.kill()
    process.wait()


def head_of(run):
    return min(head for head, in read(run.folder / "ledger.sqlite", "SELECT head FROM lines"))


def play(run, kills, draw, hits):
    """Kills until it is enough, and lets the run end."""
    run.serve()
    for i in range(3):
        run.join(i)
    deadline = time.monotonic() + 60
    while not head_of(run) and time.monotonic() < deadline:
        time.sleep(0.05)
    for _ in range(kills):
        time.sleep(draw.uniform(0.0, 0.4))
        if run.server.poll() is not None:
            break
        what = draw.choice(["server", "server", "clients", "both", "recovery"])
        hits[what] += 1
        i = draw.randrange(3)
        if what in ("clients", "both"):
            kill(run.clients[i])
        if what != "clients":
            kill(run.server)
            run.serve()
        if what == "recovery":
            time.sleep(draw.uniform(0.0, 0.1))
            kill(run.server)
            run.serve()
        if what in ("clients", "both"):
            run.join(i)
    assert run.server.wait(240) == 0, "the server fails"
    for i, process in enumerate(run.clients):
        with contextlib.suppress(subprocess.TimeoutExpired):
            assert process.wait(10) == 0, f"clients {i} end with {process.returncode}"
            continue
        # It came back when the run was over already, and waits for a server.
        process.terminate()
        assert process.wait(20) == 130, f"clients {i} end with {process.returncode}"


def read(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as ledger:
        return ledger.execute(sql).fetchall()


def check_ledger(ledger):
    """Returns what was merged, by client."""
    heads = dict(read(ledger, "SELECT line, head FROM lines"))
    twice = read(ledger, "SELECT line, client, number, count(*) FROM merges"
                         " GROUP BY line, client, number HAVING count(*) > 1")
    assert not twice, f"in two versions: {twice[:5]}"
    sizes = collections.Counter()
    merged = collections.defaultdict(set)
    for line, version, client, number in read(ledger, "SELECT * FROM merges"):
        sizes[line, version] += 1
        merged[client].add(number)
    for line, head in heads.items():
        found = [sizes.pop((line, version), 0) for version in range(1, head + 1)]
        assert set(found) <= {BUFFER}, f"line {line} has versions of {sorted(set(found))} offers"
    assert not sizes, f"versions beyond the head: {list(sizes)[:5]}"
    return heads, merged


def check_stores(run, merged):
    known = {}
    for i in range(3):
        (store,) = (run.scratch / f"store-{i}").glob("run-*/clients.sqlite")
        # Who hears that the run is over waits for no more answers.
        left = read(store, "SELECT client, count(*) FROM offers GROUP BY client")
        assert all(n <= 2 for _, n in left), f"store {i} has offers without an answer: {left}"
        for client, last in read(store, "SELECT client, last FROM clients"):
            assert client not in known, f"client {client} is in two stores"
            known[client] = last
    assert sorted(known) == list(range(1, 31)), sorted(known)
    for client, numbers in merged.items():
        assert max(numbers) <= known[client], f"client {client} has forgotten {max(numbers)}"
    return known


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    hits = collections.Counter()
    print(f"seed {seed}")
    for method in ("fedavg", "scaffold"):
        draw = random.Random(f"{seed} {method}")
        with tempfile.TemporaryDirectory() as name:
            run = Run(troupe, pathlib.Path(name),
                      CONFIG.format(method=method, buffer=BUFFER, versions=10 * kills))
            try:
                play(run, kills // 2, draw, hits)
                heads, merged = check_ledger(run.folder / "ledger.sqlite")
                check_stores(run, merged)
            except BaseException:
                print(run.logs())
                raise
            finally:
                run.close()
        print(f"{method}: heads {heads}, {sum(map(len, merged.values()))} visits merged")
    print(json.dumps(hits))
    missing = {"server", "clients", "both", "recovery"} - set(hits)
    assert kills < 20 or not missing, f"nothing was killed as {missing}"


if __name__ == "__main__":
    main()
