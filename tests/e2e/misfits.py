"""A server of a test's own, written from docs/wire_format.md, whose terms do not fit those who join it."""

import collections
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
# pylint: disable=wrong-import-position
import zmq

import link
import wire

MISFIT = 3


class Misfit(threading.Thread):
    """A server that gives these terms and this place, and bids farewell to whoever says hello."""

    def __init__(self, terms, reason="refused", client=1):
        super().__init__(daemon=True)
        self.terms, self.reason, self.client = terms, reason, client
        self.socket = zmq.Context.instance().socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.address = f"tcp://127.0.0.1:{self.socket.bind_to_random_port('tcp://127.0.0.1')}"
        self.heard = collections.Counter()
        self.over = threading.Event()
        self.start()

    def run(self):
        while not self.over.is_set():
            if self.socket.poll(20):
                who, *parts = self.socket.recv_multipart()
                self.take(who, *link.read_piece(parts))
        self.socket.close()

    def take(self, who, kind, connection, channel, _transfer, _place, body):
        if kind == link.OPENED:
            body = link.OPENED_BODY.pack(1, 7)
        elif kind == link.FRAMED:
            name, asked = wire.read_frame(body)
            self.heard[name] += 1
            body = self.answer(name, asked)
        if body and kind in (link.OPENED, link.FRAMED):
            self.socket.send_multipart([who, *link.piece(kind, connection, channel=channel, body=body)])

    def answer(self, name, asked):
        name, fields = {"terms_asked": ("terms_given", self.terms),
                        "places_asked": ("places_given", {"clients": [self.client]}),
                        "hello": ("farewell", {"reason": wire.REASONS.index(self.reason), "text": "that is another run"}),
                        }.get(name, (None, None))
        if name is None:
            return b""
        kind = wire.KINDS[name]
        return wire.frame_of(kind.number, kind.version, kind.since,
                             wire.payload_of(name, {**fields, "nonce": asked["nonce"]}))


def joined(troupe, server, *options):
    """How a process ends that joins it; the server does, too."""
    try:
        return subprocess.run([troupe, "join", server.address, "--insecure", *options], capture_output=True, text=True,
                              timeout=60, check=False)
    finally:
        server.over.set()
        server.join()


def misfit(troupe, terms, says, reason="refused", takes_place=False):
    server = Misfit(terms, reason)
    done = joined(troupe, server)
    assert done.returncode == MISFIT and says in done.stderr, (done.returncode, says, done.stderr)
    assert takes_place == (server.heard["places_asked"] > 0), (says, server.heard)
