"""What the witness of wire_kills.py would notice: each law is broken once, by bytes that are made here.

Usage: wire_witness.py GOLDEN, the folder with a frame of each version of each message.
"""

import contextlib
import hashlib
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


def table(store, name, columns, rows):
    store.execute(f"DROP TABLE IF EXISTS {name}")
    store.execute(f"CREATE TABLE {name} ({columns})")
    store.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * (columns.count(',') + 1))})", rows)


def a_folder(folder, heads=((1, 2),), versions=((1, 0), (1, 1), (1, 2)), merges=((1, 1, 7, 3), (1, 2, 8, 1)), given=((7, 8), (8, 8)),
             known=((7, 3), (8, 1)), offers=(), contents=(), events=(), record=None):
    """A run whose server and whose one process ended so."""
    with contextlib.closing(sqlite3.connect(folder / "ledger.sqlite")) as store:
        table(store, "lines", "line, head", heads)
        table(store, "versions", "line, version", versions)
        table(store, "merges", "line, version, client, number", merges)
        table(store, "clients", "client, numbers_upto", given)
        table(store, "contents", "line, version, block, count, content, bytes, what", contents)
        store.commit()
    with contextlib.closing(sqlite3.connect(folder / "clients.sqlite")) as store:
        table(store, "clients", "client, last", known)
        table(store, "offers", "client, number", offers)
        store.commit()
    (folder / "events.jsonl").write_text("".join(json.dumps(x) + "\n" for x in events), encoding="utf-8")
    return types.SimpleNamespace(witness=types.SimpleNamespace(record=record or Record()), folder=folder, clients=[None], late=set(),
                                 drained=True, store=lambda i: folder / "clients.sqlite")


def check_ledgers():
    """What a ledger and a store can have wrong of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def is_wrong(words, check, *args, **left):
            refused(lambda: check(a_folder(folder, **left), *args), words)

        def merged(run):
            return wire_laws.check_ledger(run.folder, 1)

        merges = {1: {1: [(7, 3)], 2: [(8, 1)]}}
        assert merged(a_folder(folder)) == merges
        is_wrong("is in versions 1 and 2", merged, merges=((1, 1, 7, 3), (1, 2, 7, 3)))
        is_wrong("has a gap below 2", merged, versions=((1, 0), (1, 2)))
        is_wrong("has versions of nothing", merged, merges=((1, 1, 7, 3),))
        is_wrong("or beyond its head", merged, merges=((1, 1, 7, 3), (1, 2, 8, 1), (1, 3, 8, 2)))
        is_wrong("has versions of [1, 2] offers", merged, merges=((1, 1, 7, 3), (1, 2, 8, 1), (1, 2, 7, 4)))

        stores = wire_laws.check_stores
        one = {1: {1: [(1, 3)], 2: [(2, 1)]}}
        ends = {"merges": ((1, 1, 1, 3), (1, 2, 2, 1)), "given": ((1, 8), (2, 8)), "known": ((1, 3), (2, 1))}
        assert stores(a_folder(folder, **ends, offers=((1, 4),)), one) == 1
        is_wrong("client 1 has forgotten visit 3", stores, one, **{**ends, "known": ((1, 2), (2, 1))})
        is_wrong("client 2 is ahead: visit 9", stores, one, **{**ends, "known": ((1, 3), (2, 9))})
        is_wrong("client 1 is in two stores", stores, one, **{**ends, "known": ((1, 3), (1, 3))})
        is_wrong("[1, 3]", stores, one, **{**ends, "known": ((1, 3), (3, 1))})

        offered = [{"event": "offered", "client": 7, "visit": 3}, {"event": "offered", "client": 8, "visit": 2}]
        told = wire_laws.check_told
        is_wrong("told of: [(8, 2)]", told, merges, events=offered)
        assert told(a_folder(folder, events=offered, offers=((8, 2),)), merges) == 1
        for verdict, is_over in (("withdrawn", True), ("overloaded", False)):
            events = [*offered, {"event": "refused", "client": 8, "visit": 2, "line": 1, "verdict": verdict}]
            if is_over:
                assert told(a_folder(folder, events=events), merges) == 2
            else:
                is_wrong("told of: [(8, 2)]", told, merges, events=events)

        data = DELTA.tobytes()
        right = hashlib.blake2b(data, digest_size=32).hexdigest()
        row = (1, 5, 1, 6, right, data, "values")
        wire_laws.note_contents(a_folder(folder, contents=(row,)))
        is_wrong("are not what their name says", wire_laws.note_contents, contents=((1, 5, 1, 6, right, data[:-1] + b"x", "values"),))
        is_wrong("the ledger names them", wire_laws.note_contents, contents=((1, 5, 1, 6, right, None, "values"),))
        (folder / "versions").mkdir()
        (folder / "versions" / right).write_bytes(data)
        wire_laws.note_contents(a_folder(folder, contents=((1, 5, 1, 6, right, None, "values"),)))
        of_other = a_visit(("line_served", served(5, DELTA + 1)))
        is_wrong("with other values than it is stored with", wire_laws.note_contents, contents=((1, 5, 1, 6, right, None, "values"),), record=of_other)

        # Of what is durable and lost, and of what has no answer when all is done.
        durable = a_visit(("offer_held", ((7, 3), 1, 1)))
        assert wire_laws.check_durable(durable, MERGES, 5) == (1, 0)
        refused(lambda: wire_laws.check_durable(durable, {1: {}}, 5), "was durable in line 1, and is lost")
        late = a_visit(("offer_held", ((7, 3), 1, 1)), ("offer_answered", answered("withdrawn")))
        assert wire_laws.check_durable(late, {1: {}}, None) == (1, 0)
        late.accepted_at[1] = late.refused_at[(7, 3), 1] + 2 * wire_laws.ANSWERED_IN
        refused(lambda: wire_laws.check_durable(late, {1: {}}, 5), "and refused while the run went on")
        left = a_folder(folder, record=a_visit())
        refused(lambda: wire_laws.check_drained(left), "has no answer from line 1 after all was done")
        left.drained = False
        refused(lambda: wire_laws.check_drained(left), "has no answer from line 1, and the run goes on")
        record = left.witness.record
        record.process_of[7], record.opened[0], record.welcomed[7] = 0, 0.0, (1.0, 1)
        record.last_said[7, 3], record.finished[7] = (2.0, 1), (4.0, 1)
        assert wire_laws.check_drained(left) == 1
        record.finished[7] = (2.0 + 2 * wire_laws.ANSWERED_IN, 1)
        refused(lambda: wire_laws.check_drained(left), "had no answer from line 1 for 10.0 s")
        assert wire_laws.check_drained(a_folder(folder, record=a_visit(("offer_answered", answered("accepted"))))) == 0

    back = wire_laws.check_recoveries
    assert back([(0.1, 0.5), (0.2, 0.5), (1.9, 0.6)]) == (1.9, 0.6)
    slow = wire_laws.LATE * wire_laws.WELCOME_IN + 0.1
    refused(lambda: back([(0.1, 0.5), (slow, 0.5)]), f"welcome {slow:.1f} s after its server listened")
    several = [(0.1, 0.5)] * 2 + [(wire_laws.WELCOME_IN + 0.1, 0.5)] * 3
    refused(lambda: back(several), "s after its server listened")


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
    check_ledgers()
    check_mixing()
    check_values()
    check_checksums()
    check_transfers()
    check_bundles()
    check_units(folder)


if __name__ == "__main__":
    main()
