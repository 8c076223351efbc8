"""Frames as docs/wire_format.md has them: what is said, as dicts and bytes."""

import struct

import numpy as np

MAGIC = b"TRP1"
ENVELOPE = struct.Struct("<4sHBBHHIII")
NONE = 2**64 - 1
PAYLOAD_MAX = 2**30
TEXT_MAX = 4096


def crc_table():
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        yield i


TABLE = tuple(crc_table())


def crc32c(*parts):
    crc = 0xFFFFFFFF
    for part in parts:
        for byte in part:
            crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class Malformed(Exception):
    """Bytes that are no frame, or no message of a kind that we know."""


class Reader:
    """Takes bytes from the front of some."""

    def __init__(self, body):
        self.body = memoryview(body)

    def take(self, count):
        if count > len(self.body):
            raise Malformed(f"{count} bytes are claimed, {len(self.body)} are there")
        taken, self.body = self.body[:count], self.body[count:]
        return taken


class Scalar:
    """A number of fixed size; an enum may not be `bound` or above."""

    def __init__(self, code, bound=None):
        self.layout = struct.Struct("<" + code)
        self.bound = bound
        self.default = self.layout.unpack(bytes(self.layout.size))[0]

    def write(self, value):
        return self.layout.pack(value)

    def read(self, reader):
        (value,) = self.layout.unpack(reader.take(self.layout.size))
        if self.bound is not None and value >= self.bound:
            raise Malformed(f"an enum has the value {value}, the last is {self.bound - 1}")
        return value


class Fixed:
    """`bytes[n]`."""

    def __init__(self, count):
        self.count = count
        self.default = bytes(count)

    def write(self, value):
        assert len(value) == self.count
        return bytes(value)

    def read(self, reader):
        return bytes(reader.take(self.count))


class Text:
    """`text`."""

    default = ""

    def write(self, value):
        body = value.encode()
        return U32.write(len(body)) + body

    def read(self, reader):
        count = U32.read(reader)
        if count > TEXT_MAX:
            raise Malformed(f"a text of {count} bytes")
        return bytes(reader.take(count)).decode(errors="replace")


OF_BF16 = 1 << 31


class Floats:
    """`floats`."""

    default = np.zeros(0, "<f4")

    def write(self, value):
        return U32.write(len(value)) + np.asarray(value, "<f4").tobytes()

    def read(self, reader):
        count = U32.read(reader)
        if not count & OF_BF16:
            return np.frombuffer(reader.take(4 * count), "<f4")
        halves = np.frombuffer(reader.take(2 * (count & ~OF_BF16)), "<u2")
        return (halves.astype("<u4") << 16).view("<f4")


class Record:
    """Fields behind each other: a part of a message, as a dict."""

    def __init__(self, **fields):
        self.fields = fields

    @property
    def default(self):
        return {name: kind.default for name, kind in self.fields.items()}

    def write(self, value, count=None):
        named = list(self.fields.items())[:count]
        return b"".join(kind.write(value.get(name, kind.default)) for name, kind in named)

    def read(self, reader, count=None):
        read = self.default
        for name, kind in list(self.fields.items())[:count]:
            read[name] = kind.read(reader)
        return read


class List:
    """`list of X`."""

    default = ()

    def __init__(self, of):
        self.of = of

    def write(self, value):
        return U32.write(len(value)) + b"".join(self.of.write(x) for x in value)

    def read(self, reader):
        count = U32.read(reader)
        if count > len(reader.body):
            raise Malformed(f"a list of {count} in {len(reader.body)} bytes")
        return [self.of.read(reader) for _ in range(count)]


U8, U16, U32, U64, I64, F64 = (Scalar(code) for code in "BHIQqd")
ID = U64
VISIT = Record(client=ID, number=ID)
HEAD = Record(line=ID, version=ID)
TICKET = Record(visit=VISIT, index=U64, seed=U64, role=U32, progress=F64, round=ID, cut=ID,
                expires=I64, mac=Fixed(16))
WANT = Record(line=ID, held=ID, exact=ID, rank=U32)
VALUES = Record(block=ID, values=Floats())
DISCLOSED = Record(index=U32, values=List(F64))
OFFERED = Record(block=ID, base=ID, rank=U32, weight=F64, delta=Floats())
TOLD = Record(client=ID, count=U64, correct=U64, loss=F64, aside_count=U64, aside_correct=U64,
              aside_loss=F64)
FROZEN = Record(name=Text(), content=Fixed(32))

REASONS = ("protocol", "layout", "superseded", "refused", "no_session", "finished")
VERDICTS = ("accepted", "duplicate", "too_stale", "overloaded", "malformed", "unknown_expert",
            "not_invited", "withdrawn")
PARTINGS = ("for_now", "over")
DECLINES = ("busy", "failed", "no_offer", "dropped")


