"""What crosses a connection between a joining process and a server, read as docs/wire_format.md has it.

Nothing here is of troupe: ZMTP 3 without encryption (https://rfc.zeromq.org/spec/23/), the pieces of a link, the
frames in them, and the messages that a witness needs.
"""

import collections
import hashlib
import struct

import numpy

GREETING_BYTES = 64
HEAD_SIZE = 40  # Of a piece.
MORE, LONG, COMMAND = 1, 2, 4

OPENED, FRAMED, BEGAN, CHUNK, REACHED, REFUSED, ANNOUNCED, BUNDLED = range(1, 9)
VERDICTS = ("accepted", "duplicate", "too_stale", "overloaded", "malformed", "unknown_expert", "not_invited",
            "withdrawn")


class Malformed(Exception):
    """Bytes that the page does not allow."""


def require(holds, what):
    if not holds:
        raise Malformed(what)


def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


CRC_TABLE = crc_table()


def crc32c(*parts):
    value = 0xFFFFFFFF
    for part in parts:
        for byte in part:
            value = CRC_TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


class Zmtp:
    """One direction of a connection: bytes in, messages of parts out."""

    def __init__(self):
        self.bytes = bytearray()
        self.at = 0
        self.greeted = False
        self.early = 0  # Bytes of a greeting that is not whole yet which `units` has said.
        self.parts = []

    def feed(self, data):
        self.bytes += data
        while (message := self.next()) is not None:
            if message:
                yield message
        del self.bytes[:self.at]
        self.at = 0

    def units(self, data):
        """(bytes, message) of each that is whole, where a command is an empty message, and so is what comes of a greeting, since both
        ends wait for each other's. @pre nothing was fed"""
        self.bytes += data
        if not self.greeted and len(self.bytes) < GREETING_BYTES:
            self.early += len(data)
            yield data, []
            return
        begin, self.early = self.early, 0
        while (message := self.next()) is not None:
            if not self.parts:  # Else another part follows.
                yield bytes(self.bytes[begin:self.at]), message
                begin = self.at
        del self.bytes[:begin]
        self.at -= begin

    def next(self):
        """A message; an empty list for what is none; nothing when more bytes must come."""
        left = len(self.bytes) - self.at
        if not self.greeted:
            if left < GREETING_BYTES:
                return None
            require(self.bytes[self.at] == 0xFF and self.bytes[self.at + 10] == 3, "this is not ZMTP 3")
            self.at += GREETING_BYTES
            self.greeted = True
            return []
        if left < 2:
            return None
        flags = self.bytes[self.at]
        head = 9 if flags & LONG else 2
        if left < head:
            return None
        size = int.from_bytes(self.bytes[self.at + 1:self.at + head], "big")
        if left < head + size:
            return None
        body = bytes(self.bytes[self.at + head:self.at + head + size])
        self.at += head + size
        if flags & COMMAND:
            return []
        self.parts.append(body)
        if flags & MORE:
            return []
        message, self.parts = self.parts, []
        return message


Piece = collections.namedtuple("Piece", "kind connection channel transfer place body")


def read_piece(parts):
    require(len(parts) in (1, 2), f"a piece of {len(parts)} parts")
    whole = b"".join(parts)
    head, body = whole[:HEAD_SIZE], whole[HEAD_SIZE:]
    require(len(head) == 40 and head[:4] == b"TRPL", "this is no head of a piece")
    kind, connection, channel, transfer, place, size, crc = struct.unpack_from("<BxxxIIQQII", head, 4)
    require(size == len(body), f"a piece claims {size} bytes of body, and has {len(body)}")
    # What is long is held against the sender's other copies, not against this.
    require(size > 256 or crc == crc32c(head[:36], body), "a piece's checksum does not agree")
    return Piece(kind, connection, channel, transfer, place, body)


