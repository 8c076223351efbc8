"""What an earlier build kept of clients is read, and gone on with: their lives, the numbers of their visits, their states.

Usage: old_store.py TROUPE [--write]

tests/golden/client_store/ has the store of a killed process of each version of its schema, as SQL (docs/client_store.md), and
another one whose states and offers are too large for rows, with their files in a table of their own. A server is made to know
these clients, and they join it from there. `--write` makes the files of the version of today that are not there.
"""

import contextlib
import json
import pathlib
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "client_store"
FILES = "-files"
CLIENTS = 4
STORE = "00112233445566778899aabbccddeeff"
FEATURES = 1650  # Of ten classes each: more than the 64 KiB of a row. All but three are zero, which makes small files.
CONFIG = f"""
name = "old"
method = "scaffold"
versions = 1000000
evaluate_every = 0
{{data}}
[clients]
clients = {CLIENTS}
[pace]
mode = "fedbuff"
buffer_size = 2
concurrency = {CLIENTS}
[model]
kind = "softmax"
[training]
local_steps = {{steps}}
batch_size = 10
learning_rate = 0.01
"""


def soon(found, what, most=60):
    """What is found, once it is there."""
    until = time.monotonic() + most
    while not (it := found()):
        assert time.monotonic() < until, f"not within {most} s: {what}"
        time.sleep(0.01)
    return it


