"""A served run: a server and its joining processes, and the network between them (links.py)."""

import collections
import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import time

import links

BUFFER = 4
CLIENTS = 4
PROCESSES = (1, 2, 3)
CONFIG = """
name = "apart"
method = "fedavg"
time_budget = {seconds}
evaluate_every = 0
[data]
kind = "synthetic"
dimension = {dimension}
[clients]
clients = 12
[pace]
mode = "fedbuff"
buffer_size = {buffer}
concurrency = 12
# Who is behind a slow link is thousands of versions behind those on a fast machine.
staleness_max = 1000000
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 20
learning_rate = 0.01
"""


class TooBusy(AssertionError):
    """The run has not begun when it should have: there is no time left for what is to come in it."""


class Federation:
    """A server, its joining processes and the network between them."""

    def __init__(self, troupe, scratch, seed, *, seconds, spare, dimension):
        self.troupe = troupe
        self.scratch = scratch
        self.seconds = seconds
        self.spare = spare
        self.network = links.Network(len(PROCESSES), seed)
        self.server = None
        self.joined = {}
        self.clients = {}
        self.folder = None
        self.address = None
        self.kills = 0
        self.clocks = {}  # By place, 0 for the server: seconds by which they are wrong.
        (scratch / "run.toml").write_text(
            CONFIG.format(seconds=seconds, buffer=BUFFER, dimension=dimension), encoding="utf-8")

    def start(self, where, name, *arguments):
        with open(self.scratch / f"{name}.log", "a", encoding="utf-8") as log:
            return links.start(self.network.namespaces[where], [self.troupe, *arguments], stdout=log,
                               stderr=subprocess.STDOUT, env={**os.environ, "TROUPE_CLOCK_OFFSET":
                                                              str(self.clocks.get(where, 0))})

    def text(self, name):
        path = self.scratch / f"{name}.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def serve(self):
        """Returns once it listens."""
        before = self.text("server").count("tcp://")
        self.server = self.start(0, "server", "serve", self.folder or self.scratch / "run.toml",
                                 "--listen", self.address or f"tcp://{links.SERVER}:0",
                                 "--insecure=anywhere", "--folder", self.scratch / "runs")
        wait(lambda: self.text("server").count("tcp://") > before, 60, "the server listens")
        (endpoint,) = (self.scratch / "runs").glob("*/endpoint")
        self.folder = endpoint.parent
        self.address = endpoint.read_text(encoding="utf-8").strip()

    def join(self, k):
        self.joined[k] = self.start(
            k, f"join-{k}", "join", self.address, "--insecure=anywhere", "--virtual", str(CLIENTS),
            "--workers", "1", "--store", self.scratch / f"store-{k}")

    def begin(self):
        """Returns once visits of all are merged; in time for what is to come in the run."""
        self.serve()
        deadline = time.monotonic() + self.spare
        for k in PROCESSES:
            self.join(k)
        for k in PROCESSES:
            if not is_soon(lambda k=k: self.clients_of(k), deadline):
                raise TooBusy(f"process {k} has not joined")
            self.clients[k] = self.clients_of(k)
        for k in PROCESSES:
            if not is_soon(lambda k=k: self.merged(k), deadline):
                raise TooBusy(f"no visit of process {k} is merged")

    def clients_of(self, k):
        """As it says once it has them."""
        found = re.search(r"clients: (\d+) to (\d+)\n", self.text(f"join-{k}"))
        return found and range(int(found[1]), int(found[2]) + 1)

    def ledger(self, sql):
        return read(self.folder / "ledger.sqlite", sql)

    def instants(self):
        """Of the run's versions, as they were recorded."""
        with open(self.folder / "metrics.jsonl", encoding="utf-8") as f:
            return [json.loads(x)["at"] for x in f if x.endswith("\n")]

    def merged(self, *processes):
        """How many visits of their clients."""
        ids = [x for k in processes for x in self.clients[k]]
        return self.ledger(f"SELECT count(*) FROM merges WHERE client IN ({str(ids)[1:-1]})")[0][0]

    def moves(self, *processes, visits, most=60):
        """Waits until so many more of the visits of each are merged; returns seconds."""
        before, began = {k: self.merged(k) for k in processes}, time.monotonic()
        for k in processes:
            wait(lambda k=k: self.merged(k) >= before[k] + visits, most,
                 f"visits of process {k} are merged")
        return time.monotonic() - began

    def rate(self, *processes, seconds):
        """Visits a second of these processes."""
        before, began = self.merged(*processes), time.monotonic()
        time.sleep(seconds)
        return (self.merged(*processes) - before) / (time.monotonic() - began)

    def back(self, k, since, most):
        """Seconds from then until something passed both ways."""
        wait(lambda: self.network.tell()[k - 1]["back_at"], most, f"process {k} is back")
        return self.network.tell()[k - 1]["back_at"] - since

    def heal(self, *processes):
        """The instant from which packets pass again."""
        for k in processes:
            self.network.tell(k, cut=False, mark=True)
        return time.monotonic()

    def kill_server(self):
        self.kills += 1
        self.server.kill()
        self.server.wait()

    def serve_again(self):
        """Seconds until all are back, whose visits are then merged again."""
        self.network.tell(mark=True)
        self.serve()
        since = time.monotonic()
        last = max(self.back(k, since, 60) for k in PROCESSES)
        self.moves(*PROCESSES, visits=1)
        return last

    def freeze_server(self, seconds):
        self.server.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.server.send_signal(signal.SIGCONT)

    def end(self, away=()):
        """The run's time is over soon; all hear it, and what is left is right."""
        wait(lambda: self.server.poll() is not None, self.seconds + 60, "the run ends")
        began = time.monotonic()
        assert self.server.returncode == 0, f"the server ends with {self.server.returncode}"
        for k, process in self.joined.items():
            if k not in away:
                wait(lambda p=process: p.poll() is not None, 60, f"process {k} hears the end")
                assert process.returncode == 0, f"process {k} ends with {process.returncode}"
        self.check()
        return time.monotonic() - began

    def check(self):
        ((line, head),) = self.ledger("SELECT line, head FROM lines")
        twice = self.ledger("SELECT client, number FROM merges"
                            " GROUP BY client, number HAVING count(*) > 1")
        assert not twice, f"in two versions: {twice[:5]}"
        sizes = collections.Counter(self.ledger("SELECT line, version FROM merges"))
        assert sizes == {(line, v + 1): BUFFER for v in range(head)}, f"versions of {sizes}"
        with open(self.folder / "metrics.jsonl", encoding="utf-8") as f:
            told = [x for x in map(json.loads, f) if x["kind"] == "version"]
        assert all(x["merged"] == BUFFER for x in told), "metrics tell of other sizes"
        found = [x["version"] for x in told]
        assert found == sorted(set(found)) and found[-1] == head, "metrics tell other versions"
        # A killed server takes the last lines of its record with it.
        assert self.kills or len(found) == head, f"metrics tell of {len(found)} of {head}"
        self.check_stores()

    def check_stores(self):
        known = {}
        for store in self.scratch.glob("store-*/run-*/clients.sqlite"):
            known |= dict(read(store, "SELECT client, last FROM clients"))
        assert len(known) == CLIENTS * len(PROCESSES), f"clients of the stores: {sorted(known)}"
        for client, last in self.ledger("SELECT client, max(number) FROM merges GROUP BY client"):
            assert last <= known[client], f"client {client} has forgotten {last}"

    def close(self):
        for process in [self.server, *self.joined.values()]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.network.close()

    def logs(self):
        return "".join(f"== {path.name}\n{path.read_text(encoding='utf-8')[-1500:]}\n"
                       for path in sorted(self.scratch.glob("*.log")))


def read(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as ledger:
        return ledger.execute(sql).fetchall()


def is_soon(is_so, deadline):
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def wait(is_so, most, what):
    if not is_soon(is_so, time.monotonic() + most):
        raise AssertionError(f"not within {most} s: {what}")
