"""The connection of a process with clients: pieces over ZeroMQ, as docs/wire_format.md has them."""

import collections
import random
import struct
import time

import zmq
import zmq.utils.monitor

import wire

HEAD = struct.Struct("<4sB3sIIQQI")
OPENED, FRAMED, BEGAN, CHUNK, REACHED, REFUSED = range(1, 7)
OPENED_BODY = struct.Struct("<HQ")
BEGAN_BODY = struct.Struct("<HBBIQ")
PLACE = struct.Struct("<Q")
FRAMED_MAX = 64 << 10
PIECE_MAX = 4 << 20
CHUNK_BYTES = 64 << 10
TRANSFER_MAX = 1 << 30   # What this process would hold; a server of a larger model needs more.
WINDOW = 1 << 20         # So much the server may send before it hears that it arrived.
PATIENCE = 5.0           # Seconds for the answer to `opened`.
ENDS_BEFORE_OPENED_MAX = 10


def piece(kind, connection, *, channel=0, transfer=0, place=0, body=b"", magic=b"TRPL"):
    """The two parts of a piece."""
    head = HEAD.pack(magic, kind, bytes(3), connection, channel, transfer, place, len(body))
    return [head + wire.U32.write(wire.crc32c(head, body)), body]


def read_piece(parts):
    """(kind, connection, channel, transfer, place, body) of the two parts, or Malformed."""
    if len(parts) != 2 or len(parts[0]) != HEAD.size + 4:
        raise wire.Malformed(f"{len(parts)} parts")
    head, body = parts
    magic, kind, _, connection, channel, transfer, place, length = HEAD.unpack_from(head)
    if magic != b"TRPL" or length != len(body):
        raise wire.Malformed(f"a piece of {magic}, {length} bytes claimed, {len(body)} there")
    if wire.U32.write(wire.crc32c(head[:HEAD.size], body)) != head[HEAD.size:]:
        raise wire.Malformed("another checksum")
    return kind, connection, channel, transfer, place, body


class Sending:
    """Large messages on their way, one after the other."""

    def __init__(self):
        self.queue = collections.deque()
        self.number = 1         # Of the first in the queue.
        self.sent = None        # Nothing, until the other end says from where.
        self.until = 0
        self.resumed = 0        # How often that was from the middle.

    def again(self):
        """The piece that announces the first: at first, and on each new connection."""
        self.sent, self.until = None, 0
        if not self.queue:
            return []
        channel, head, payload = self.queue[0]
        body = BEGAN_BODY.pack(*head, 0, len(payload))
        return [{"kind": BEGAN, "channel": channel, "transfer": self.number, "body": body}]

    def over(self):
        self.queue.popleft()
        self.number += 1
        return self.again()

    def reached(self, transfer, place, until):
        """How far the other end is, and how far it goes; what is to be said then."""
        if not self.queue or transfer != self.number:
            return []
        if place == len(self.queue[0][2]):
            return self.over()
        if self.sent is None:
            self.sent = place
            self.resumed += place > 0
        self.until = max(self.until, until)
        return []

    def may_go_on(self):
        return self.sent is not None and self.sent < self.until

    def chunk(self):
        payload = self.queue[0][2]
        begin, self.sent = self.sent, min(self.sent + CHUNK_BYTES, self.until, len(payload))
        return {"kind": CHUNK, "transfer": self.number, "place": begin,
                "body": payload[begin:self.sent]}


class Receiving:
    """The large message that is arriving."""

    def __init__(self):
        self.number = 0         # The newest transfer that began.
        self.total = 0
        self.resumed = 0        # How often one began again in its middle.
        self.body = bytearray()

    def credit(self):
        here = len(self.body)
        until = min(here + WINDOW, self.total)
        return {"kind": REACHED, "transfer": self.number, "place": here,
                "body": PLACE.pack(until)}

    def began(self, channel, transfer, body):
        if transfer > self.number:
            *self.head, self.total = BEGAN_BODY.unpack(body)
            if self.total > TRANSFER_MAX:
                return {"kind": REFUSED, "transfer": transfer}
            self.channel, self.number, self.body = channel, transfer, bytearray()
        self.resumed += 0 < len(self.body) < self.total
        return self.credit()

    def chunk(self, transfer, place, body):
        """Returns whether all of it is here now."""
        if transfer != self.number or place != len(self.body) or len(self.body) == self.total:
            return False
        self.body += body
        return len(self.body) == self.total

    def message(self):
        number, version, since, _ = self.head
        return wire.read_payload(number, version, since, self.body)


class Refused(Exception):
    """The server does not let this key in, or is another."""


