"""Kills the server and the clients of served runs at places that are chosen by what goes by, and looks at what is left.

Usage: wire_kills.py TROUPE [KILLS] [SEED]

A server with its ledger on disk and three joining processes of ten clients, with a witness between them (witness.py).
Who is killed gets SIGKILL: KILLS times the server, half as often a process with clients, a fifth as often both. What must hold is in
wire_laws.py, and wire_values.py computes every version again. One run ends while all are at work; of the others nobody is invited in
the end, until nothing is unanswered. How often each place was hit is printed, and a zero is red. `troupe replay` of each folder must end with equal digests; TROUPE_REPLAY=look
only prints what it says, and what stands in the record twice or late. TROUPE_KILLS_KEYS=1: half of
them with keys, and so without a witness.
"""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import record_gaps
import wire_laws
import wire_values
from served_run import Run
from witness import kill_now

CONFIG = """
name = "killed"
method = "{method}"
durability = "{durability}"
{length}
evaluate_every = 0
[data]
kind = "synthetic"
dimension = {dimension}
[clients]
clients = 30
{clients}
[pace]
{pace}
[model]
kind = "mlp"
hidden = [{hidden}]
[training]
local_epochs = 1
batch_size = 20
learning_rate = 0.01
"""
FEDBUFF = "mode = \"fedbuff\"\nbuffer_size = 5\nconcurrency = 12\n[pace.staleness]\nkind = \"constant\""
SYNC = "mode = \"sync\"\nquorum = 6\nround_deadline = 20.0"
PATIENCE = 40.0  # Seconds in which what goes by must come to the place that is waited for.
GLANCE = 1.0  # Seconds after which a ledger, which drops old versions, is read again.
QUIET = 0.5  # Seconds without a word after which all is done.
NEVER = 1_000_000  # Versions or rounds: such a run is ended by somebody,
MORE = 10  # and goes on for so many after the last kill.

SERVER = ("server: while it is sent chunks", "server: while it sends chunks", "server: an accepted is said",
          "server: an accepted was said", "server: around a commit", "server: before it listens again", "server: in recovery", "server: at random")
CLIENTS = ("clients: while they fetch", "clients: while they train", "clients: while they offer", "clients: at random")
OTHER = ("both", "no one: connections are lost", "no one: a chunk of an old transfer comes again")
MISSED = "a place was not come to in time"
MISSED_MOST = 0.1  # Of all.
DRAINED = "no one: nobody is invited any more"


