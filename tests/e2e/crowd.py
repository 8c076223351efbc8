"""One key says 20,000 hellos and floods; an honest one has what it had: crowd.py TROUPE.

What the server knows and takes is read from its /metrics; how fast it answers others is asked by a
third key, over and over, with and without the flood by turns.

crowd.py flood ADDRESS SERVER SECRET is the one that floods: a process of its own, since threads of
one interpreter wait for each other. It begins and ends with a line that it reads.
"""

import os
import pathlib
import re
import subprocess
import sys
import statistics
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
# pylint: disable=wrong-import-position
import link
import wire
from client import Process
from keys import Keys

HELLOS = 20_000
WINDOW = 0.8    # Seconds with the flood, and as many without.
WINDOWS = 5
GROWTH = 12 << 20
TWICE = 2.0
NOTICED = 0.004 # Seconds: below it a ratio is of the machine's own pauses.
CONFIG = """
name = "crowd"
method = "fedavg"
updates = 1000000000
events = false
ledger = "memory"
[data]
kind = "synthetic"
dimension = 20
[clients]
clients = 24
[pace]
mode = "fedbuff"
buffer_size = 2
concurrency = 4
[model]
kind = "softmax"
[training]
local_steps = 2
batch_size = 10
learning_rate = 0.01
"""