class Reader:
    """Fields, one after the other."""

    def __init__(self, data):
        self.data = memoryview(data)
        self.at = 0

    def take(self, form):
        size = struct.calcsize("<" + form)
        require(self.at + size <= len(self.data), f"there are not {size} more bytes")
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += size
        return values if len(values) > 1 else values[0]

    def bytes(self, size):
        require(self.at + size <= len(self.data), f"there are not {size} more bytes")
        self.at += size
        return self.data[self.at - size:self.at]

    def text(self):
        return bytes(self.bytes(self.take("I"))).decode("utf-8", "replace")

    def floats(self):
        count = self.take("I")
        if count < 1 << 31:
            return numpy.frombuffer(self.bytes(4 * count), "<f4")
        return (numpy.frombuffer(self.bytes(2 * (count - (1 << 31))), "<u2").astype("<u4") << 16).view("<f4")

    def ticket(self):
        client, number, index, seed, role, progress, rnd, cut, expires = self.take("QQQQIdQQq")
        return Ticket((client, number), index, seed, role, progress, rnd, cut, expires, bytes(self.bytes(16)))


Ticket = collections.namedtuple("Ticket", "visit index seed role progress round cut expires mac")
Hello = collections.namedtuple("Hello", "client incarnation examples last open")
Fetch = collections.namedtuple("Fetch", "ticket leg wanted")  # Each of these: line, held, exact, rank.
Offered = collections.namedtuple("Offered", "block base rank weight delta")
Offer = collections.namedtuple("Offer", "ticket disclosed blocks loss")
Answer = collections.namedtuple("Answer", "visit line verdict head")
Served = collections.namedtuple("Served", "visit leg line base unchanged values")


def read_hello(r, version):
    _, _, client, incarnation = r.take("HHQQ")
    r.bytes(32)
    _, examples = r.take("QQ")
    last = r.take("Q") if version >= 2 else None
    tickets = [r.ticket() for _ in range(r.take("I"))] if version >= 3 else []
    return Hello(client, incarnation, examples, last, tickets)


def read_offer(r, _):
    ticket = r.ticket()
    disclosed = [(r.take("I"), [r.take("d") for _ in range(r.take("I"))]) for _ in range(r.take("I"))]
    blocks = [Offered(*r.take("QQId"), r.floats()) for _ in range(r.take("I"))]
    return Offer(ticket, disclosed, blocks, r.take("d"))


def read_answer(r, _):
    client, number, line, verdict, head = r.take("QQQBQ")
    return Answer((client, number), line, VERDICTS[verdict], head)


def read_served(r, _):
    client, number, leg, line, base, unchanged = r.take("QQIQQB")
    return Served((client, number), leg, line, base, unchanged, [(r.take("Q"), r.floats()) for _ in range(r.take("I"))])


def read_fetch(r, _):
    return Fetch(r.ticket(), r.take("I"), [r.take("QQQI") for _ in range(r.take("I"))])


KINDS = {
    0x0001: ("hello", read_hello),
    0x0002: ("welcome", lambda r, _: r.take("HQQ")),
    0x0003: ("farewell", lambda r, _: (r.take("B"), r.text())),
    0x0004: ("beat", None), 0x0005: ("beat_answered", None), 0x0006: ("leave", None), 0x0007: ("terms_asked", None),
    0x0008: ("terms_given", None), 0x0009: ("places_asked", None),
    0x000A: ("places_given", lambda r, _: (r.take("Q"), [r.take("Q") for _ in range(r.take("I"))])),
    0x000B: ("process_parted", lambda r, _: (r.take("B"), r.text())),
    0x000C: ("enrolment_asked", None), 0x000D: ("enrolment_answered", None),
    0x0011: ("frozen_asked", None), 0x0012: ("frozen_given", None),
    0x0101: ("offer_made", read_offer),
    0x0102: ("offer_answered", read_answer),
    0x0103: ("offer_held", lambda r, _: (r.take("QQ"), r.take("Q"), r.take("B"))),
    0x0104: ("offer_awaited", lambda r, _: (r.ticket(), [r.take("Q") for _ in range(r.take("I"))])),
    0x0201: ("invited", lambda r, _: r.ticket()),
    0x0202: ("fetch_requested", read_fetch),
    0x0203: ("line_served", read_served),
    0x0204: ("visit_ended", lambda r, _: (r.take("QQ"), VERDICTS[r.take("B")])),
    0x0205: ("visit_declined", lambda r, _: (r.ticket(), r.take("B"))),
    0x0301: ("version_announced", None),
    0x0401: ("scores_asked", None), 0x0402: ("scores_told", None),
}


