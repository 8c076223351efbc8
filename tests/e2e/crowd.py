"""One key says 20,000 hellos and floods; an honest one has what it had: crowd.py TROUPE.

It floods with small frames, and over other connections with large messages that are nothing. What the
server knows and takes is read from its /metrics; how fast it answers others is asked by the beats of a
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

import zmq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
# pylint: disable=wrong-import-position
import link
import wire
from client import Process
from keys import Keys

HELLOS = 20_000
WINDOW = 0.8    # Seconds with the flood, and as many without.
WINDOWS = 5
TRIES = 4       # So many times as many windows, since machines have other things to do as well.
GROWTH = 12 << 20
TWICE = 2.0
NOTICED = 0.001 # Seconds: below it a ratio is of the machine's own pauses.
SPEED = 0.7     # Of offers without the flood, as many at least beside it.
UPLOADS = 3     # Connections with large messages.
OFFER_BYTES, SCORES_BYTES = 1 << 16, 1 << 20 # Of such a message: what this run's offers have at most, and more.
CHUNK = 1 << 16
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
clients = 28
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


def until(what, seconds=200):
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
        self.pages = said(r"metrics at (http://\S+/metrics)\n")[1]

    def allow(self, public, name, numbers):
        subprocess.run([self.troupe, "keys", "allow", public.hex(), "--name", name, "--keys",
                        self.keys, "--numbers", str(numbers)], check=True,
                       stdout=subprocess.DEVNULL)

    def page(self):
        with urllib.request.urlopen(self.pages, timeout=10) as page:
            return page.read().decode()

    def clients(self):
        """How many there are, whatever they do: of one page, since they go on."""
        return sum(map(int, re.findall(r'^troupe_clients{state="(?:at_work|lost|free|waiting|away)"} (\d+)$', self.page(), re.M)))

    def seen(self, name, labels="", none=None):
        found = re.search(rf"^{name}{re.escape(labels)} (\S+)$", self.page(), re.M)
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


class Probe:
    """A client that beats and trains nothing. Once it has declined it is left alone for a minute."""

    def __init__(self, address, own):
        self.link = (process := Process(address, 120, prepare=own.prepare)).link
        terms = process.ask("terms_asked", "terms_given", lowest=1, highest=1)
        (self.client,) = process.ask("places_asked", "places_given", store=process.store, count=1)["clients"]
        self.link.say(self.client, "hello", hello_of(terms, self.client))
        self.session = self.until("welcome")["session"]
        self.link.say(self.client, "visit_declined", {"ticket": self.until("invited")["ticket"],
                                                      "decline": wire.DECLINES.index("no_offer")})

    def until(self, wanted):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for _, name, fields in self.link.hear(100):
                if name == wanted:
                    return fields
        raise AssertionError(f"no {wanted} comes")

    def delays(self, seconds):
        """How long the server takes to answer, sorted."""
        out, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            self.link.say(self.client, "beat", {"client": self.client, "session": self.session})
            self.until("beat_answered")
            out.append(time.monotonic() - began)
        assert len(out) > 10, f"only {len(out)} beats are answered in {seconds} s"
        return sorted(out)


def p99(x):
    return x[int(len(x) * 0.99)]


def hello_of(terms, client):
    return {"lowest": 1, "highest": 1, "client": client, "incarnation": client, "layout": terms["layout"],
            "nonce": client, "examples": 10, "newest": 0, "at_work": [], "run": terms["run"]}


def hellos(stranger, terms):
    """From one key, each as another client on a channel of its own."""
    kind = wire.KINDS["hello"]
    for i in range(1, HELLOS + 1):
        stranger.link.say_payload(i, (kind.number, kind.version, kind.since),
                                  wire.payload_of("hello", hello_of(terms, i)))
        if i % 500 == 0:
            list(stranger.link.hear(0))


def registers_after(count):
    """What a CRC's register is after so many zero bytes, of each bit that it had."""
    out = [1 << i for i in range(32)]
    for _ in range(count):
        out = [wire.TABLE[x & 0xFF] ^ x >> 8 for x in out]
    return out


class Uploads:
    """Large messages of zeros, one after the other, as fast as they are taken."""

    zeros, after = bytes(CHUNK), []

    def __init__(self, process, name, size):
        self.link, self.size, self.head = process.link, size, (wire.KINDS[name].number, 1, 1, 0, size)
        self.number, self.place, self.until, self.sent = 0, size, 0, 0
        Uploads.after = Uploads.after or registers_after(CHUNK)

    def go_on(self):
        """As far as it may."""
        if self.place == self.size:
            self.number, self.place, self.until = self.number + 1, 0, 0
            self.link.send({"kind": link.BEGAN, "channel": 1, "transfer": self.number, "body": link.BEGAN_BODY.pack(*self.head)})
        while self.place + CHUNK <= self.until:
            self.link.socket.send_multipart(self.chunk())
            self.place += CHUNK
            self.sent += CHUNK

    def chunk(self):
        """As link.piece makes it, but for the checksum of so many zeros."""
        head = link.HEAD.pack(b"TRPL", link.CHUNK, bytes(3), self.link.connection, 0, self.number, self.place, CHUNK)
        register, crc = wire.crc32c(head) ^ 0xFFFFFFFF, 0xFFFFFFFF
        for i, x in enumerate(self.after):
            crc ^= x if register >> i & 1 else 0
        return [head + wire.U32.write(crc), self.zeros]

    def hear(self):
        while True:
            try:
                kind, _, _, transfer, place, body = link.read_piece(self.link.socket.recv_multipart(zmq.NOBLOCK))
            except zmq.Again:
                return
            if transfer == self.number and kind == link.REACHED:
                self.until = max(self.until, *link.PLACE.unpack(body)) if place < self.size else self.until
            elif transfer == self.number and kind == link.REFUSED:
                self.place = self.size


