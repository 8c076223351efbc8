"""Keys of a process."""

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
