"""What the witness of wire_kills.py would notice: each law is broken once, by bytes that are made here.

Usage: wire_witness.py GOLDEN, the folder with a frame of each version of each message.
"""

import pathlib
import struct
import sys

import numpy

import wire_laws
import wire_reader
from wire_reader import BEGAN, BUNDLED, CHUNK, Malformed, Piece
from witness import Record

TICKET = wire_reader.Ticket((7, 3), 12, 5, 0, 0.5, 0, 0, 1, b"m" * 16)
DELTA = numpy.arange(6, dtype="<f4")


def golden(folder):
    """Every frame is read, to its last byte where this reader knows its kind."""
    names = set()
    for path in sorted(folder.glob("*.bin")):
        name, _ = wire_reader.read_frame(path.read_bytes())
        assert path.name.startswith(name + "-v"), f"{path.name} is read as {name}"
        names.add(name)
        damaged = bytearray(path.read_bytes())
        damaged[-1] ^= 1
        refused(lambda data=bytes(damaged): wire_reader.read_frame(data), "checksum", len(damaged) <= 280)
    known = {name for name, _ in wire_reader.KINDS.values()}
    assert names <= known, f"the witness does not know {names - known}"


def refused(act, words, wanted=True):
    try:
        act()
    except (Malformed, AssertionError) as what:
        assert words in str(what), f"'{what}' and not '{words}'"
        return
    assert not wanted, f"nothing says '{words}'"


def offer(base=4, delta=DELTA, ticket=TICKET):
    return wire_reader.Offer(ticket, [], [wire_reader.Offered(1, base, 0, 2.0, delta)], 0.1)


def served(version, values):
    return wire_reader.Served((7, 3), 0, 1, version, 0, [(1, values)])


def answered(verdict):
    return wire_reader.Answer((7, 3), 1, verdict, 5)


def a_visit(*said):
    """A record of a visit in order, and then of what else is said."""
    record = Record(1)
    for name, x in (("invited", TICKET), ("line_served", served(4, DELTA)), ("offer_made", offer()), *said):
        record.heard(name, x, 7, 1)
    return record


def check_record():
    def of(words, *said):
        wrong = a_visit(*said).wrong
        assert any(words in x for x in wrong), f"{wrong}, and not '{words}'"

    assert not a_visit(("offer_made", offer()), ("invited", TICKET), ("line_served", served(4, DELTA))).wrong
    of("is given twice", ("invited", TICKET._replace(index=13)))
    of("invitation 12 is of", ("invited", TICKET._replace(visit=(8, 1))))
    of("said again with another block", ("offer_made", offer(delta=DELTA + 1)))
    of("said again with another block", ("offer_made", offer(base=3)))
    of("to which nobody was invited", ("offer_made", offer(ticket=TICKET._replace(visit=(9, 1)))))
    of("with other values than before", ("line_served", served(4, DELTA + 1)))


def check_laws():
    merges = {1: {5: [(7, 3)]}}
    after = ("line_served", served(5, DELTA + DELTA))
    whole = a_visit(("offer_answered", answered("accepted")), after)
    assert wire_laws.check_answers(whole, merges) == (1, 1)
    assert wire_laws.check_values(whole, merges) == 1
    refused(lambda: wire_laws.check_answers(whole, {1: {}}), "and is in no version")
    refused(lambda: wire_laws.check_answers(a_visit(), {1: {5: [(7, 2)]}}), "was never offered")
    assert wire_laws.check_values(a_visit(("line_served", served(5, DELTA + 2 * DELTA / 30))), merges, {1}, 30) == 1
    refused(lambda: wire_laws.check_values(a_visit(("line_served", served(5, DELTA + 2.2 * DELTA))), merges, {1}, 30),
            "is not the sum of what was offered")
    lost = a_visit(("line_served", served(5, DELTA)))
    refused(lambda: wire_laws.check_values(lost, merges), "is not the mean of what was offered")
    doubled = a_visit(("line_served", served(5, DELTA + 2 * DELTA)))
    refused(lambda: wire_laws.check_values(doubled, merges), "is not the mean of what was offered")


def piece(kind, transfer, place, body):
    return Piece(kind, 1, 3, transfer, place, body)


def check_transfers():
    payload = struct.pack("<QQQBQ", 7, 3, 1, 0, 5)
    head = struct.pack("<HBBIQ", 0x0102, 1, 1, 0, len(payload))
    link = wire_reader.Transfers()
    link.began(piece(BEGAN, 1, 0, head))
    assert link.chunk(piece(CHUNK, 1, 0, payload[:20])) is None
    link.began(piece(BEGAN, 1, 0, head))  # Again, over another connection.
    assert link.chunk(piece(CHUNK, 1, 10, payload[10:]))[1] == "offer_answered"
    refused(lambda: link.chunk(piece(CHUNK, 1, 10, b"x" + payload[11:])), "other bytes than before")
    refused(lambda: link.began(piece(BEGAN, 1, 0, head[:-1] + b"\x01")), "another than before")
    link.began(piece(BEGAN, 2, 0, head))
    refused(lambda: link.chunk(piece(CHUNK, 2, 10, payload[10:])), "after 0")
    refused(lambda: link.chunk(piece(CHUNK, 1, 0, payload)), "did not begin")
    refused(lambda: link.began(piece(BEGAN, 1, 0, head)), "begins after 2")


def check_bundles():
    def bundle(body, count):
        return Piece(BUNDLED, 1, 0, 0, count, body)

    one = struct.pack("<II", 7, 3) + b"abc"
    assert list(wire_reader.frames_of(bundle(one + one, 2))) == [(7, b"abc"), (7, b"abc")]
    refused(lambda: list(wire_reader.frames_of(bundle(one, 2))), "of 1 frames claims 2")
    refused(lambda: list(wire_reader.frames_of(bundle(one[:-1], 1))), "within a frame")
    refused(lambda: list(wire_reader.frames_of(bundle(one + one[:5], 2))), "within a head")


def main():
    golden(pathlib.Path(sys.argv[1]))
    check_record()
    check_laws()
    check_transfers()
    check_bundles()


if __name__ == "__main__":
    main()
