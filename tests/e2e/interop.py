"""Clients in Python that were written from docs/wire_format.md, in served runs: interop.py TROUPE.

One run has two clients of `troupe join` and two of Python. Another has Python's alone, whose
connections are cut and whose server is killed; one of them speaks as the first version did, and
one declines. Both are looked at in the ledger, by stock SQLite. A third server is told what a
newer or older client may say, as the page's "How it changes" has it.
"""

import collections
import contextlib
import json
import math
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

INTEROP = pathlib.Path(__file__).resolve().parent.parent / "interop"
sys.path.insert(0, str(INTEROP))
# pylint: disable=wrong-import-position
import link
import made_up
import wire
from client import Client, Process
from keys import Keys, read_line
from self_test import is_patient, is_tidy, read_golden, read_halves

CONFIG = """
name = "interop"
method = "fedavg"
ledger = "disk"
events = true
evaluate_every = 5
{length}
[data]
kind = "idx"
path = "{data}"
[clients]
clients = 4
clients_per_round = 4
[partition]
kind = "iid"
samples_per_client = 100
[pace]
{pace}
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.02
"""
CHANCE = math.log(made_up.CLASSES)


class Server:
    """A served run, that may be killed and started again."""

    def __init__(self, troupe, scratch, name, keys=("--insecure",), **how):
        self.troupe, self.scratch, self.name, self.keys = troupe, scratch, name, keys
        self.file = scratch / f"{name}.toml"
        self.file.write_text(CONFIG.format(data=scratch / "data", **how), encoding="utf-8")
        self.folder = self.address = None
        self.starts = 0
        self.start()

    def start(self):
        self.starts += 1
        self.log = self.scratch / f"{self.name}-{self.starts}.log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.troupe, "serve", self.folder or self.file, *self.keys,
                 "--folder", self.scratch / f"runs-{self.name}", "--format", "json"],
                stdout=subprocess.DEVNULL, stderr=log)
        self.address = self.wait_for(r"tcp://\S+")
        if not self.folder:
            (endpoint,) = (self.scratch / f"runs-{self.name}").glob("*/endpoint")
            self.folder = endpoint.parent

    def wait_for(self, pattern):
        for _ in range(600):
            found = re.search(pattern, self.log.read_text(encoding="utf-8"))
            if found:
                return found[0]
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
            time.sleep(0.1)
        raise AssertionError(f"the server says nothing like {pattern}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ended(self):
        assert self.process.wait(300) == 0, self.log.read_text(encoding="utf-8")
        return json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))

    def read(self, sql):
        with contextlib.closing(
                sqlite3.connect(f"file:{self.folder / 'ledger.sqlite'}?mode=ro", uri=True)) as x:
            return x.execute(sql).fetchall()


def check_merges(server, size, merged):
    """Versions have no gap and merge so many offers, each once, and those that clients know of."""
    ((head,),) = server.read("SELECT head FROM lines")
    rows = server.read("SELECT version, client, number FROM merges")
    sizes = collections.Counter(version for version, _, _ in rows)
    assert sizes == {version: size for version in range(1, head + 1)}, sizes
    found = collections.defaultdict(set)
    for _, client, number in rows:
        assert number not in found[client], f"visit {number} of {client} is merged twice"
        found[client].add(number)
    for client, numbers in merged.items():
        assert numbers <= found[client], f"{client}: {numbers - found[client]} are not merged"
        # It may end before it hears the last answers.
        assert len(found[client] - numbers) <= 2 * server.starts, found[client] - numbers
    return head, found


