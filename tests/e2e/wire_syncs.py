"""What a served run says is on the disk first: a kill does not test that, a trace of system calls does.

Usage: wire_syncs.py TROUPE

The server and a joining process run under strace. At each thing that leaves a socket, the folder is as a loss of power
would leave it (synced_folder.py), and must hold what was said. Exit code 77: tracing is not allowed here.
"""

import collections
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from synced_folder import TRACED, Ledger, Trace

CONFIG = """
name = "synced"
method = "fedavg"
durability = "{durability}"
keep_offers = true
versions = 12
evaluate_every = 0
[data]
kind = "synthetic"
dimension = {dimension}
[clients]
clients = 6
[pace]
mode = "fedbuff"
buffer_size = 3
concurrency = 4
[model]
kind = "mlp"
hidden = [{hidden}]
[training]
local_epochs = 1
batch_size = 20
learning_rate = 0.01
"""
ACCEPTED = 0
# What goes in pieces of 8 KiB at most and stands in rows, and what goes in chunks and has files of its own, which a server
# may hold durably as well.
SMALL, LARGE = {"dimension": 20, "hidden": 10}, {"dimension": 100, "hidden": 300}
SIZES = ({**SMALL, "durability": "offer"}, {**LARGE, "durability": "version"}, {**LARGE, "durability": "offer"})


def frames_in(data):
    for at in (x.start() for x in re.finditer(b"TRP1", data)):
        if len(data) >= at + 24:
            kind, _, _, _, _, size = struct.unpack_from("<HBBHHI", data, at + 4)
            yield kind, data[at + 24:at + 24 + size]


MORE = 1  # Of ZMTP: another part follows.


def transfers_in(data):
    """Kind and channel of what begins."""
    for at in (x.start() for x in re.finditer(b"TRPL\x03", data)):
        if len(data) >= at + 44:
            channel = struct.unpack_from("<I", data, at + 12)[0]
            # The body is behind the head, or a part of its own, and a short one: its flags and size come first.
            body = at + (42 if at >= 2 and data[at - 2] & MORE else 40)
            yield struct.unpack_from("<H", data, body)[0], channel


class Laws:
    """What must be kept before it is said, by one of both."""

    def __init__(self, folder):
        self.trace = Trace(self.sent)
        self.folder = folder
        self.seen = collections.Counter()
        self.wrong = []

    def need(self, holds, what):
        if not holds:
            self.wrong.append(f"{what} is said before it is synced")

    def sent(self, data):
        for kind, payload in frames_in(data):
            if hear := getattr(self, f"on_{kind:04x}", None):
                self.seen[hear.__doc__] += 1
                hear(payload)
        for kind, channel in transfers_in(data):
            if hear := getattr(self, f"on_began_{kind:04x}", None):
                self.seen[hear.__doc__] += 1
                hear(channel)

    def need_file(self, path):
        self.need(str(path) in self.trace.synced and str(path) in self.trace.named, f"what needs {path.name}")


class ServerLaws(Laws):
    def __init__(self, folder):
        super().__init__(folder)
        self.ledger = Ledger(self.trace, folder / "ledger.sqlite")

    def need_kept(self, client, number):
        names = [x for x in self.trace.synced if pathlib.Path(x).parent == self.folder / "offers"
                 and pathlib.Path(x).name.startswith(f"{client}-{number}-")]
        self.need(any(x in self.trace.named for x in names), f"what needs the kept offer {client}-{number}")

    def on_0102(self, payload):
        """offer_answered"""
        client, number, line, verdict = struct.unpack_from("<QQQB", payload)
        if verdict == ACCEPTED:
            self.seen["accepted"] += 1
            self.need_kept(client, number)
            self.need((line, client, number) in self.ledger.ask("SELECT line, client, number FROM merges"),
                      f"accepted of visit {client, number}")
            for name, in self.ledger.ask("SELECT content FROM contents WHERE bytes IS NULL"):
                self.need_file(self.folder / "versions" / name)

    def on_0103(self, payload):
        """offer_held"""
        client, number, line, durable = struct.unpack_from("<QQQB", payload)
        if durable and (line, client, number) not in self.ledger.ask("SELECT line, client, number FROM merges"):
            self.seen["a durable offer_held"] += 1
            self.need_kept(client, number)
            self.need_file(self.folder / "arrivals" / f"{line}-{client}-{number}")

    def on_0201(self, payload):
        """invited"""
        client, number = struct.unpack_from("<QQ", payload)
        upto = dict(self.ledger.ask("SELECT client, numbers_upto FROM clients"))
        self.need(number <= upto.get(client, 0), f"visit {client, number}, of numbers up to {upto.get(client)},")

    def on_000a(self, payload):
        """places_given"""
        count = struct.unpack_from("<I", payload, 8)[0]
        clients = struct.unpack_from(f"<{count}Q", payload, 12)
        path = str(self.folder / "processes.json")
        kept = json.loads(self.trace.synced.get(path, b"{}") or b"{}").get("processes", {})
        self.need(any(set(clients) <= set(numbers) for numbers in kept.values()), f"a lease of {clients}")
        self.need(path in self.trace.named, "the name of processes.json")


