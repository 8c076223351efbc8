"""A server and its joining processes, with a witness between them, for tests that kill them."""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import threading
import time

import witness

CLIENTS_EACH = 10
SLOW = 2.0  # Seconds.
LATELY = 10.0  # Seconds in which whoever is there has said something.
LISTENS = re.compile(r"^tcp://.*\n", re.MULTILINE)
STILL = 0.5  # Seconds for which a thread that sleeps a moment does not run: then the machine stood still.


def read(path, sql, *args):
    ledger = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return ledger.execute(sql, args).fetchall()
    finally:
        ledger.close()


class Stalls:
    """When the machine stood still, as one that is a guest now and then does: its clock goes on meanwhile, and nobody is slow."""

    def __init__(self):
        self.seen = []
        self.ended = threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        at = time.monotonic()
        while not self.ended.wait(0.02):
            before, at = at, time.monotonic()
            if at - before > STILL:
                self.seen.append((before, at))

    def within(self, begin, end):
        """Seconds."""
        return sum(max(0.0, min(end, b) - max(begin, a)) for a, b in self.seen)


class Life:
    """Of a server: when it began, was seen to listen, and died."""

    def __init__(self, pid, began):
        self.began, self.listened, self.died = began, None, None
        threading.Thread(target=self.watch, args=(pid,), daemon=True).start()

    def watch(self, pid):
        with contextlib.suppress(ChildProcessError):  # Somebody has just waited for it.
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        self.died = time.monotonic()