def mixed(troupe, scratch):
    """Two clients of ours and two of Python."""
    server = Server(troupe, scratch, "mixed", length="rounds = 20", pace='mode = "sync"')
    ours = subprocess.Popen([troupe, "join", server.address, "--insecure", "--virtual", "2",
                             "--data", scratch / "data"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    theirs = [subprocess.Popen([sys.executable, "-B", INTEROP / "client.py", server.address,
                                "--name", f"own {i}"], stdout=subprocess.PIPE)
              for i in range(2)]
    summary = server.ended()
    merged = {}
    for process in theirs:
        said = process.communicate(timeout=60)[0]
        assert process.returncode == 0, f"a client in Python ends with {process.returncode}"
        for client, counts in json.loads(said).items():
            merged[int(client)] = set(counts["merged"])
    assert ours.wait(60) == 0
    _, found = check_merges(server, 4, merged)
    assert len(merged) == 2 and all(len(found[x]) == 20 for x in merged), found
    assert summary["loss"] < CHANCE / 2, summary["loss"]
    print(f"mixed: the loss falls from {CHANCE:.3f} to {summary['loss']:.3f}")


class First(Client):
    """Says hello as the first version did."""

    def say(self, name, **fields):
        return self.link.say(self.number, name, fields, version=wire.KINDS[name].since)


class Reluctant(Client):
    """Declines some of what it is invited to."""

    def hear_invited(self, x, now):
        number = x["ticket"]["visit"]["number"]
        if number > self.newest and number % 10 == 3:
            self.newest = number
            self.counts["declined"] = self.counts.get("declined", 0) + 1
            self.decline(x["ticket"], random.choice(wire.DECLINES))
        else:
            super().hear_invited(x, now)


def alone(troupe, scratch):
    """Python's clients alone: their connections are cut, their server is killed."""
    server = Server(troupe, scratch, "alone", length="versions = 100",
                    pace='mode = "fedbuff"\nbuffer_size = 2\nconcurrency = 4')
    link.WINDOW = link.CHUNK_BYTES = 8 << 10
    processes = [Process(server.address, 60) for _ in range(2)]
    processes[0].join(2, "first", 100, First)
    processes[1].join(2, "second", 60, Reluctant)
    clients = [x for process in processes for x in process.clients.values()]
    deadline = time.monotonic() + 240
    cuts, at = dict.fromkeys(processes, 0), dict.fromkeys(processes, 0)
    while not all(x.over for x in clients):
        assert time.monotonic() < deadline, [x.counts for x in clients]
        for process in processes:
            visits = sum(x.counts["visits"] for x in process.clients.values())
            # In turn, as either goes on where it was.
            amid = process.link.is_amid_receiving if cuts[process] % 2 else process.link.is_amid_sending
            if visits >= at[process] and amid():
                cuts[process] += 1
                # Not so often that a visit fetches four times, which is the most that it may.
                at[process] = visits + random.randint(1, 3)
                process.link.dial()
            process.step()
        known = sum(len(x.merged) for x in clients)
        if server.starts <= 2 and known > 50 * server.starts:
            server.kill()
            server.start()
    for process in processes:
        process.part()
    summary = server.ended()
    assert {x.over[0] for x in clients} == {"finished"}, [x.over for x in clients]
    merged = {x.number: x.merged for x in clients}
    head, _ = check_merges(server, 2, merged)
    counts = collections.Counter()
    for x in clients:
        counts.update(x.counts)
    assert head == 100 and counts["declined"] > 0 and counts["hellos"] >= 12 + sum(cuts.values()), counts
    assert counts["unchanged"] > 0 and counts["held"] > 0, counts
    assert counts["malformed"] + counts["not_invited"] == 0, counts
    assert summary["loss"] < CHANCE / 2, summary["loss"]
    resumed = [sum(x.link.sending.resumed for x in processes),
               sum(x.link.receiving.resumed for x in processes)]
    assert min(resumed) > 0, resumed
    print(f"alone: {sum(cuts.values())} cuts, 2 kills, {resumed} transfers went on, {dict(counts)}, "
          f"loss {summary['loss']:.3f}")


def encrypted(troupe, scratch):
    """With keys: a process of ours, one of Python that is enrolled, and some who are not let in."""
    folder = scratch / "keys"

    def allow(public, name):
        subprocess.run([troupe, "keys", "allow", public, "--name", name, "--keys", folder,
                        "--numbers", "2"], check=True, stdout=subprocess.DEVNULL)

    store = scratch / "store"
    allow(subprocess.run([troupe, "keys", "new", "--keys", store], check=True, text=True,
                         stdout=subprocess.PIPE).stdout.strip(), "ours")
    server = Server(troupe, scratch, "encrypted", ("--keys", folder), length="rounds = 10",
                    pace='mode = "sync"')
    key = server.wait_for(r"tcp://\S+ [0-9a-f]{64}").split()[1]
    for wrong in ({}, {"prepare": Keys(bytes.fromhex(key)).prepare}):
        try:
            Process(server.address, 60, **wrong).join(1, "stranger", 10)
            raise AssertionError("a stranger is let in")
        except link.Refused:
            pass
    text = subprocess.run([troupe, "keys", "invite", "--name", "python", "--keys", folder,
                           "--numbers", "2"], check=True, text=True, stdout=subprocess.PIPE).stdout
    address, served, line = read_line(text.strip())
    assert (address, served.hex()) == (server.address, key), text
    own, other = Keys(served), Keys(served)
    assert Process(address, 60, prepare=line.prepare).enrol(own.public) == ""
    assert Process(address, 60, prepare=line.prepare).enrol(own.public) == "", "it may ask again"
    assert "used up" in Process(address, 60, prepare=line.prepare).enrol(other.public)
    process = Process(server.address, 60, prepare=own.prepare)
    try:
        process.join(3, "too many", 10)
        raise AssertionError("a key has more clients than it may")
    except SystemExit as x:
        assert "there is no place" in str(x), x
    process.join(2, "keyed", 100)
    ours = subprocess.Popen([troupe, "join", server.address, "--server", key, "--store", store,
                             "--virtual", "2", "--data", scratch / "data"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    assert process.run() == {"finished"}
    summary = server.ended()
    assert ours.wait(60) == 0
    check_merges(server, 4, {x.number: x.merged for x in process.clients.values()})
    assert summary["loss"] < CHANCE, summary["loss"]
    print(f"encrypted: the loss falls from {CHANCE:.3f} to {summary['loss']:.3f}")


class Caller:
    """Says single messages on a channel, and what is answered to each."""

    def __init__(self, address):
        self.link = link.Link(address)
        self.link.wait(60)
        terms = self.said(0, "terms_asked", {"lowest": 1, "highest": 1, "nonce": 1})
        self.layout = terms["layout"]

    def said(self, channel, name, fields, later=b"", **how):
        """The first answer, or nothing after a while."""
        kind = wire.KINDS[name]
        head = how.get("number", kind.number), how.get("version", kind.version), \
            how.get("since", kind.since)
        payload = wire.payload_of(name, fields, min(head[1], kind.version)) + later
        # Said again soon, it would be answered twice, and the second answer be taken for that of what comes next.
        until, again = time.monotonic() + how.get("patience", 60), 0.0
        while time.monotonic() < until:
            if time.monotonic() > again:
                again = time.monotonic() + 20
                self.link.say_payload(channel, head, payload)
            for heard, what, x in self.link.hear(50):
                if heard == channel and what in ("welcome", "farewell", "beat_answered",
                                                 "terms_given", "places_given"):
                    return {"name": what, **x}
        return {"name": "silence"}

    def hello(self, channel, lowest=1, highest=1, later=b"", **how):
        fields = {"lowest": lowest, "highest": highest, "client": channel, "incarnation": 1,
                  "layout": how.pop("layout", self.layout), "nonce": 70 + channel, "examples": 10}
        return self.said(channel, "hello", {**fields, **how.pop("fields", {})}, later, **how)


def changes(troupe, scratch):
    """Newer and older peers, as "How it changes" has it."""
    server = Server(troupe, scratch, "changes", length="rounds = 20", pace='mode = "sync"')
    say = Caller(server.address)
    soon = {"patience": 0.3}

    def refused(answer, reason, nonce):
        assert (answer["name"], wire.REASONS[answer.get("reason", 0)], answer["nonce"]) == (
            "farewell", reason, nonce), answer

    try:
        # Who has no place is no client.
        refused(say.hello(1), "refused", 71)
        asked = {"nonce": 6, "store": bytes(range(16)), "count": 4, "name": ""}
        assert say.said(0, "places_asked", asked)["clients"] == [1, 2, 3, 4]
        # Protocols: one of both sides is taken, and there may be none.
        assert say.hello(1, 0, 9)["protocol"] == 1
        refused(say.hello(2, 2, 9), "protocol", 72)
        answer = say.said(0, "terms_asked", {"lowest": 2, "highest": 9, "nonce": 5})
        assert (answer["protocol"], answer["nonce"]) == (0, 5), answer
        refused(say.hello(2, layout=bytes(32)), "layout", 72)
        # Versions: older ones, newer ones with more fields, and those that are not for us.
        assert say.hello(2, version=1)["name"] == "welcome"
        assert say.hello(2, version=2)["name"] == "welcome"
        assert say.hello(2, version=9, later=b"what is not known yet")["name"] == "welcome"
        assert say.hello(2, version=9, since=5, **soon)["name"] == "silence"
        assert say.hello(2, later=b"a rest", **soon)["name"] == "silence"
        assert say.hello(2, version=2, since=3, **soon)["name"] == "silence"
        # Kinds: what is not known, and what only a server says, ends no session.
        beat = {"client": 2, "session": 0}
        assert say.said(2, "beat", beat, number=0x0777, **soon)["name"] == "silence"
        ended = {"visit": {"client": 1, "number": 1}, "verdict": 0}
        assert say.said(2, "visit_ended", ended, **soon)["name"] == "silence"
        assert say.said(2, "beat", beat, version=7, later=b"more")["name"] == "beat_answered"
        assert say.said(2, "beat", beat, number=0x0777, version=7, **soon)["name"] == "silence"
        assert say.said(2, "beat", beat)["name"] == "beat_answered"
        # A channel is of one client, and without a hello there is no session.
        refused(say.hello(2, fields={"client": 3, "nonce": 5}), "refused", 5)
        refused(say.said(3, "beat", {"client": 3}), "no_session", 0)
        # Lives of one client: an older one is told which is here, or was.
        assert say.hello(4, fields={"incarnation": 5})["name"] == "welcome"
        older = say.hello(4, fields={"incarnation": 4})
        refused(older, "superseded", 74)
        assert older["superseded"] == 0, older
        assert say.said(4, "leave", {"client": 4}, **soon)["name"] == "silence"
        refused(say.said(4, "beat", {"client": 4}), "no_session", 0)
        older = say.hello(4, fields={"incarnation": 4})
        refused(older, "superseded", 74)
        assert older["superseded"] == 5, older
        assert say.hello(4, fields={"incarnation": 6})["name"] == "welcome"
        refused(say.hello(4, fields={"incarnation": 7 + 2**32}), "refused", 74)
        # Who chooses its own routing id, which may be another's, is not heard.
        chosen = link.Link(server.address, lambda socket: socket.setsockopt(link.zmq.IDENTITY, b"chosen"))
        try:
            chosen.wait(2)
            raise AssertionError("whoever chose its routing id is heard")
        except TimeoutError:
            chosen.close()
    finally:
        server.kill()
    print("changes: answered as the page says")


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    seed = int(os.environ.get("TROUPE_SEED", time.time()))
    random.seed(seed)
    print(f"seed {seed}")
    read_golden()
    read_halves()
    is_patient()
    is_tidy()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "data").mkdir()
        made_up.write(scratch / "data")
        try:
            for part in (mixed, encrypted, changes, alone):
                began = time.monotonic()
                part(troupe, scratch)
                print(f"  {time.monotonic() - began:.1f} s")
        except BaseException:
            for log in sorted([*scratch.glob("*.log"), *scratch.glob("runs-*/*/logs/run.log")]):
                print(f"== {log.name}\n{log.read_text(encoding='utf-8')[-4000:]}")
            raise


if __name__ == "__main__":
    main()
