"""What the witness of wire_kills.py would notice: each law is broken once, by bytes that are made here.

Usage: wire_witness.py GOLDEN, the folder with a frame of each version of each message.
"""

import contextlib
import json
import pathlib
import sqlite3
import struct
import sys
import tempfile
import types

import numpy

import wire_laws
import wire_reader
import wire_values
import witness
from wire_reader import BEGAN, BUNDLED, CHUNK, FRAMED, Malformed, Piece
from wire_record import Record

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
    record = Record()
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


MERGES = {1: {5: [(7, 3)]}}


def check_laws():
    whole = a_visit(("offer_answered", answered("accepted")), ("line_served", served(5, DELTA + DELTA)))
    assert wire_laws.check_answers(whole, MERGES) == (1, 1)
    refused(lambda: wire_laws.check_answers(whole, {1: {}}), "and is in no version")
    refused(lambda: wire_laws.check_answers(a_visit(), {1: {5: [(7, 2)]}}), "was never offered")
    assert not wire_laws.is_open(whole, (7, 3), 1) and wire_laws.is_open(a_visit(), (7, 3), 1)
    assert not wire_laws.is_open(a_visit(("visit_ended", ((7, 3), "withdrawn"))), (7, 3), 1)
    assert wire_laws.is_open(a_visit(("offer_answered", answered("overloaded"))), (7, 3), 1)


def check_drain():
    """What is waited for before a run is ended with nothing unanswered."""
    def left(*said, server=1):
        record = a_visit(*said)
        record.process_of[7], record.welcomed[7] = 0, (2.0, server)
        return wire_laws.unsettled(record, 1.0)

    held = ("offer_held", ((7, 3), 1, 0))
    assert left() == [((7, 3), 1)]
    assert left(held) == left(("offer_answered", answered("accepted"))) == []
    assert left(held, server=2) == [((7, 3), 1)], "who held it is gone"
    at_work = ("hello", wire_reader.Hello(7, 1, 10, 4, [TICKET._replace(visit=(7, 4))]))
    assert left(held, at_work) == [(7, 4)]
    assert left(held, at_work, ("visit_declined", (TICKET._replace(visit=(7, 4)), 0))) == []
    late = a_visit(held)
    late.process_of[7], late.welcomed[7] = 0, (0.5, 1)
    assert wire_laws.unsettled(late, 1.0) == ["client 7"]


def check_disks():
    """What whoever is killed leaves behind, as its file of clients and its book of leases."""
    hello = ("hello", wire_reader.Hello(7, 2, 10, 2, []))

    def a_run(record, client=(7, 2, 3), offers=((7, 3),), leases=(7, 8)):
        with contextlib.closing(sqlite3.connect(folder / "clients.sqlite")) as store:
            store.executescript("DROP TABLE IF EXISTS clients; DROP TABLE IF EXISTS offers;"
                                "CREATE TABLE clients (client, incarnation, last); CREATE TABLE offers (client, number)")
            store.execute("INSERT INTO clients VALUES (?, ?, ?)", client)
            store.executemany("INSERT INTO offers VALUES (?, ?)", offers)
            store.commit()
        (folder / "processes.json").write_text(json.dumps({"processes": {"ab": leases}}), encoding="utf-8")
        record.process_of[7] = 0
        return types.SimpleNamespace(witness=types.SimpleNamespace(record=record), folder=folder,
                                     store=lambda i: folder / "clients.sqlite")

    def lacks(words, *said, **disk):
        refused(lambda: wire_laws.check_kept(a_run(a_visit(hello, *said), **disk), 0), words)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wire_laws.check_kept(a_run(a_visit(hello)), 0)
        wire_laws.check_kept(a_run(a_visit(hello), client=(7, 0, 0), offers=()), 1)  # Of another process.
        for over in (("offer_answered", answered("accepted")), ("visit_ended", ((7, 3), "too_stale"))):
            wire_laws.check_kept(a_run(a_visit(hello, over), offers=()), 0)
        lacks("in its life 2, which it had not kept", client=(7, 1, 3))
        lacks("of its visit 3, which it had not kept", client=(7, 2, 2))
        lacks("for its visit 3, which it had not kept", offers=())
        lacks("for its visit 3, which it had not kept", ("offer_answered", answered("overloaded")), offers=())
        begun = a_visit()
        begun.note_offering((7, 4))
        refused(lambda: wire_laws.check_kept(a_run(begun, client=(7, 2, 4)), 0), "for its visit 4")
        fetch = ("fetch_requested", wire_reader.Fetch(TICKET._replace(visit=(7, 4)), 0, []))
        lacks("of its visit 4, which it had not kept", fetch)
        given = ("places_given", (1, [7, 8]))
        wire_laws.check_leases(a_run(a_visit(given)))
        refused(lambda: wire_laws.check_leases(a_run(a_visit(given), leases=[7])), "the lease of [7, 8] is not stored")


def check_mixing():
    """A chunk of a transfer that is over is said again within the next, once, where it would be taken."""
    def transfer(number, byte):
        return [wire_reader.write_piece(Piece(CHUNK, 1, 3, number, place, bytes([byte]) * 100), 2) for place in (0, 100)]

    old, new, third = transfer(1, 1), transfer(2, 2), transfer(3, 3)
    data = b"\xff" + bytes(9) + b"\x03" + bytes(53) + b"".join(old + new + third)
    mixed = b"\xff" + bytes(9) + b"\x03" + bytes(53) + b"".join(old + [new[0], old[1], new[1]] + third)
    for size in (1, 7, 150, len(data)):
        testee = witness.Witness(("127.0.0.1", 1), 0)
        testee.piece = lambda *_: None
        one, done = witness.Connection(0, None, None), testee.mix()
        said = b"".join(testee.look_at(one, "up", data[at:at + size]) for at in range(0, len(data), size))
        assert said == mixed and done.is_set() and not testee.record.wrong, (size, testee.record.wrong)
        testee.selector.close()