def until(what, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it does not come")


class Server:
    """A served run with keys, and what can be seen of it."""

    def __init__(self, troupe, scratch):
        self.troupe, self.keys = troupe, scratch / "keys"
        (scratch / "crowd.toml").write_text(CONFIG, encoding="utf-8")
        log = scratch / "log"
        with open(log, "w", encoding="utf-8") as to:
            self.process = subprocess.Popen(
                [troupe, "serve", scratch / "crowd.toml", "--keys", self.keys, "--folder",
                 scratch / "runs", "--http", "127.0.0.1:0", "--format", "json"],
                stdout=to, stderr=to)
        said = lambda pattern: until(
            lambda: re.search(pattern, log.read_text(encoding="utf-8")))
        self.address, key = said(r"(tcp://\S+) ([0-9a-f]{64})").groups()
        self.key = bytes.fromhex(key)
        self.pages = said(r"metrics at (http://\S+)")[1]

    def allow(self, public, name, numbers):
        subprocess.run([self.troupe, "keys", "allow", public.hex(), "--name", name, "--keys",
                        self.keys, "--numbers", str(numbers)], check=True,
                       stdout=subprocess.DEVNULL)

    def seen(self, name, labels="", none=None):
        with urllib.request.urlopen(self.pages, timeout=10) as page:
            text = page.read().decode()
        found = re.search(rf"^{name}{re.escape(labels)} (\S+)$", text, re.M)
        assert found or none is not None, f"/metrics has no {name}{labels}"
        return float(found[1]) if found else none

    def refused(self, reason):
        return self.seen("troupe_refusals_total", f'{{reason="{reason}"}}')

    def speed(self, seconds):
        """Offers that are answered in a second."""
        labels = '{verdict="accepted"}'
        before, began = self.seen("troupe_offers_total", labels), time.monotonic()
        time.sleep(seconds)
        now = self.seen("troupe_offers_total", labels)
        return (now - before) / (time.monotonic() - began)


def delays(process, seconds):
    """How long the server takes to answer, sorted."""
    out, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        process.ask("terms_asked", "terms_given", lowest=1, highest=1)
        out.append(time.monotonic() - began)
    return sorted(out)


def p99(x):
    return x[int(len(x) * 0.99)]


def hellos(stranger, terms):
    """From one key, each as another client on a channel of its own."""
    kind = wire.KINDS["hello"]
    for i in range(1, HELLOS + 1):
        fields = {"lowest": 1, "highest": 1, "client": i, "incarnation": i, "layout":
                  terms["layout"], "nonce": i, "examples": 10, "newest": 0, "at_work": [],
                  "run": terms["run"]}
        stranger.link.say_payload(i, (kind.number, kind.version, kind.since),
                                  wire.payload_of("hello", fields))
        if i % 500 == 0:
            list(stranger.link.hear(0))


def flood(process):
    """Beats, as fast as they go, while the last line that was read is `go`."""
    parts = link.piece(link.FRAMED, process.link.connection, channel=1, body=wire.frame_of(
        *(lambda x: (x.number, x.version, x.since))(wire.KINDS["beat"]),
        wire.payload_of("beat", {"client": 1, "session": 1})))
    lines, goes = [], threading.Event()

    def read():
        for line in sys.stdin:
            lines.append(line.strip())
            goes.set() if lines[-1] == "go" else goes.clear()
        lines.append("end")

    threading.Thread(target=read, daemon=True).start()
    said = 0
    while not lines or lines[-1] != "end":
        if not goes.wait(0.05):
            list(process.link.hear(0))
            continue
        for _ in range(200):
            process.link.socket.send_multipart(parts)
        said += 200
        list(process.link.hear(0))
    print(said, flush=True)


class Flood:
    """That process."""

    def __init__(self, server, keys):
        self.process = subprocess.Popen(
            [sys.executable, "-B", __file__, "flood", server.address, server.key.hex(), keys.secret.hex()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self):
        return int(self.process.communicate("end\n", timeout=60)[0])


def main():
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        server = Server(os.path.abspath(sys.argv[1]), scratch)
        own = {name: Keys(server.key) for name in ("stranger", "probe")}
        server.allow(own["stranger"].public, "stranger", 2)
        server.allow(own["probe"].public, "probe", 0)
        made = subprocess.run([server.troupe, "keys", "new", "--keys", scratch / "honest"],
                              check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        server.allow(bytes.fromhex(made), "honest", 24)
        honest = subprocess.Popen(
            [server.troupe, "join", server.address, "--server", server.key.hex(), "--store",
             scratch / "honest", "--virtual", "24"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            look_at(server, own)
        finally:
            for process in (honest, server.process):
                process.terminate()
            for process in (honest, server.process):
                process.wait(30)


def look_at(server, own):
    stranger, probe = (Process(server.address, 120, prepare=own[x].prepare)
                       for x in ("stranger", "probe"))
    terms = stranger.ask("terms_asked", "terms_given", lowest=1, highest=1)
    until(lambda: server.seen("troupe_versions_total", '{line="model"}', 0) > 20)
    known = lambda: [server.seen("troupe_clients", f'{{state="{x}"}}')
                     for x in ("at_work", "lost", "free", "away")]
    clients = sum(known())
    memory = server.seen("troupe_process_resident_memory_bytes")
    joins = server.seen("troupe_joins_total")
    speed = server.speed(2)

    hellos(stranger, terms)
    until(lambda: server.refused("client_of_another") + server.refused("too_many_frames")
          >= HELLOS)
    assert server.refused("client_of_another") > HELLOS / 2
    time.sleep(1)   # The page is made twice a second.
    assert (sum(known()), server.seen("troupe_joins_total")) == (clients, joins), known()

    stranger.link.close()
    flooding = Flood(server, own["stranger"])
    alone, beside = [], []
    for _ in range(WINDOWS):
        alone.append(p99(delays(probe, WINDOW)))
        flooding.say("go")
        time.sleep(0.3)     # What may come at once has come.
        beside.append(p99(delays(probe, WINDOW)))
        if len(beside) == WINDOWS:
            speed_beside = server.speed(1.5)
        flooding.say("stop")
        time.sleep(0.3)
    said = flooding.end()
    time.sleep(1)
    growth = server.seen("troupe_process_resident_memory_bytes") - memory
    without, beside_it = statistics.median(alone), statistics.median(beside)
    print(f"{HELLOS} hellos of one key and {said} frames, "
          f"{server.refused('too_many_frames'):.0f} not heard: {clients:.0f} clients before and after, "
          f"{growth / 2**20:+.1f} MiB, {speed:.0f} offers/s alone and {speed_beside:.0f} beside it, "
          f"an answer p99 {1000 * without:.1f} ms and {1000 * beside_it:.1f} ms, "
          f"{beside_it / without:.2f} times")
    assert growth < GROWTH, f"the server has grown by {growth} bytes"
    assert speed_beside > speed / 4, "the honest are slower"
    assert beside_it < TWICE * max(without, NOTICED), \
        f"others wait for who floods: {[f'{1000 * x:.1f}' for x in alone]} and {[f'{1000 * x:.1f}' for x in beside]} ms"


if __name__ == "__main__":
    if sys.argv[1] == "flood":
        process_ = Process(sys.argv[2], 120, prepare=Keys(bytes.fromhex(sys.argv[3]), bytes.fromhex(sys.argv[4])).prepare)
        process_.ask("terms_asked", "terms_given", lowest=1, highest=1)
        print("ready", flush=True)
        flood(process_)
    else:
        main()