class Kind:
    """A kind of message: its number, its fields, and how many of them each version has."""

    def __init__(self, number, counts=None, since=1, **fields):
        self.number = number
        self.record = Record(**fields)
        self.counts = counts or (len(fields),)
        self.since = since

    @property
    def version(self):
        return len(self.counts)

    def read(self, payload, version, since):
        if not 1 <= since <= self.version:
            raise Malformed(f"readable since {since}, and we read {self.version}")
        if not since <= version:
            raise Malformed(f"version {version}, readable since {since}")
        reader = Reader(payload)
        read = self.record.read(reader, self.counts[min(version, self.version) - 1])
        if version <= self.version and len(reader.body):
            raise Malformed(f"{len(reader.body)} bytes are left")
        return read


KINDS = {
    "hello": Kind(0x0001, (7, 8, 9, 10), lowest=U16, highest=U16, client=ID, incarnation=U64,
                  layout=Fixed(32), nonce=U64, examples=U64, newest=ID, at_work=List(TICKET),
                  run=Fixed(16)),
    "welcome": Kind(0x0002, protocol=U16, nonce=U64, session=ID, heads=List(HEAD)),
    "farewell": Kind(0x0003, (3, 4), reason=Scalar("B", len(REASONS)), text=Text(), nonce=U64,
                     superseded=U64),
    "beat": Kind(0x0004, client=ID, session=ID),
    "beat_answered": Kind(0x0005, heads=List(HEAD)),
    "leave": Kind(0x0006, client=ID),
    "terms_asked": Kind(0x0007, lowest=U16, highest=U16, nonce=U64),
    "terms_given": Kind(0x0008, (6, 10, 11), protocol=U16, nonce=U64, run=Fixed(16), layout=Fixed(32),
                        data=Fixed(32), lines=List(Text()), inputs=List(U32), classes=U32,
                        examples_max=U64, frozen=List(FROZEN), model=Fixed(32)),
    "places_asked": Kind(0x0009, (3, 4), nonce=U64, store=Fixed(16), count=U32, name=Text()),
    "places_given": Kind(0x000A, nonce=U64, clients=List(ID), why=Text()),
    "process_parted": Kind(0x000B, parting=Scalar("B", len(PARTINGS)), text=Text()),
    "enrolment_asked": Kind(0x000C, nonce=U64, own=Fixed(32)),
    "enrolment_answered": Kind(0x000D, nonce=U64, why=Text()),
    "frozen_asked": Kind(0x0011, nonce=U64, content=Fixed(32), first=U64),
    "frozen_given": Kind(0x0012, nonce=U64, total=U64, values=Floats(), why=Text()),
    "offer_made": Kind(0x0101, (4, 5), ticket=TICKET, disclosed=List(DISCLOSED), offered=List(OFFERED),
                       loss=F64, fetched=List(HEAD)),
    "offer_answered": Kind(0x0102, (4, 5), visit=VISIT, line=ID,
                           verdict=Scalar("B", len(VERDICTS)), head=ID, after=U64),
    "offer_held": Kind(0x0103, visit=VISIT, line=ID, durable=U8),
    "offer_awaited": Kind(0x0104, ticket=TICKET, lines=List(ID)),
    "invited": Kind(0x0201, ticket=TICKET),
    "fetch_requested": Kind(0x0202, ticket=TICKET, leg=U32, wants=List(WANT)),
    "line_served": Kind(0x0203, visit=VISIT, leg=U32, line=ID, base=ID, unchanged=U8,
                        blocks=List(VALUES)),
    "visit_ended": Kind(0x0204, visit=VISIT, verdict=Scalar("B", len(VERDICTS))),
    "visit_declined": Kind(0x0205, (2, 2), since=2, ticket=TICKET,
                           decline=Scalar("B", len(DECLINES))),
    "version_announced": Kind(0x0301, line=ID, head=ID),
    "scores_asked": Kind(0x0401, question=U64, clients=List(ID), blocks=List(VALUES)),
    "scores_told": Kind(0x0402, question=U64, scores=List(TOLD)),
}
NAMES = {kind.number: name for name, kind in KINDS.items()}


def payload_of(name, fields, version=None):
    """The payload of a message, as a version of it has them: the newest, if none is named."""
    kind = KINDS[name]
    return kind.record.write(fields, kind.counts[(version or kind.version) - 1])


def frame_of(number, version, since, payload, correlation=0):
    head = ENVELOPE.pack(MAGIC, number, version, since, 0, 0, len(payload), correlation, 0)[:20]
    return head + U32.write(crc32c(head, payload)) + payload


def read_payload(number, version, since, payload):
    """(name, fields) of what an envelope or a transfer says it is."""
    if number not in NAMES:
        raise Malformed(f"no message is of kind {number:#06x}")
    return NAMES[number], KINDS[NAMES[number]].read(payload, version, since)


def read_frame(frame):
    if len(frame) < ENVELOPE.size:
        raise Malformed(f"a frame of {len(frame)} bytes")
    magic, number, version, since, flags, reserved, length, _, crc = ENVELOPE.unpack_from(frame)
    payload = memoryview(frame)[ENVELOPE.size:]
    if magic != MAGIC or length > PAYLOAD_MAX or length != len(payload):
        raise Malformed(f"magic {magic}, {length} bytes are claimed and {len(payload)} there")
    if flags or reserved or crc != crc32c(frame[:20], payload):
        raise Malformed("flags, or another checksum")
    return read_payload(number, version, since, payload)
