"""Keys of a process, and lines that enrol one."""

import os

import zmq
from zmq.utils import z85


class Keys:
    """A pair, drawn if no secret is given, and the public key of the server."""

    def __init__(self, server, secret=None):
        self.server = server
        self.secret = secret or os.urandom(32)
        self.public = z85.decode(zmq.curve_public(z85.encode(self.secret)))

    def prepare(self, socket):
        socket.setsockopt(zmq.CURVE_SERVERKEY, self.server)
        socket.setsockopt(zmq.CURVE_PUBLICKEY, self.public)
        socket.setsockopt(zmq.CURVE_SECRETKEY, self.secret)


def read_line(text):
    """(address, the server's key, the keys of the line), of ADDRESS/KEY/SECRET; or nothing."""
    parts = text.removeprefix("tcp://").split("/")
    if len(parts) != 3:
        return None
    address, server, secret = parts[0], *map(bytes.fromhex, parts[1:])
    return "tcp://" + address, server, Keys(server, secret)