class Link:
    """One connection after the other to a server, and what survives them."""

    def __init__(self, address, prepare=lambda socket: None):
        self.address = address
        self.prepare = prepare  # Sets a socket's keys, where there are some.
        self.context = zmq.Context.instance()
        self.instance = random.getrandbits(64)
        self.server = None      # The server's instance.
        self.connection = 0
        self.socket = self.monitor = None
        self.is_open = False
        self.opened = 0         # How often.
        self.ends_before_opened = 0     # Connections, one after the other.
        self.sending, self.receiving = Sending(), Receiving()
        self.dropped = 0
        self.dial()

    def dial(self):
        self.close()
        self.connection += 1
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.SNDTIMEO, 2000)
        self.socket.setsockopt(zmq.MAXMSGSIZE, PIECE_MAX)
        self.socket.setsockopt(zmq.HEARTBEAT_IVL, 30000)
        self.prepare(self.socket)
        self.monitor = self.socket.get_monitor_socket(
            zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
            | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
        self.socket.connect(self.address)
        self.send({"kind": OPENED, "body": OPENED_BODY.pack(1, self.instance)})
        self.dialled = time.monotonic()

    def story(self):
        """For who waited in vain."""
        return (f"connection {self.connection}, {'open' if self.is_open else 'not open'}, opened "
                f"{self.opened} times, {self.dropped} pieces dropped, {self.ends_before_opened} ends "
                "before it was open")

    def __del__(self):
        self.close()    # Where a monitor's reader goes before the monitor is stopped libzmq waits for ever to tell it.

    def close(self, linger=0):
        self.is_open = False
        if self.socket and not self.socket.closed:
            self.socket.disable_monitor()
            self.socket.close(linger)

    def is_amid_sending(self):
        return bool(self.sending.queue and self.sending.sent)

    def is_amid_receiving(self):
        return 0 < len(self.receiving.body) < self.receiving.total

    def send(self, *pieces):
        try:
            for x in pieces:
                self.socket.send_multipart(piece(connection=self.connection, **x))
        except zmq.Again:   # Nobody takes anything.
            self.dial()

    def say(self, channel, name, fields, version=None, since=None):
        """Says a message once; who waits for an answer says it again. False: there is no
        connection, or it is on its way already."""
        kind = wire.KINDS[name]
        head = kind.number, version or kind.version, since or kind.since
        return self.is_open and self.say_payload(
            channel, head, wire.payload_of(name, fields, min(head[1], kind.version)))

    def say_payload(self, channel, head, payload):
        if wire.ENVELOPE.size + len(payload) <= FRAMED_MAX:
            self.send({"kind": FRAMED, "channel": channel, "body": wire.frame_of(*head, payload)})
            return True
        if (channel, head, payload) in self.sending.queue:
            return False
        self.sending.queue.append((channel, head, payload))
        if len(self.sending.queue) == 1:
            self.send(*self.sending.again())
        return True

    def wait(self, seconds):
        """Until both ends said `opened`."""
        until = time.monotonic() + seconds
        while not self.is_open:
            if time.monotonic() > until:
                raise TimeoutError(f"nobody answers at {self.address}")
            list(self.hear(50))

    def hear(self, milliseconds):
        """What arrives in that time, at once if something is there: (channel, name, fields)."""
        if not self.is_open and time.monotonic() > self.dialled + PATIENCE:
            self.dial()
        if self.sending.may_go_on():    # One chunk, and then whatever came meanwhile.
            self.send(self.sending.chunk())
            milliseconds = 0
        poller = zmq.Poller()
        poller.register(self.socket, zmq.POLLIN)
        poller.register(self.monitor, zmq.POLLIN)
        ready = dict(poller.poll(milliseconds))
        for _ in range(64 if self.socket in ready else 0):
            try:
                parts = self.socket.recv_multipart(zmq.NOBLOCK)
                yield from self.heard_piece(*read_piece(parts))
            except zmq.Again:
                break
            except wire.Malformed:
                self.dropped += 1
        if self.monitor in ready:
            event = zmq.utils.monitor.recv_monitor_message(self.monitor)["event"]
            # Who speaks without keys to one that has some, or the other way round, may see no more than an end.
            self.ends_before_opened += not self.is_open
            if event != zmq.EVENT_DISCONNECTED or self.ends_before_opened >= ENDS_BEFORE_OPENED_MAX:
                raise Refused(self.address)
            time.sleep(random.uniform(0.0, 0.2))
            self.dial()

    def heard_piece(self, kind, connection, channel, transfer, place, body):
        if connection != self.connection:
            self.dropped += 1
        elif kind == OPENED:
            protocol, instance = OPENED_BODY.unpack(body)
            if instance != self.server:     # It knows nothing of what arrived before.
                self.server, self.receiving = instance, Receiving()
            self.is_open = protocol == 1
            self.ends_before_opened = 0
            self.opened += 1
            self.send(*self.sending.again())
        elif kind == FRAMED:
            yield channel, *wire.read_frame(body)
        elif kind == BEGAN:
            self.send(self.receiving.began(channel, transfer, body))
        elif kind == CHUNK:
            whole = self.receiving.chunk(transfer, place, body)
            self.send(self.receiving.credit())
            if whole:
                yield self.receiving.channel, *self.receiving.message()
        elif kind == REACHED:
            self.send(*self.sending.reached(transfer, place, *PLACE.unpack(body)))
        elif kind == REFUSED and transfer == self.sending.number:
            self.send(*self.sending.over())