class Run:
    """Started with `begin`; `close` ends whatever is left. With keys nobody can read along: there is no witness then, and when a
    process is back is known by what the run's record has its clients say."""

    def __init__(self, troupe, scratch, text, processes=3, keys=False):
        self.keys = pathlib.Path(scratch) / "keys" if keys else None
        self.address, self.server_key = None, None
        self.troupe = troupe
        self.scratch = pathlib.Path(scratch)
        (self.scratch / "run.toml").write_text(text, encoding="utf-8")
        self.server = None
        self.clients = [None] * processes
        self.joined = [float("inf")] * processes
        self.folder = None
        self.witness = None
        self.starts = 0
        # Seconds from when a server listens to the first welcome of each process that was there, with keys to the first word
        # behind it; and what it took to listen.
        self.recoveries = []
        self.life = None  # Of the server.
        self.took = 0.0
        self.drained = False
        self.late = set()
        self.kills = []
        self.stalls = Stalls()

    def log(self, name):
        self.starts += 1
        return open(self.scratch / f"{self.starts:03}-{name}.log", "w", encoding="utf-8")

    def begin(self):
        for i in range(len(self.clients)) if self.keys else ():
            made = self.ask("keys", "new", "--keys", self.scratch / f"store-{i}")
            self.ask("keys", "allow", made, "--keys", self.keys, "--name", f"p{i}", "--numbers", str(CLIENTS_EACH))
        self.serve()
        for i in range(len(self.clients)):
            self.join(i)

    def ask(self, *command):
        return subprocess.run([self.troupe, *command], check=True, capture_output=True, text=True).stdout.strip()

    def start(self):
        """Returns where its log is."""
        log = self.log("server")
        self.note_recovery()
        began = time.monotonic()
        self.server = subprocess.Popen(
            [self.troupe, "serve", self.folder or self.scratch / "run.toml", "--folder", self.scratch / "runs",
             "--format", "json", *(["--keys", self.keys] if self.keys else ["--insecure"])],
            stdout=self.log("summary"), stderr=log)
        self.life = Life(self.server.pid, began)
        return pathlib.Path(log.name)

    def serve_for(self, seconds):
        """Is killed then. Whether it had not yet listened, nor ended."""
        log = self.start()
        time.sleep(seconds)
        witness.kill_now(self.server)
        self.server.wait()
        return self.server.returncode < 0 and not LISTENS.search(log.read_text(encoding="utf-8"))

    def serve(self):
        """Returns once it listens, or has ended."""
        log = self.start()
        life = self.life
        deadline = life.began + 120  # The machine may be busy.
        while time.monotonic() < deadline and self.server.poll() is None:
            if line := LISTENS.search(log.read_text(encoding="utf-8")):
                life.listened = time.monotonic()
                self.took = life.listened - life.began
                if self.folder is None:
                    self.meet(line.group().split())
                return
            time.sleep(0.003)
        if self.server.poll() is None:
            raise AssertionError("the server does not listen")

    def meet(self, said):
        (endpoint,) = (self.scratch / "runs").glob("*/endpoint")
        self.folder = endpoint.parent
        self.address, self.server_key = said[0], said[-1]
        if not self.keys:
            host, port = self.address.removeprefix("tcp://").split(":")
            self.witness = witness.Witness((host, int(port)), len(self.clients))
            self.witness.start()

    def note_recovery(self):
        """Of the server that is gone: how long each process that lived as long waited for its first welcome."""
        life, self.life = self.life, None
        if life is None or life.listened is None:
            return
        over = min(life.died or time.monotonic(), time.monotonic())
        heard = self.welcomes(life)
        for i, since in enumerate(self.joined):
            seen = [(at, is_own) for at, who, is_own in heard if who == i and at > since]
            if all(is_own for _, is_own in seen):
                continue  # It has just begun.
            own = [at for at, is_own in seen if is_own]
            if not own and not self.witness and over - life.listened < LATELY:
                continue  # Without a witness a welcome is not seen, and it may not have been asked for anything.
            # One that is welcome before this thread saw the server listen has not waited.
            back = max(own[0] if own else over, life.listened)
            waited = back - life.listened - (still := self.stalls.within(life.listened, back))
            if still > 0:
                print(f"the machine stood still for {still:.1f} s while process {i} came back")
            if own or waited > SLOW:
                self.recoveries.append((waited, self.took))
            if waited > SLOW:
                print(f"process {i} is {'' if own else 'not '}welcome {waited:.1f} s after the server listens, which took "
                      f"{self.took:.1f} s:", self.seen_between(life.began, over, i))

    def welcomes(self, life):
        """(instant, process, whether by this server) of each; with keys, of words behind them."""
        if not self.witness:
            return [(at, who, at > life.listened) for at, who in self.spoken(life.listened - LATELY)]
        record = self.witness.record
        return [(at, who, record.servers[server] >= life.began) for at, who, server in record.welcomes]

    def spoken(self, since):
        """(instant, process) of what the record has clients fetch and offer since then."""
        process_of = {client: i for i in range(len(self.clients)) for client in self.clients_of(i)}
        began = json.loads((self.folder / "processes.json").read_text(encoding="utf-8"))["began_ms"] / 1000
        began -= time.time() - time.monotonic()
        out = []
        for line in reversed((self.folder / "events.jsonl").read_bytes().split(b"\n")[:-1]):  # Behind the last is half a line.
            x = json.loads(line)
            if (at := began + x["at"]) < since:
                break
            if x["event"] in ("fetched", "offered") and x["client"] in process_of:
                out.append((at, process_of[x["client"]]))
        return out[::-1]

    def seen_between(self, begin, end, process=None):
        """What sessions were made of, of one process or of all, for people."""
        out, counts = [], collections.Counter()
        seen = [x[:4] for x in tuple(self.witness.record.timeline) if begin <= x[0] <= end and process in (None, x[3])] \
            if self.witness else []  # It grows meanwhile.
        for what, group in itertools.groupby(seen, key=lambda x: x[1:]):
            times = [at - begin for at, *_ in group]
            counts[what[0]] += len(times)
            more = f" ({len(times)} until {times[-1]:.2f})" if len(times) > 1 else ""
            out.append(f"{times[0]:.2f} {' '.join(map(str, what))}{more}")
        return "; ".join([f"kills {[round(at - begin, 2) for at in self.kills if begin <= at <= end]}", *out[:16],
                          f"in all {json.dumps(counts)}"])

    def join(self, i):
        self.joined[i] = time.monotonic()
        self.clients[i] = subprocess.Popen(
            [self.troupe, "join", self.address if self.keys else self.witness.address(i), "--virtual", str(CLIENTS_EACH),
             "--workers", "1", "--store", self.scratch / f"store-{i}",
             *(["--server", self.server_key] if self.keys else ["--insecure"])],
            stdout=self.log(f"join-{i}"), stderr=subprocess.STDOUT)

    def heads(self):
        return dict(read(self.folder / "ledger.sqlite", "SELECT line, head FROM lines"))

    def finish(self):
        """Lets it end. Who came back when it was over waits for a server, and is in `late`."""
        assert self.server.wait(400) == 0 or self.was_over(), "the server fails"
        for i, process in enumerate(self.clients):
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert process.wait(10 if i == 0 else 2) == 0, f"clients {i} end with {process.returncode}"
                continue
            process.terminate()
            assert process.wait(60) == 0, f"clients {i} are told to end, and end with {process.returncode}"
            self.late.add(i)
        self.note_recovery()
        if not self.witness:
            return
        self.witness.stop()
        for begin, end in self.witness.record.silences:
            print(f"nothing was done for {end - begin:.1f} s:", self.seen_between(begin - 2, end + 1))
        assert self.witness.broken is None, self.witness.broken

    def was_over(self):
        """Whether the last server found a run that had ended when the one before was killed."""
        last = max(self.scratch.glob("*-summary.log"))
        return "has ended: the run's length is reached" in last.read_text(encoding="utf-8")

    def clients_of(self, i):
        """As its store has them, which a process makes before they say anything. Of one that is just being made: none."""
        out = []
        for path in (self.scratch / f"store-{i}").glob("run-*/clients.sqlite"):
            if read(path, "SELECT 1 FROM sqlite_master WHERE name = 'clients'"):
                out += [client for client, in read(path, "SELECT client FROM clients")]
        return out

    def store(self, i):
        (store,) = (self.scratch / f"store-{i}").glob("run-*/clients.sqlite")
        return store

    def close(self):
        self.stalls.ended.set()
        for process in [self.server, *self.clients]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        if self.witness:
            self.witness.stop()

    def logs(self):
        return "".join(f"== {path.name}\n{path.read_text(encoding='utf-8')[-600:]}\n"
                       for path in sorted(self.scratch.glob("*.log"))[-12:])