def ask(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as it:
        return it.execute(sql).fetchall()


class Run:
    """A server and a joining process, in a folder of their own."""

    def __init__(self, troupe, scratch, large):
        self.troupe, self.scratch, self.large = troupe, scratch, large
        self.store, self.rows = scratch / "store", scratch / "rows.csv"
        data = f'kind = "csv"\npath = "{self.rows}"\n[partition]\nkind = "iid"' if large else 'kind = "synthetic"\ndimension = 3'
        (scratch / "run.toml").write_text(CONFIG.format(data=f"[data]\n{data}", steps=300 if large else 2000), encoding="utf-8")
        if large:
            self.rows.write_text(rows(), encoding="utf-8")
        self.started, self.folder, self.server, self.joined = 0, None, None, None

    def begin(self, *command):
        self.started += 1
        with open(self.scratch / f"{self.started}.log", "w", encoding="utf-8") as log:
            return subprocess.Popen([self.troupe, *command], stdout=log, stderr=subprocess.STDOUT)

    def said(self):
        return "".join(x.read_text(encoding="utf-8") for x in sorted(self.scratch.glob("*.log")))

    def serve(self):
        before = self.said().count("tcp://")
        self.server = self.begin("serve", self.folder or self.scratch / "run.toml", "--insecure", "--folder",
                                 self.scratch / "runs")
        soon(lambda: self.said().count("tcp://") > before, "the server listens")
        (endpoint,) = (self.scratch / "runs").glob("*/endpoint")
        self.folder = endpoint.parent
        self.address = endpoint.read_text(encoding="utf-8").strip()

    def join(self):
        self.joined = self.begin("join", self.address, "--insecure", "--virtual", str(CLIENTS), "--workers", "1",
                                 "--store", self.store, *(["--data", self.rows] if self.large else []))

    def kept(self):
        return next(self.store.glob("run-*/clients.sqlite"), None)

    def knows(self, run):
        """The server's folder is of that run, and these are its clients."""
        self.server.kill()
        self.server.wait()
        path = self.folder / "processes.json"
        book = {**json.loads(path.read_text(encoding="utf-8")), "run": run,
                "processes": {STORE: list(range(1, CLIENTS + 1))}}
        path.write_text(json.dumps(book), encoding="utf-8")
        self.serve()

    def merged(self):
        return dict(ask(self.folder / "ledger.sqlite", "SELECT client, min(number) FROM merges GROUP BY client"))

    def close(self):
        for x in (self.server, self.joined):
            if x and x.poll() is None:
                x.kill()
                x.wait()


def rows():
    """Data with few values."""
    lines = [",".join(f"f{i}" for i in range(FEATURES)) + ",label"]
    for k in range(40 * CLIENTS):
        lines.append(",".join([str(k % 7 / 4), str(k % 5 / 4), str(k % 10 / 4), *["0"] * (FEATURES - 3), str(k % 10)]))
    return "\n".join(lines) + "\n"


class Kept:
    """What a store has of each client."""

    def __init__(self, path, large=False):
        self.path, self.large = path, large
        self.clients = {x[0]: x[1:] for x in self.read("SELECT client, incarnation, last, state, open FROM clients")}
        self.offers = {x[:2] for x in self.read("SELECT client, number, body IS NULL FROM offers")
                       if not x[2] or self.file("offer", *x[:2]).exists()}
        self.at_work = [x for x, row in self.clients.items() if row[3] is not None]

    def read(self, sql):
        return ask(self.path, sql)

    def file(self, *name):
        """Of what is too large for a row."""
        return self.path.parent / "-".join(map(str, name))

    def visits(self, client):
        """Of which its state is, which ends with how many, and a sum of four bytes."""
        row = self.clients[client][2]
        if row == 0:
            return 0
        ((body,),) = self.read(f"SELECT body FROM states WHERE state = {row}")
        if body is None:
            body = self.file("state", row).read_bytes()
        return struct.unpack_from("<Q", body, len(body) - 12)[0]

    def files(self):
        return {x.name for kind in ("state", "offer") for x in self.path.parent.glob(f"{kind}-*")}

    def has_all(self):
        """Something of each kind."""
        kinds = {x.split("-")[0] for x in self.files()}
        return (kinds == ({"state", "offer"} if self.large else set()) and len(self.clients) == CLIENTS and self.offers and self.at_work
                and all(self.visits(x) > 1 for x in self.clients))


def write(run):
    """The store of a process that was killed, once there is something of each kind in it."""
    run.serve()
    run.join()
    for _ in range(20):
        soon(lambda: run.kept() and len(run.merged()) == CLIENTS, "all clients offer")
        soon(lambda: seen(run), "there is something of each kind")
        run.joined.kill()
        run.joined.wait()
        if seen(run):
            break
        run.join()
    assert seen(run), "there is never something of each kind in it"
    with contextlib.closing(sqlite3.connect(run.kept())) as it:
        (version,) = it.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
        path = GOLDEN / f"version-{version}{FILES * run.large}.sql"
        if path.exists():
            print(f"{path} is there, and must be read for ever")
            return
        if run.large:
            it.execute("CREATE TABLE files (name TEXT PRIMARY KEY, packed BLOB NOT NULL)")
            for x in sorted(Kept(run.kept()).files()):
                data = (run.kept().parent / x).read_bytes()
                it.execute("INSERT INTO files VALUES (?, ?)", (x, zlib.compress(data, 9)))
        path.write_text("\n".join(it.iterdump()) + "\n", encoding="utf-8")


def seen(run):
    """Whether there is all of it; what is read may be changed meanwhile."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        return Kept(run.kept(), run.large).has_all()
    return False


def unpack(database, folder):
    """Puts what the golden file has beside the tables of a store where it was."""
    for name, packed in database.execute("SELECT name, packed FROM files").fetchall():
        (folder / name).write_bytes(zlib.decompress(packed))
    database.execute("DROP TABLE files")
    database.commit()


def goes_on(run, golden):
    run.serve()
    text = golden.read_text(encoding="utf-8")
    name = re.search(r"INSERT INTO \"?meta\"? VALUES\('run','([0-9a-f]{32})'\)", text)[1]
    folder = run.store / f"run-{name}"
    folder.mkdir(parents=True)
    (run.store / "id").write_text(STORE + "\n", encoding="utf-8")
    with contextlib.closing(sqlite3.connect(folder / "clients.sqlite")) as it:
        it.executescript(text)
        if run.large:
            unpack(it, folder)
    before = Kept(folder / "clients.sqlite", run.large)
    assert before.has_all(), "there is not something of each kind in it"
    visits = {x: before.visits(x) for x in before.clients}
    run.knows(name)
    run.join()
    soon(lambda: run.joined.poll() is not None or len(run.merged()) == CLIENTS, "all clients offer")
    assert run.joined.poll() is None, "these clients are not what they were"
    subprocess.run([run.troupe, "stop", run.folder], check=True, timeout=60, capture_output=True)
    assert (run.server.wait(60), run.joined.wait(60)) == (0, 0)
    assert list(run.store.glob("run-*")) == [folder], "these clients are in another folder"
    check(before, visits, Kept(folder / "clients.sqlite", run.large), run)


def check(before, visits, after, run):
    for client, (incarnation, last, *_) in before.clients.items():
        now, newest, *_ = after.clients[client]
        assert now == incarnation + 1, f"client {client} lives for the {now}th time, after {incarnation}"
        assert run.merged()[client] > last, f"client {client} is given {run.merged()[client]}, and remembers {last}"
        assert newest > last, f"client {client} remembers {newest}, after {last}"
        merged = ask(run.folder / "ledger.sqlite", f"SELECT count(DISTINCT number) FROM merges WHERE client = {client}")
        # It may end before it hears the last answer.
        assert 0 < after.visits(client) - visits[client] <= merged[0][0], f"client {client} has not the state that it had"
    assert not before.offers & after.offers, "what nobody knows any more is not answered"
    with open(run.folder / "events.jsonl", encoding="utf-8") as events:
        assert not any('"began_anew"' in x for x in events), "a client has forgotten something"
    print(f"{len(before.offers)} offers and {len(before.at_work)} visits under way, states of"
          f" {sorted(visits.values())} visits")


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    writes, files = sys.argv[2:] == ["--write"], sorted(GOLDEN.glob("*.sql"))
    assert writes or files, f"nothing is in {GOLDEN}"
    for golden in ("", FILES) if writes else files:
        with tempfile.TemporaryDirectory() as name:
            run = Run(troupe, pathlib.Path(name).resolve(), golden == FILES if writes else golden.stem.endswith(FILES))
            try:
                if not writes:
                    print(golden.name, end=": ", flush=True)
                    goes_on(run, golden)
                else:
                    write(run)
            except BaseException:
                print(run.said())
                raise
            finally:
                run.close()


if __name__ == "__main__":
    main()