def flood(process, uploads):
    """Beats and uploads, as fast as they go, while the last line that was read is `go`."""
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
        list(process.link.hear(0))
        for x in uploads:
            x.hear()
        if not goes.wait(0.05):
            continue
        for x in uploads:
            x.go_on()
        for _ in range(200):
            process.link.socket.send_multipart(parts)
        said += 200
    print(said, sum(x.sent for x in uploads), flush=True)


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
        """How many beats, and bytes of large messages."""
        return map(int, self.process.communicate("end\n", timeout=60)[0].split())


def main():
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        server = Server(os.path.abspath(sys.argv[1]), scratch)
        own = {name: Keys(server.key) for name in ("stranger", "probe")}
        server.allow(own["stranger"].public, "stranger", UPLOADS)
        server.allow(own["probe"].public, "probe", 1)
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


def measured(server, probe, flooding):
    """Offers a second, and how late answers are in each window: both without the flood and with it, by turns."""
    speeds, alone, beside = [0, 0], [], []
    for i in range(1, WINDOWS + 1):
        alone.append(p99(probe.delays(WINDOW)))
        if i > WINDOWS - 2: # One after the other, since machines have other things to do as well.
            speeds[0] += server.speed(1.5) / 2
        flooding.say("go")
        time.sleep(0.3)     # What may come at once has come.
        beside.append(p99(probe.delays(WINDOW)))
        if i > WINDOWS - 2:
            speeds[1] += server.speed(1.5) / 2
        flooding.say("stop")
        time.sleep(0.3)
    return speeds, alone, beside


def look_at(server, own):
    stranger = Process(server.address, 120, prepare=own["stranger"].prepare)
    terms = stranger.ask("terms_asked", "terms_given", lowest=1, highest=1)
    until(lambda: server.seen("troupe_versions_total", '{line="model"}', 0) > 20)
    probe = Probe(server.address, own["probe"])
    until(lambda: (server.clients(), server.seen("troupe_joins_total")) == (25, 25))
    clients = server.clients()
    memory = server.seen("troupe_process_resident_memory_bytes")
    joins = server.seen("troupe_joins_total")

    hellos(stranger, terms)
    until(lambda: server.refused("client_of_another") + server.refused("too_many_frames")
          >= HELLOS)
    assert server.refused("client_of_another") > HELLOS / 2
    time.sleep(1)   # The page is made twice a second.
    now = server.clients(), server.seen("troupe_joins_total")
    assert now == (clients, joins), f"{now} clients and joins, and not {clients, joins}"

    stranger.link.close()
    flooding = Flood(server, own["stranger"])
    for tried in range(1, TRIES + 1):
        speeds, alone, beside = measured(server, probe, flooding)
        without, beside_it = statistics.median(alone), statistics.median(beside)
        if speeds[1] > SPEED * speeds[0] and beside_it < TWICE * max(without, NOTICED):
            break
    said, uploaded = flooding.end()
    time.sleep(1)
    growth = server.seen("troupe_process_resident_memory_bytes") - memory
    print(f"{HELLOS} hellos of one key, {said} frames and {uploaded / 2**20:.0f} MiB of large messages, "
          f"{server.refused('too_many_frames'):.0f} not heard: {clients} clients before and after, "
          f"{growth / 2**20:+.1f} MiB, {speeds[0]:.0f} offers/s alone and {speeds[1]:.0f} beside it, "
          f"an answer p99 {1000 * without:.1f} ms and {1000 * beside_it:.1f} ms, "
          f"{beside_it / without:.2f} times, when tried {tried} times")
    assert uploaded > 10 * SCORES_BYTES and said > 1000, "this was no flood"
    assert growth < GROWTH, f"the server has grown by {growth} bytes"
    assert speeds[1] > SPEED * speeds[0], "the honest are slower"
    assert beside_it < TWICE * max(without, NOTICED), \
        f"others wait for who floods: {[f'{1000 * x:.1f}' for x in alone]} and {[f'{1000 * x:.1f}' for x in beside]} ms"


if __name__ == "__main__":
    if sys.argv[1] == "flood":
        own_ = Keys(bytes.fromhex(sys.argv[3]), bytes.fromhex(sys.argv[4]))
        beats_ = Process(sys.argv[2], 120, prepare=own_.prepare)
        beats_.ask("terms_asked", "terms_given", lowest=1, highest=1)
        # What is large is taken of processes with a session alone.
        uploads_ = [Uploads(Probe(sys.argv[2], own_),
                            *(("scores_asked", SCORES_BYTES) if i % 2 else ("offer_made", OFFER_BYTES)))
                    for i in range(UPLOADS)]
        print("ready", flush=True)
        flood(beats_, uploads_)
    else:
        main()
