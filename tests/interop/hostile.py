"""Strangers beside honest clients: hostile.py TROUPE [FRAMES] [FRAMES WITH KEYS] [SEED]

A served run of four clients, three of `troupe join` and one of Python, is made three times: alone,
and twice with strangers who say so many mutated pieces and frames over connections of their own,
and with the client in Python saying some on its own channel. All runs must come to the same
digest, and the server may not grow. The third one is encrypted, and the strangers have keys that
are allowed: they say again what a client said in its hello, too. Without keys that ends its
session (docs/security.md, "Who is who"), and nobody does.
"""

import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import made_up
import wire
from client import Client, Process
from keys import Keys
from strangers import Corpus, Stranger, crowd, flipped, without_keys

ROUNDS = 20
STRANGERS = 8
CROWD = 300
GROWTH_MB = 64
CONFIG = f"""
name = "hostile"
method = "fedavg"
rounds = {ROUNDS}
evaluate_every = 0
[data]
kind = "idx"
path = "DATA"
[clients]
clients = 4
clients_per_round = 4
[partition]
kind = "iid"
samples_per_client = 50
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.02
"""


class Insider(Client):
    """An honest client, whose words strangers know; it offers when enough harm is done."""

    corpus = None
    harms = 0           # So many after each visit.
    harm_done = None    # Says whether it is, for so many visits.

    def say(self, name, **fields):
        if self.corpus:
            self.corpus.heard(name, fields)
        return super().say(name, **fields)

    def hear(self, name, x, now):
        if self.corpus:
            self.corpus.heard(name, x)
        super().hear(name, x, now)

    def due(self, now):
        if not self.offers or not self.harm_done or self.harm_done(self.counts["visits"]):
            super().due(now)

    def hear_offer_answered(self, x, now):
        super().hear_offer_answered(x, now)
        for _ in range(self.harms if self.corpus and not self.offers else 0):
            self.harm()

    def hear_visit_ended(self, x, now):
        """A ticket whose number it changed may name its next visit: that it was not invited to that is nothing that ends it."""
        if wire.VERDICTS[x["verdict"]] == "not_invited":
            self.counts["not_invited"] += 1
        else:
            super().hear_visit_ended(x, now)

    def harm(self):
        """Between its visits: what was its own is said otherwise, on its own channel."""
        head, payload = self.corpus.any()
        payload = random.choice((payload, flipped(payload)))
        if wire.NAMES[head[0]] not in ("hello", "leave") and not self.is_of_its_next(head, payload):
            self.link.say_payload(self.number, head, payload)
            self.counts["harms"] = self.counts.get("harms", 0) + 1

    def is_of_its_next(self, head, payload):
        """With a changed number it may offer on a visit before it fetches, or decline it: that visit would end, and
        rightly so."""
        try:
            _, fields = wire.read_payload(*head, payload)
        except wire.Malformed:
            return False
        visit = fields.get("ticket", fields).get("visit")
        over = self.newest - bool(self.ticket or self.offers)   # What answers name may be a number that it made up.
        return bool(visit) and over < visit["number"] <= self.newest + 1