class Killer:
    """Kills at one place after the other."""

    def __init__(self, run, versions, draw):
        self.run = run
        self.versions = versions
        self.draw = draw
        self.places = {
            SERVER[0]: lambda: self.at_server("chunk offer_made"),
            SERVER[1]: lambda: self.at_server("chunk line_served"),
            SERVER[2]: lambda: self.at_server("offer_answered", self.is_accepted),
            SERVER[3]: lambda: self.at_server("offer_answered", self.is_accepted, after=True),
            SERVER[4]: self.around_commit,
            SERVER[5]: self.before_it_listens,
            SERVER[6]: self.in_recovery,
            SERVER[7]: lambda: self.at_random(server=True),
            CLIENTS[0]: lambda: self.at_client("chunk line_served"),
            CLIENTS[1]: lambda: self.at_client("line_served", after=True),
            CLIENTS[2]: lambda: self.at_client("chunk offer_made"),
            CLIENTS[3]: lambda: self.at_random(client=True),
            OTHER[0]: lambda: self.at_random(server=True, client=True),
            OTHER[1]: self.cut,
            OTHER[2]: self.mix,
        }

    def kill(self, place):
        """Whether it was hit there."""
        hit = self.places[place]()
        if self.run.witness:
            self.run.witness.disarm()
        self.note()
        return hit

    def note(self):
        note(self.run, self.versions)

    @staticmethod
    def is_accepted(message):
        return message.verdict == "accepted"

    def when(self, name, is_meant, process, victim, after):
        """Kills `victim` when that goes by. Whether it did in time."""
        done = threading.Event()
        left = self.draw.randrange(3)  # Not always the first.

        def act():
            kill_now(victim)
            done.set()

        def fires(said, _, __, message, sender):
            nonlocal left
            if said != name or (process is not None and sender.process != process) or not is_meant(message):
                return False
            left -= 1
            if left >= 0:
                return False
            if after:
                self.run.witness.after.append(act)
            else:
                act()
            return True

        self.run.witness.trap(fires)
        return self.comes(done) and not victim.wait() == 0

    def comes(self, done):
        """Whether that is in time."""
        deadline = time.monotonic() + PATIENCE
        while not done.wait(GLANCE) and time.monotonic() < deadline:
            self.note()
        return done.is_set()

    def again(self, server=False, client=None):
        """Begins again who was killed."""
        self.run.kills.append(time.monotonic())
        if server:
            self.run.server.wait()
            self.note()
            if self.run.witness:
                wire_laws.check_leases(self.run)
            self.run.serve()
        if client is not None:
            self.run.clients[client].wait()
            if self.run.witness:
                wire_laws.check_kept(self.run, client)
            self.run.join(client)

    def at_server(self, name, is_meant=lambda _: True, after=False):
        hit = self.when(name, is_meant, None, self.run.server, after)
        if hit:
            self.again(server=True)
        return hit

    def at_client(self, name, after=False):
        i = self.draw.randrange(len(self.run.clients))
        hit = self.when(name, lambda _: True, i, self.run.clients[i], after)
        if hit:
            self.again(client=i)
        return hit

    def around_commit(self):
        """When the ledger's log is written, or a moment later."""
        log = self.run.folder / "ledger.sqlite-wal"
        before = written_at(log)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if written_at(log) != before:
                time.sleep(self.draw.choice([0.0, 0.0, 0.001, 0.003]))
                kill_now(self.run.server)
                self.again(server=True)
                return True
        return False

    def before_it_listens(self):
        """While it reads the ledger, takes up what waits, drops what nobody names: sooner, where it listened before."""
        kill_now(self.run.server)
        self.run.server.wait()
        self.note()
        most = self.run.took  # On a machine that had more to do than it has now.
        while not (hit := self.run.serve_for(self.draw.uniform(0.0, most))) and most > self.run.took / 8:
            self.note()
            most /= 2
        self.again(server=True)
        return hit

    def in_recovery(self):
        kill_now(self.run.server)
        self.again(server=True)
        listens = time.monotonic()
        time.sleep(self.draw.uniform(0.0, 0.06))
        kill_now(self.run.server)
        self.run.server.wait()
        hit = not self.has_all_back(listens)
        self.again(server=True)
        return hit

    def has_all_back(self, since):
        """Who has said a welcome or two has not; without a witness, who has not heard a word of each process that is as much as a
        fetch or an offer, and so is behind its welcomes."""
        if self.run.witness:
            return sum(at > since for at, *_ in self.run.witness.record.welcomes) >= 30
        return {i for _, i in self.run.spoken(since)} >= set(range(len(self.run.clients)))

    def at_random(self, server=False, client=False):
        # Without a witness that they are back is seen where there is time for a version, with which the record is written.
        time.sleep(self.draw.uniform(0.0, 0.5 if self.run.witness or not server else 4.0))
        i = self.draw.randrange(len(self.run.clients)) if client else None
        if self.run.server.poll() is not None:
            return False
        if client:
            kill_now(self.run.clients[i])
        if server:
            kill_now(self.run.server)
        self.again(server=server, client=i)
        return True

    def cut(self):
        time.sleep(self.draw.uniform(0.0, 0.3))
        self.run.witness.cut()
        return True

    def mix(self):
        """What was mixed in may be merged before somebody is killed."""
        hit = self.comes(self.run.witness.mix())
        time.sleep(GLANCE)
        return hit

    def drain(self):
        """Nobody is invited any more, what is under way comes to its end, and then the run does."""
        until_made(self.run, MORE + max(self.run.heads().values()))
        self.note()
        record, since = self.run.witness.record, time.monotonic()
        self.run.witness.drain()
        deadline = since + 120
        while (left := wire_laws.unsettled(record, since)) or time.monotonic() < record.progress + QUIET:
            assert time.monotonic() < deadline, f"what comes to no end: {left[:5]}"
            time.sleep(0.1)
        self.note()
        self.run.ask("stop", self.run.folder)
        self.run.drained = True


def written_at(path):
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # A server that ends in order takes it away.
        return 0


def until_made(run, version):
    deadline = time.monotonic() + 120
    while min(run.heads().values(), default=0) < version:
        assert time.monotonic() < deadline and run.server.poll() is None, f"there is no version {version}"
        time.sleep(0.05)


def note(run, versions, last=False):
    """Reads what the ledger has now."""
    if run.witness:
        merges = wire_laws.merges_in(run.folder)  # Before its values: whose are not there yet are the next time.
        wire_laws.note_contents(run)
        versions.go_on(run.witness.record, merges, last)


