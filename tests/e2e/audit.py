"""What `join --audit` writes is, piece by piece, what goes by on a plain connection, as a witness reads it that is none of
troupe's words: audit.py TROUPE. And no MAC of a ticket, nor the key that made it, stands in anything that people read.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
# pylint: disable=wrong-import-position
import unseen
import wire
import wire_reader
from served_run import read
from witness import Witness

CLIENTS = 4
CONFIG = f"""
name = "audited"
method = "fedavg"
rounds = 8
[data]
kind = "synthetic"
dimension = 2000
[clients]
clients = {CLIENTS}
expected = {CLIENTS}
clients_per_round = {CLIENTS}
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.05
"""
PIECES = ("none", "opened", "framed", "began", "chunk", "reached", "refused", "announced", "bundled")
BEHIND = 8  # Pieces that may leave when nobody hears them any more.



def until(what, words, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(words)


def fact(kind, value):
    """A field as the audit says it."""
    if isinstance(kind, (wire.Scalar, wire.Text)):
        return value
    size = f"{len(kind.write(value))} bytes"
    return f"{len(value)} of them, {size}" if isinstance(kind, wire.List) else size


def facts(name, fields):
    return {x: fact(kind, fields[x]) for x, kind in wire.KINDS[name].record.fields.items()}


def macs_in(x):
    """Of all tickets in a message."""
    if isinstance(x, dict):
        if "mac" in x:
            yield x["mac"]
        for part in x.values():
            yield from macs_in(part)
    elif isinstance(x, list):
        for part in x:
            yield from macs_in(part)


class Ear(Witness):
    """Keeps what goes up, and the MACs of tickets that go either way."""

    def __init__(self, server):
        super().__init__(server, 1)
        self.up, self.macs, self.ways = [], set(), {"up": {}, "down": {}}

    def piece(self, one, way, x):
        super().piece(one, way, x)
        line = {"piece": PIECES[x.kind], "connection": x.connection, "bytes": 40 + len(x.body)}
        if x.kind in (wire_reader.FRAMED, wire_reader.BEGAN):
            line["channel"] = x.channel
        if x.kind == wire_reader.FRAMED:
            self.open(wire.read_frame(x.body), line)
        elif x.kind == wire_reader.BUNDLED:
            line["frames"] = []
            for channel, frame in wire_reader.frames_of(x):
                line["frames"].append({"channel": channel})
                self.open(wire.read_frame(frame), line["frames"][-1])
        elif x.kind != wire_reader.OPENED:
            line["transfer"] = x.transfer
            self.part(self.ways[way], x, line)
        if way == "up":
            self.up.append(line)

    def open(self, message, line):
        name, fields = message
        self.macs.update(macs_in(fields))
        line.update(message=name, version=wire.KINDS[name].version, fields=facts(name, fields))

    def part(self, known, x, line):
        if x.kind == wire_reader.BEGAN:
            number, version, since, _, size = wire_reader.struct.unpack("<HBBIQ", x.body)
            known.setdefault(x.transfer, ((number, version, since), size, bytearray()))
            line["payload"] = size
        if x.kind != wire_reader.CHUNK:
            return
        line["place"] = x.place
        head, size, there = known[x.transfer]
        assert x.place <= len(there), "a gap"
        rest = x.body[len(there) - x.place:]
        there += rest
        if rest and len(there) == size:
            self.open(wire.read_payload(*head, bytes(there)), line)


def said(log, pattern, process):
    return until(lambda: re.search(pattern, log.read_text(encoding="utf-8"), re.M) or process.poll() is not None,
                 f"{pattern} is not said")


def compare(path, heard):
    lines = [json.loads(x) for x in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line.pop("at")), line
    for i, (found, wanted) in enumerate(zip(lines, heard)):
        assert found == wanted, f"piece {i}: it says\n{found}\nand what goes by is\n{wanted}"
    assert len(heard) <= len(lines) <= len(heard) + BEHIND, (len(lines), len(heard))
    kinds = {y["message"] for x in heard for y in x.get("frames", [x]) if "message" in y}
    assert {"hello", "offer_made", "fetch_requested", "terms_asked", "places_asked", "process_parted"} <= kinds, kinds
    assert any(x["piece"] == "chunk" for x in heard), "nothing was large"
    return sum(x["bytes"] for x in heard)


def play(troupe, scratch, started):
    (scratch / "run.toml").write_text(CONFIG, encoding="utf-8")

    def start(name, *command):
        path = scratch / f"{name}.log"
        with open(path, "w", encoding="utf-8") as log, open(scratch / f"{name}.json", "w", encoding="utf-8") as out:
            started.append(subprocess.Popen([troupe, *command, "--format", "json", "--http", "127.0.0.1:0"],
                                            stdout=out, stderr=log))
        return started[-1], path, said(path, r"^metrics at (http://[^/\s]+)/metrics$", started[-1])[1]

    server, log, served = start("serve", "serve", scratch / "run.toml", "--folder", scratch / "runs", "--insecure",
                                "--chunk-kib", "16")
    host, port = said(log, r"^tcp://(\S+):(\d+)", server).groups()
    (folder,) = (scratch / "runs").iterdir()
    ear = Ear((host, int(port)))
    ear.start()
    client, _, joined = start("join", "join", ear.address(0), "--insecure", "--virtual", str(CLIENTS), "--store",
                              scratch / "store", "--audit", scratch / "audit", "--chunk-kib", "16")
    seen = []
    until(lambda: ear.macs, "nobody is invited")
    seen += unseen.shown(troupe, (folder, scratch / "store"), (served, joined))
    assert server.wait(200) == 0 and client.wait(60) == 0, log.read_text(encoding="utf-8")
    ear.stop()
    assert ear.broken is None, ear.broken
    assert not ear.record.wrong, ear.record.wrong
    seen += unseen.shown(troupe, (folder, scratch / "store"), ())
    size = compare(scratch / "audit", ear.up)
    seals = [bytes(x) if isinstance(x, bytes) else bytes.fromhex(x)
             for x, in read(folder / "ledger.sqlite", "SELECT value FROM meta WHERE key LIKE '%seal%'")]
    assert seals and all(len(x) == 32 for x in seals), "the ledger has no key of tickets"
    assert len(ear.macs) >= 8 * CLIENTS
    secrets = [*(("a MAC", x) for x in ear.macs), *(("the key of tickets", x) for x in seals)]
    texts = unseen.search(secrets, [*seen, *unseen.files(scratch)])
    print(f"{len(ear.up)} pieces of {size} bytes are as the audit says; {len(secrets)} secrets are in none of {texts} texts")


def main():
    with tempfile.TemporaryDirectory() as folder:
        started = []
        try:
            play(os.path.abspath(sys.argv[1]), pathlib.Path(folder), started)
        finally:
            for process in started:
                if process.poll() is None:
                    process.kill()
                    process.wait()


if __name__ == "__main__":
    main()
