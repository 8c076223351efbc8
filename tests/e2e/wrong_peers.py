"""Servers that do not fit a process, peers whose pieces are too large, and addresses of IPv6: wrong_peers.py TROUPE.

A server that fits gives its terms; a server of this test's own (misfits.py) says them otherwise, and who joins it must end
with 3, and has opened no path that they name (wrong_paths.py). Who connects and does not go on with the handshake is dropped. To the first one a peer says what is larger than it may be: each is dropped or refused and counted,
and a run over ::1 goes on beside it to its end.
"""

import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
# pylint: disable=wrong-import-position
import zmq

import link
import wire
import wrong_paths
from client import Process
from misfits import misfit

CONFIG = """
name = "fits"
method = "fedavg"
rounds = 1000000
evaluate_every = 0
[data]
kind = "synthetic"
dimension = 20
[clients]
clients = 4
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.05
"""
HELLO_MAX = 4096
HANDSHAKE = 5.0  # Seconds that a server waits for the rest of one.
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)  # As ZMTP 3.0 begins.
KINDS_TOO_LARGE = (("hello", 64 * 1024 + 1), ("offer_made", 1 << 20), ("offer_made", (1 << 30) + 1),
                   ("fetch_requested", 1 << 30), ("line_served", 1 << 40), ("scores_told", (1 << 64) - 1))


def soon(found, what, most=60):
    """What is found, once it is there."""
    until = time.monotonic() + most
    while not (it := found()):
        assert time.monotonic() < until, f"not within {most} s: {what}"
        time.sleep(0.02)
    return it


class Server:
    """A served run, and what it says of itself."""

    def __init__(self, troupe, scratch, host):
        self.log = scratch / "server.log"
        (scratch / "run.toml").write_text(CONFIG, encoding="utf-8")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [troupe, "serve", scratch / "run.toml", "--insecure", "--listen", f"tcp://{host}:0", "--folder",
                 scratch / "runs", "--http", "127.0.0.1:0", "--format", "json"], stdout=subprocess.DEVNULL, stderr=log)
        self.address = soon(lambda: self.said(r"^tcp://\S+"), "the server listens")
        self.pages = soon(lambda: self.said(r"http://\S+/metrics"), "the server has pages")
        (self.folder,) = (scratch / "runs").glob("*")

    def said(self, pattern):
        assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
        found = re.search(pattern, self.log.read_text(encoding="utf-8"), re.MULTILINE)
        return found and found[0]

    def metric(self, name):
        with urllib.request.urlopen(self.pages, timeout=10) as page:
            found = re.search(rf"^{name} (\d+)$", page.read().decode(), re.MULTILINE)
        return int(found[1]) if found else 0

    def visits(self):
        return self.metric("troupe_visits_total")


class Silent(threading.Thread):
    """Connects, says so much, and waits for the end."""

    def __init__(self, address, words):
        super().__init__(daemon=True)
        host, port = re.fullmatch(r"tcp://\[?([^]]+?)\]?:(\d+)", address).groups()
        self.began, self.lasted, self.words = time.monotonic(), None, words
        self.socket = socket.create_connection((host, int(port)), timeout=8 * HANDSHAKE)
        self.start()

    def run(self):
        with self.socket as to:
            to.sendall(self.words)
            try:
                while to.recv(1 << 12):
                    pass
            except ConnectionResetError:
                pass
            except TimeoutError:
                return
        self.lasted = time.monotonic() - self.began

    def check(self):
        self.join(8 * HANDSHAKE)
        assert self.lasted and HANDSHAKE - 0.5 < self.lasted < 4 * HANDSHAKE, \
            f"who says {self.words[:12]} and no more is dropped after {self.lasted} s"


def misfits(troupe, terms):
    """Of protocol, layout and model; who sees it in the terms takes no place."""
    lines = [str(x) for x in terms["lines"]]

    def otherwise(pattern, text):
        other = [re.sub(pattern, text, x) for x in lines]
        assert other != lines, (pattern, lines)
        return {**terms, "lines": other}

    misfit(troupe, {**terms, "protocol": 0}, "another protocol; ours is 1")
    misfit(troupe, {**terms, "protocol": 2}, "another protocol; ours is 1")
    misfit(troupe, {**terms, "layout": bytes(32)}, "other blocks than the run's")
    misfit(troupe, otherwise('^kind = "softmax"$', 'kind = "mlp"'), "other blocks than the run's")
    misfit(troupe, otherwise('^kind = "softmax"$', 'kind = "torchscript"\npath = "elsewhere"'), "has a scripted model")
    misfit(troupe, otherwise('^method = .*$', 'method = "of_tomorrow"'), "unknown method 'of_tomorrow'")
    for reason in ("protocol", "layout"):
        misfit(troupe, terms, "that is another run", reason, takes_place=True)