class ClientLaws(Laws):
    def __init__(self, folder):
        super().__init__(folder)
        self.store = Ledger(self.trace, folder / "clients.sqlite")

    def has_begun(self, payload, what):
        client, number = struct.unpack_from("<QQ", payload)
        last = dict(self.store.ask("SELECT client, last FROM clients"))
        self.need(number <= last.get(client, -1), f"{what} of visit {client, number}")
        return client, number

    def on_0001(self, payload):
        """hello"""
        client, incarnation = struct.unpack_from("<QQ", payload, 4)
        self.need((client, incarnation) in self.store.ask("SELECT client, incarnation FROM clients"),
                  f"incarnation {incarnation} of client {client}")

    def on_0101(self, payload):
        """offer_made"""
        client, number = self.has_begun(payload, "an offer")
        self.need((client, number) in self.store.ask("SELECT client, number FROM offers WHERE body IS NOT NULL"),
                  f"the offer of visit {client, number}")

    def on_began_0101(self, client):
        """a large offer_made"""
        rows = [x for x in self.store.ask("SELECT client, number, body IS NULL FROM offers") if x[0] == client]
        self.need(rows, f"a large offer of client {client}")
        for _, number, in_file in rows:
            if in_file:
                self.need_file(self.folder / f"offer-{client}-{number}")

    def on_0202(self, payload):
        """fetch_requested"""
        self.has_begun(payload, "a fetch")

    def on_0205(self, payload):
        """visit_declined"""
        self.has_begun(payload, "a decline")


@functools.cache
def tracer():
    """How a command is traced: where it can be had, it stops at those calls alone that are asked for."""
    quick = ["strace", "-f", "--seccomp-bpf"]
    tried = subprocess.run([*quick, "-o", "/dev/null", "-e", "trace=fsync", "true"], capture_output=True, check=False)
    return quick if tried.returncode == 0 else quick[:-1]


def strace(output, command, **options):
    return subprocess.Popen([*tracer(), "-y", "-xx", "-s", "20000", "-o", output, "-e", f"trace={TRACED}", *command],
                            start_new_session=True, **options)


def end(traced):
    """Who is traced lives on when strace alone is killed."""
    if traced and traced.poll() is None:
        os.killpg(traced.pid, signal.SIGKILL)
        traced.wait()


def may_trace():
    if not shutil.which("strace"):
        return "there is no strace here"
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.decode()[-200:].strip()}"


def play(troupe, scratch, size):
    """Returns the folders of the run and of the store."""
    (scratch / "run.toml").write_text(CONFIG.format(**size), encoding="utf-8")
    words = scratch / "server.log"
    with open(words, "w", encoding="utf-8") as log:
        server = strace(scratch / "server.trace", [troupe, "serve", scratch / "run.toml", "--insecure", "--folder",
                                                   scratch / "runs"], stdout=log, stderr=log)
    client = None
    try:
        until = time.monotonic() + 60
        while not (endpoints := list((scratch / "runs").glob("*/endpoint"))):
            assert server.poll() is None and time.monotonic() < until, words.read_text()
            time.sleep(0.1)
        client = strace(scratch / "client.trace", [troupe, "join", endpoints[0].read_text().strip(), "--insecure",
                                                   "--virtual", "6", "--store", scratch / "store"],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert server.wait(200) == 0, words.read_text()
        assert client.wait(60) == 0
    finally:
        for one in (server, client):
            end(one)
    (store,) = (scratch / "store").glob("run-*")
    return endpoints[0].parent, store


def judge(laws, trace, wanted):
    with open(trace, encoding="utf-8") as lines:
        laws.trace.follow(lines)
    print(f"{trace.name}: {laws.trace.calls} calls, {laws.trace.syncs} syncs, {dict(laws.seen)}")
    assert not laws.wrong, f"{len(laws.wrong)} said too early: {laws.wrong[:5]}"
    assert not wanted - set(laws.seen), f"not seen: {wanted - set(laws.seen)}"


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    if why := may_trace():
        print(f"skipped: {why}")
        sys.exit(1 if os.environ.get("TROUPE_NO_SKIPS") else 77)
    for size in SIZES:
        offer = "offer_made" if size["hidden"] == SMALL["hidden"] else "a large offer_made"
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            run, store = play(troupe, scratch, size)
            held = {"a durable offer_held"} if size["durability"] == "offer" else {"offer_held"}
            judge(ServerLaws(run), scratch / "server.trace", {"accepted", "invited", "places_given"} | held)
            judge(ClientLaws(store), scratch / "client.trace", {"hello", offer, "fetch_requested"})


if __name__ == "__main__":
    main()