def name_of(frame):
    """What kind of message a frame has."""
    (number,) = struct.unpack_from("<H", frame, 4)
    return KINDS[number][0] if number in KINDS else f"kind {number:#06x}"


def without(piece, name):
    """The piece without small frames of that kind; nothing where it was of nothing else."""
    if piece.kind == FRAMED:
        return None if name_of(piece.body) == name else piece
    if piece.kind != BUNDLED:
        return piece
    frames = list(frames_of(piece))
    left = [x for x in frames if name_of(x[1]) != name]
    if len(left) in (0, len(frames)):
        return piece if left else None
    body = b"".join(struct.pack("<II", channel, len(frame)) + frame for channel, frame in left)
    return piece._replace(place=len(left), body=body)


def write_piece(piece, parts):
    """As ZMTP has it, in so many parts."""
    head = b"TRPL" + struct.pack("<BxxxIIQQI", piece.kind, piece.connection, piece.channel, piece.transfer, piece.place,
                                 len(piece.body))
    head += struct.pack("<I", crc32c(head, piece.body))
    return write_message([head + piece.body] if parts == 1 else [head, piece.body])


def write_message(parts):
    out = b""
    for i, part in enumerate(parts):
        flags = MORE if i + 1 < len(parts) else 0
        size = struct.pack(">BB", flags, len(part)) if len(part) < 256 else struct.pack(">BQ", flags | LONG, len(part))
        out += size + part
    return out


def read_payload(kind, version, payload):
    """Returns (name, message); of an unknown kind nothing, since kinds come with builds."""
    name, read = KINDS.get(kind, (f"kind {kind:#06x}", None))
    return name, read(Reader(payload), version) if read else None


def read_frame(data):
    require(len(data) >= 24 and data[:4] == b"TRP1", "this is no frame")
    kind, version, _, flags, reserved, size, _, crc = struct.unpack_from("<HBBHHIII", data, 4)
    require(flags == 0 and reserved == 0 and size == len(data) - 24, "an envelope that does not fit its payload")
    require(size > 256 or crc == crc32c(data[:20], data[24:]), "a frame's checksum does not agree")
    return read_payload(kind, version, memoryview(data)[24:])


def frames_of(piece):
    """(channel, frame) of each that a bundle has."""
    at, count = 0, 0
    while at < len(piece.body):
        require(at + 8 <= len(piece.body), "a bundle ends within a head")
        channel, size = struct.unpack_from("<II", piece.body, at)
        at += 8 + size
        require(at <= len(piece.body), "a bundle ends within a frame")
        yield channel, piece.body[at - size:at]
        count += 1
    require(count == piece.place > 0, f"a bundle of {count} frames claims {piece.place}")


def digest_of(values):
    return hashlib.blake2b(memoryview(values).cast("B"), digest_size=32).hexdigest()


class Transfers:
    """What one end of a link sends to the other in chunks, over all of their connections."""

    def __init__(self):
        self.under_way = {}  # Transfer to its head and what of it went by.
        self.last = 0

    def began(self, piece):
        kind, version, _, correlation, size = struct.unpack("<HBBIQ", piece.body)
        del correlation
        head = (kind, version, size, piece.channel)
        known = self.under_way.get(piece.transfer)
        if known is None:
            require(piece.transfer > self.last, f"transfer {piece.transfer} begins after {self.last}")
            self.last = piece.transfer
            # They go one after the other: what was before is over.
            self.under_way = {piece.transfer: (head, bytearray())}
        else:
            require(known[0] == head, f"transfer {piece.transfer} is said to be another than before")

    def chunk(self, piece):
        """Returns the message when all of it has gone by, for the first time."""
        known = self.under_way.get(piece.transfer)
        require(known is not None, f"a chunk of transfer {piece.transfer}, which did not begin")
        (kind, version, size, channel), there = known
        end = piece.place + len(piece.body)
        require(piece.place <= len(there) and end <= size, f"a chunk at {piece.place} to {end} of {size}, after {len(there)}")
        again = min(end, len(there)) - piece.place
        require(there[piece.place:piece.place + again] == piece.body[:again], "a chunk says other bytes than before")
        was_whole = len(there) == size
        there += piece.body[again:]
        if was_whole or len(there) < size:
            return None
        return channel, *read_payload(kind, version, bytes(there))