def too_large(server):
    """Says what is larger than it may be; `server` lives on and counts it."""
    peer = link.Link(server.address, lambda x: x.setsockopt(zmq.IPV6, 1))
    peer.wait(60)
    before = server.metric("troupe_malformed_pieces_total")
    # What comes whole and should have come in chunks.
    peer.send({"kind": link.FRAMED, "channel": 9, "body": bytes(link.FRAMED_MAX + 1)})
    soon(lambda: server.metric("troupe_malformed_pieces_total") > before, "a frame that is too large is counted")
    for number, (name, size) in enumerate(KINDS_TOO_LARGE, 1):
        body = link.BEGAN_BODY.pack(wire.KINDS[name].number, 1, 1, 0, size)
        peer.send({"kind": link.BEGAN, "channel": 9, "transfer": number, "body": body})
        kind = answer_to(peer, number)
        assert kind == link.REFUSED, f"a {name} of {size} bytes is answered with {kind}"
    # Whatever a stranger says is no longer than a hello; an offer would fit otherwise.
    body = link.BEGAN_BODY.pack(wire.KINDS["offer_made"].number, 1, 1, 0, HELLO_MAX + 1)
    peer.send({"kind": link.BEGAN, "channel": 8, "transfer": number + 1, "body": body})
    kind = answer_to(peer, number + 1)
    assert kind == link.REFUSED, f"an offer without a session is answered with {kind}"
    is_to_say_hello(peer, 8)
    kind = wire.KINDS["hello"]
    payload = wire.payload_of("hello", {"lowest": 1, "highest": 1, "client": 1}) + bytes(HELLO_MAX)
    peer.send({"kind": link.FRAMED, "channel": 9, "body": wire.frame_of(kind.number, 9, 1, payload)})
    is_to_say_hello(peer, 9)
    # What ZeroMQ itself may not take ends the connection, and a new one is as good.
    peer.socket.send_multipart([link.piece(link.FRAMED, peer.connection)[0], bytes(link.PIECE_MAX + 4096)])
    last = peer.connection
    soon(lambda: list(peer.hear(50)) or peer.connection > last, "a piece that is too large ends its connection")
    peer.wait(60)
    peer.close()


def is_to_say_hello(peer, on):
    found = soon(lambda: [x for channel, name, x in peer.hear(50) if (channel, name) == (on, "farewell")],
                 "what is too long is answered")
    assert (wire.REASONS[found[0]["reason"]], found[0]["text"]) == ("no_session", "say hello first"), found


def answer_to(peer, number):
    """Kind of the piece that speaks of a transfer."""
    found = []

    def looks():
        if peer.socket.poll(50):
            kind, _, _, transfer, _, _ = link.read_piece(peer.socket.recv_multipart())
            if transfer == number:
                found.append(kind)
        return found

    return soon(looks, f"transfer {number} is answered")[0]


def has_six():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    host = "[::1]" if has_six() else "127.0.0.1"
    print(f"at {host}")
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        server = Server(troupe, scratch, host)
        assert server.address.startswith(f"tcp://{host}:"), server.address
        silent = [Silent(server.address, words) for words in (b"", GREETING[:20], GREETING)]
        joined = subprocess.Popen([troupe, "join", server.address, "--insecure", "--virtual", "4"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        try:
            soon(lambda: server.visits() > 0, "visits over this address")
            asks = Process(server.address, 60, prepare=lambda x: x.setsockopt(zmq.IPV6, 1))
            terms = asks.ask("terms_asked", "terms_given", lowest=1, highest=1)
            asks.link.close()
            misfits(troupe, terms)
            wrong_paths.none_is_opened(troupe, scratch, terms)
            too_large(server)
            for peer in silent:
                peer.check()
            visits = server.visits()
            soon(lambda: server.visits() > visits, "visits go on")
            subprocess.run([troupe, "stop", server.folder], check=True, timeout=60, capture_output=True)
            assert (server.process.wait(60), joined.wait(60)) == (0, 0)
        finally:
            for x in (server.process, joined):
                x.kill()
                x.wait()
    print("ok")


if __name__ == "__main__":
    main()