class Host:
    """The server of a run."""

    def __init__(self, troupe, scratch, name, keyed):
        self.troupe, self.keys, self.server = troupe, scratch / "keys", None
        file, self.log = scratch / f"{name}.toml", scratch / f"{name}.log"
        file.write_text(CONFIG.replace("DATA", str(scratch / "data")), encoding="utf-8")
        with open(self.log, "w", encoding="utf-8") as log, \
                open(scratch / f"{name}.json", "w", encoding="utf-8") as self.out:
            self.process = subprocess.Popen(
                [troupe, "serve", file, *(["--keys", self.keys] if keyed else ["--insecure"]),
                 "--folder", scratch / f"runs-{name}", "--format", "json"], stdout=self.out, stderr=log)
        for _ in range(600):
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
            found = re.search(r"(tcp://\S+)(?: (\S+))?\n", self.log.read_text(encoding="utf-8"))
            if found:
                self.address, key = found.groups()
                self.server = bytes.fromhex(key) if keyed else None
                return
            time.sleep(0.05)
        raise AssertionError("the server does not listen")

    def ask(self, *command):
        return subprocess.run([self.troupe, "keys", *command], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()

    def allow(self, public, name, numbers):
        self.ask("allow", public, "--name", name, "--keys", self.keys, "--numbers", str(numbers))

    def let_in(self, name):
        """What gives a socket a key that is allowed, where there are keys."""
        if not self.server:
            return without_keys
        own = Keys(self.server)
        self.allow(own.public.hex(), name, 1)
        return own.prepare

    def join(self, count, data):
        """A process of ours with so many clients."""
        how = ["--insecure"]
        if self.server:
            store = data.parent / f"store-{count}"
            self.allow(self.ask("new", "--keys", store), f"ours-{count}", count)
            how = ["--server", self.server.hex(), "--store", store]
        return subprocess.Popen([self.troupe, "join", self.address, *how, "--virtual", str(count),
                                 "--data", data], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0

    def summary(self):
        assert self.process.wait(200) == 0, self.log.read_text(encoding="utf-8")
        return json.loads(pathlib.Path(self.out.name).read_text(encoding="utf-8"))


def rage(host, frames, insider, counts):
    """Says so many, and lets the run go on meanwhile. Returns how the server grew, in MB."""
    answers = collections.Counter()
    before = host.memory()
    silent = list(crowd(host.address, CROWD, host.let_in("crowd")))
    strangers = [Stranger(host.address, insider.corpus, counts, answers, host.let_in(f"stranger-{i}"))
                 for i in range(STRANGERS)]
    most, sent = 0, 0
    insider.harms = min(frames // 200, 2000)
    insider.harm_done = lambda visits: sent * ROUNDS >= frames * min(visits, ROUNDS)
    while sent < frames:
        assert host.process.poll() is None, f"the server ended with {host.process.poll()} after {sent} frames; {insider.counts}"
        for x in strangers:
            for _ in range(25):
                x.harm()
            if x is not strangers[-1]:
                x.hear()
        sent += 25 * STRANGERS
        most = max(most, host.memory())
        yield None
    for x in [*strangers, *silent]:
        x.close()
    print(dict(answers))
    yield most - before


def play(troupe, scratch, name, frames, counts, keyed=False):
    """A run; returns its digest."""
    host = Host(troupe, scratch, name, keyed)
    process = Process(host.address, 60, prepare=host.let_in("insider"))
    joining = []
    try:
        process.join(1, "insider", 50, Insider)
        (insider,) = process.clients.values()
        joining = [host.join(n, scratch / "data") for n in (1, 2)]
        while not insider.counts["visits"]:     # Then all are there, and have their numbers.
            process.step()
            assert host.process.poll() is None, "the server is gone"
        grown = None
        if frames:
            insider.corpus = Corpus(with_hellos=keyed)
            hello = {"lowest": 1, "highest": 1, "client": insider.number, "run": insider.run,
                     "incarnation": insider.incarnation, "layout": insider.layout, "examples": 50}
            insider.corpus.heard("hello", hello)
            for grown in rage(host, frames, insider, counts):
                process.step(0)
        until = time.monotonic() + 200
        while not insider.over:
            process.step()
            assert time.monotonic() < until, f"the run does not end; {insider.counts}"
        process.part()
        summary = host.summary()
        assert [x.wait(60) for x in joining] == [0, 0]
        counts["insider"] += insider.counts.get("harms", 0)
        assert insider.counts["accepted"] + insider.counts["duplicate"] >= ROUNDS, insider.counts
        return summary["digest"], grown
    finally:
        for x in [host.process, *joining]:
            x.kill()


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    frames = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    with_keys = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
    random.seed(seed)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "data").mkdir()
        made_up.write(scratch / "data")
        wanted, _ = play(troupe, scratch, "alone", 0, collections.Counter())
        beside(troupe, scratch, wanted, frames, keyed=False)
        beside(troupe, scratch, wanted, with_keys, keyed=True)
        (log,) = (scratch / "runs-keyed").glob("*/logs/run.log")
        refused = set(re.findall(r"refused: (\w+)", log.read_text(encoding="utf-8")))
        assert {"client_of_another", "frame_of_servers"} <= refused, refused


def beside(troupe, scratch, wanted, frames, keyed):
    """The same run with strangers, who must not be noticed."""
    counts = collections.Counter()
    began = time.monotonic()
    found, grown = play(troupe, scratch, "keyed" if keyed else "beside", frames, counts, keyed)
    print(f"{frames} frames{' with keys' if keyed else ''} in {time.monotonic() - began:.0f} s, the server "
          f"grew by {grown:.0f} MB; {dict(sorted(counts.items()))}", flush=True)
    assert found == wanted, f"the digest is {found} and not {wanted}"
    assert grown < GROWTH_MB, f"the server grew by {grown:.0f} MB"
    unused = {x[5:] for x in dir(Stranger) if x.startswith("harm_")} - set(counts)
    assert not unused and counts["insider"] and not counts["stuck"], counts


if __name__ == "__main__":
    main()