def computed(after, merges=None, sums=(), before=4, **options):
    """How many versions are computed again, of a visit's offer and what was served after it."""
    record = a_visit(("line_served", served(before, DELTA)), ("line_served", served(before + 1, after)))
    versions = wire_values.Versions(sums, **options)
    versions.go_on(record, merges or MERGES, last=True)
    assert all(x.delta is None for x in record.offers[7, 3].values()), "what nobody needs is kept"
    return len(versions.done)


def check_values():
    assert computed(DELTA + DELTA) == 1
    step = numpy.float32(1) + numpy.finfo("f4").eps
    for wrong in (DELTA, DELTA + 2 * DELTA, (DELTA + DELTA) * step):
        refused(lambda after=wrong: computed(after), "is not the mean of what was offered")
    refused(lambda: computed(DELTA + DELTA, {1: {5: [(7, 2)]}}), "was never offered")
    refused(lambda: computed(DELTA + DELTA, {1: {5: [(7, 3)], 6: [(7, 3)]}}), "block 1, could not be computed")
    a_sum = {"merges": {1: {1: [(7, 3)]}}, "sums": {1}, "before": 0, "clients": 30, "bits": [30]}
    assert computed((2.0 * DELTA / 30).astype("f4"), **a_sum) == computed((2.0 * DELTA / 7).astype("f4"), **a_sum) == 1
    refused(lambda: computed(2.2 * DELTA, **a_sum), "is not the sum of what was offered")
    # What is added is on a grid, whose steps show where they are large.
    part = wire_values.parts_of(a_visit(("offer_made", offer(delta=DELTA))), [(7, 3)], 1)[0]._replace(delta=DELTA / 16)
    assert list(wire_values.total_of([part], 1)) == [0, 0, 0, 0.5, 0.5, 0.5], wire_values.total_of([part], 1)


def check_checksums():
    """By hand: each word goes into one of four sums, and the sums into how many words there were."""
    def mixed(a, b):
        x = a ^ b
        return ((x << 29 | x >> 35) * 0x9E3779B97F4A7C15) % 2**64

    whole = wire_reader.Offer(TICKET, [(2, [0.5])], [wire_reader.Offered(1, 4, 0, 2.0, DELTA[:3])], 0.25)
    first, last = struct.unpack("<QQ", struct.pack("<fff", *DELTA[:3]) + bytes(4))
    double = lambda x: struct.unpack("<Q", struct.pack("<d", x))[0]
    words = [1, 4, 0, double(2.0), 3, first, last, 2, double(0.5), double(0.25)]
    sums = [1, 2, 3, 4]
    for i, word in enumerate(words):
        sums[i % 4] = mixed(sums[i % 4], word % 2**64)
    total = len(words)
    for x in sums:
        total = mixed(total % 2**64, x)
    found = wire_values.checksums_of({(7, 3): whole, (7, 4): whole._replace(loss=0.5)})
    assert found[7, 3] == f"{total:016x}" != found[7, 4], found


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


def check_units(folder):
    """Whoever keeps invitations back hands on every other byte as it was."""
    frames = {name: next(folder.glob(f"{name}-v*.bin")).read_bytes() for name in ("invited", "welcome")}
    bundled = b"".join(struct.pack("<II", 7, len(x)) + x for x in (frames["welcome"], frames["invited"], frames["welcome"]))
    pieces = [Piece(FRAMED, 1, 7, 0, 0, frames["welcome"]), Piece(FRAMED, 1, 7, 0, 0, frames["invited"]),
              Piece(BUNDLED, 1, 0, 0, 3, bundled), Piece(CHUNK, 1, 3, 1, 0, bytes(1000))]
    greeting = b"\xff" + bytes(9) + b"\x03" + bytes(53) + b"\x04\x05READY"
    for parts in (1, 2):
        data = greeting + b"".join(wire_reader.write_piece(x, parts) for x in pieces)
        assert [wire_reader.read_piece(x) for x in wire_reader.Zmtp().feed(data)] == pieces
        for size in (1, 11, len(data)):
            zmtp, said = wire_reader.Zmtp(), []
            for at in range(0, len(data), size):
                said += zmtp.units(data[at:at + size])
            assert b"".join(raw for raw, _ in said) == data
            assert [wire_reader.read_piece(x) for _, x in said if x] == pieces
    left = [wire_reader.without(x, "invited") for x in pieces]
    assert left[0] is pieces[0] and left[1] is None and left[3] is pieces[3]
    assert [x for _, x in wire_reader.frames_of(left[2])] == 2 * [frames["welcome"]]
    assert wire_reader.without(pieces[2], "beat") is pieces[2]


def main():
    folder = pathlib.Path(sys.argv[1])
    golden(folder)
    check_record()
    check_laws()
    check_drain()
    check_disks()
    check_mixing()
    check_values()
    check_checksums()
    check_transfers()
    check_bundles()
    check_units(folder)


if __name__ == "__main__":
    main()
