"""A server and its joining processes, with a witness between them, for tests that kill them."""

import contextlib
import pathlib
import sqlite3
import subprocess
import time

import witness

CLIENTS_EACH = 10
SLOW = 2.0  # Seconds.


def read(path, sql, *args):
    ledger = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return ledger.execute(sql, args).fetchall()
    finally:
        ledger.close()


class Run:
    """Started with `begin`; `close` ends whatever is left."""

    def __init__(self, troupe, scratch, text, seed, processes=3):
        self.troupe = troupe
        self.scratch = pathlib.Path(scratch)
        (self.scratch / "run.toml").write_text(text, encoding="utf-8")
        self.server = None
        self.clients = [None] * processes
        self.folder = None
        self.witness = None
        self.seed = seed
        self.starts = 0
        self.recoveries = []  # Seconds from a server's start to its first welcome, and to its address.
        self.starting = None
        self.late = set()

    def log(self, name):
        self.starts += 1
        return open(self.scratch / f"{self.starts:03}-{name}.log", "w", encoding="utf-8")

    def begin(self):
        self.serve()
        for i in range(len(self.clients)):
            self.join(i)

    def serve(self):
        """Returns once it listens, or has ended."""
        log = self.log("server")
        self.note_recovery()
        began = time.monotonic()
        self.server = subprocess.Popen(
            [self.troupe, "serve", self.folder or self.scratch / "run.toml", "--insecure",
             "--folder", self.scratch / "runs", "--format", "json"],
            stdout=self.log("summary"), stderr=log)
        deadline = began + 30
        while time.monotonic() < deadline and self.server.poll() is None:
            if "tcp://" in pathlib.Path(log.name).read_text(encoding="utf-8"):
                self.starting = (began, time.monotonic())
                if self.folder is None:
                    self.meet()
                return
            time.sleep(0.003)
        if self.server.poll() is None:
            raise AssertionError("the server does not listen")

    def meet(self):
        (endpoint,) = (self.scratch / "runs").glob("*/endpoint")
        self.folder = endpoint.parent
        host, port = endpoint.read_text(encoding="utf-8").strip().removeprefix("tcp://").split(":")
        self.witness = witness.Witness((host, int(port)), len(self.clients), self.seed)
        self.witness.start()

    def note_recovery(self):
        """Of the server that is gone: how long it took to say its first welcome."""
        if self.starting and self.witness:
            began, listened = self.starting
            first = next((at for at in self.witness.record.welcomes if at > began), None)
            self.recoveries.append((listened - began, first - began if first else None))
            if first and first - listened > SLOW and self.starts > 20:
                print(f"a first welcome {first - listened:.1f} s after the server listens:", self.seen_since(listened - 1))
        self.starting = None

    def seen_since(self, begin):
        """What sessions were made of, for people."""
        out, last = [], None
        for at, *what in self.witness.record.timeline:
            if at >= begin and what[:3] != last:
                out.append(f"{at - begin:.2f} {' '.join(map(str, what))}")
                last = what[:3]
        return "; ".join(out[:60])

    def join(self, i):
        self.clients[i] = subprocess.Popen(
            [self.troupe, "join", self.witness.address(i), "--insecure", "--virtual", str(CLIENTS_EACH),
             "--workers", "1", "--store", self.scratch / f"store-{i}"],
            stdout=self.log(f"join-{i}"), stderr=subprocess.STDOUT)

    def heads(self):
        return dict(read(self.folder / "ledger.sqlite", "SELECT line, head FROM lines"))

    def finish(self):
        """Lets it end. Who came back when it was over waits for a server, and is in `late`."""
        assert self.server.wait(240) == 0, "the server fails"
        for i, process in enumerate(self.clients):
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert process.wait(10 if i == 0 else 2) == 0, f"clients {i} end with {process.returncode}"
                continue
            process.terminate()
            assert process.wait(20) == 130, f"clients {i} end with {process.returncode}"
            self.late.add(i)
        self.note_recovery()
        self.witness.stop()
        assert self.witness.broken is None, self.witness.broken

    def store(self, i):
        (store,) = (self.scratch / f"store-{i}").glob("run-*/clients.sqlite")
        return store

    def close(self):
        for process in [self.server, *self.clients]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        if self.witness:
            self.witness.stop()

    def logs(self):
        return "".join(f"== {path.name}\n{path.read_text(encoding='utf-8')[-600:]}\n"
                       for path in sorted(self.scratch.glob("*.log"))[-12:])