def places_of(kills, draw, unseen):
    """So many of the server, half as many of clients, and a few of the others; each kind as often as any other. `unseen`:
    those that nobody needs to see."""
    def some(kinds, count):
        return [kinds[i % len(kinds)] for i in range(count)]
    servers, clients = list(SERVER[4:] if unseen else SERVER), list(CLIENTS[3:] if unseen else CLIENTS)
    draw.shuffle(servers)
    draw.shuffle(clients)
    all_places = some(servers, kills) + some(clients, (kills + 1) // 2) + some(list(OTHER[:1] if unseen else OTHER), max(3, kills // 5))
    draw.shuffle(all_places)
    return all_places


def play(run, versions, places, draw, hits, drained):
    """Takes off `places` those that it came to: the run may end before the last."""
    run.begin()
    until_made(run, 1)
    killer = Killer(run, versions, draw)
    while places and run.server.poll() is None:
        hit = killer.kill(places[-1])
        hits[places[-1]] += hit
        hits[MISSED] += not hit
        places.pop()
    if drained:
        killer.drain()
        hits[DRAINED] += 1
    while run.server.poll() is None:
        killer.note()
        time.sleep(GLANCE / 2)
    run.finish()


def judge(run, versions, buffer):
    """Returns what was seen, for people."""
    merges = wire_laws.check_ledger(run.folder, buffer)
    if not run.witness:
        return {"heads": {line: max(versions) for line, versions in merges.items()}, "told": wire_laws.check_told(run, merges),
                "offers in stores": wire_laws.check_stores(run, merges), **welcomes(run)}
    record = run.witness.record
    note(run, versions, last=True)
    wire_values.check_checksums(run.folder, versions.checksums)
    wire_laws.check_wire(record)
    said, merged = wire_laws.check_answers(record, merges)
    durable, asked = wire_laws.check_durable(record, merges, buffer)
    left = wire_laws.check_drained(run)
    offers = wire_laws.check_stores(run, merges)
    return {"heads": {line: max(versions) for line, versions in merges.items()}, "merged": merged, "told so": said,
            "durable": durable, "asked after": asked, "computed again": len(versions.done), "checksums": len(versions.checksums),
            "drained": run.drained, "open at the end": left, "offers in stores": offers,
            "said again": sum(n - 1 for n in record.offers_said.values()), **welcomes(run)}


def welcomes(run):
    """Whoever was there is back soon after each server listens."""
    slowest, took = wire_laws.check_recoveries(sorted(run.recoveries))
    assert run.recoveries or len(run.kills) < 5, "nobody was seen to come back"
    return {"welcomes": len(run.recoveries), "slowest welcome": round(slowest, 2), "of a server that took": round(took, 2)}


def replay(run):
    done = subprocess.run([run.troupe, "replay", run.folder], capture_output=True, text=True, timeout=300, check=False)
    said = (done.stdout + done.stderr).strip()[-600:]
    look = os.environ.get("TROUPE_REPLAY") == "look"
    if look:
        begun, found, examples = record_gaps.gaps(run.folder)
        said += f"; of {begun} processes the record lacks {json.dumps(found)}, as {examples}"
    assert done.returncode == 0 or look, f"replay ends with {done.returncode}: {said}"
    return said


CONTROL = 2  # SCAFFOLD's second block.
# Method, pace, keys of clients, size of the buffer, blocks that are sums and no means, whether with keys, what outlives a
# server, whether nobody is invited in the end; and the share of kills.
RUNS = (
    ("fedavg", FEDBUFF, "", 5, (), False, "version", False, 0.4),
    ("scaffold", FEDBUFF, "", 5, (CONTROL,), False, "version", True, 0.2),
    ("fedavg", SYNC, "clients_per_round = 8", None, (), False, "version", True, 0.2),
    ("fedavg", FEDBUFF, "", 5, (), False, "offer", True, 0.2),
)
WITH_KEYS = ("fedavg", FEDBUFF, "", 5, (), True, "version", False, 1.0)


def one_run(troupe, options, places, draw, hits):
    method, pace, clients, buffer, sums, keys, durability, drained, _ = options
    began = time.monotonic()
    length = f"{'versions' if buffer else 'rounds'} = {NEVER if drained else 10 + 6 * len(places)}"
    versions = wire_values.Versions(sums, 30)
    with tempfile.TemporaryDirectory() as name:
        run = Run(troupe, name, CONFIG.format(method=method, pace=pace, clients=clients, length=length, dimension=100,
                                              hidden=1000, durability=durability), keys=keys)
        try:
            play(run, versions, places, draw, hits, drained)
            seen = judge(run, versions, buffer)
            assert durability == "version" or keys or seen["durable"], "no offer was said to be durable"
            seen["replay"] = replay(run)
        except BaseException:
            print(run.logs())
            print(f"wrong on the wire: {run.witness.record.wrong[:5] if run.witness else None}")
            raise
        finally:
            run.close()
    print(f"{method}, {pace.split()[2]}{', with keys' if keys else ''}, durability {durability}: {json.dumps(seen)}, {time.monotonic() - began:.0f} s", flush=True)


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    hits = collections.Counter({place: 0 for place in (*SERVER, *CLIENTS, *OTHER, DRAINED)})
    print(f"seed {seed}", flush=True)
    # Half of them with keys, where there are some.
    with_keys = bool(os.environ.get("TROUPE_KILLS_KEYS"))
    for options in (*RUNS, WITH_KEYS) if with_keys else RUNS:
        draw = random.Random(f"{seed} {options[:2]} {options[5:7]}")
        places = places_of(max(1, round(kills * options[-1] * (0.5 if with_keys else 1))), draw, options[5])
        while places:
            one_run(troupe, options, places, draw, hits)
    print(json.dumps(hits, indent=1))
    missing = [place for place, n in hits.items() if n == 0 and place != MISSED]
    assert kills < 20 or not missing, f"never hit: {missing}"
    assert hits[MISSED] <= MISSED_MOST * hits.total() or kills < 20, f"{hits[MISSED]} of {hits.total()} places were not come to"


if __name__ == "__main__":
    main()
