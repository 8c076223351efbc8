"""What must hold of a served run whose processes were killed: by what went by on the wire (witness.py), the ledger as
stock SQLite reads it, and the clients' stores."""

import collections
import hashlib
import json
import os

import numpy

from served_run import read

MERGED = {"accepted", "duplicate"}
SAID_AGAIN_AFTER = 10.0
ANSWERED_IN = 5.0  # Seconds that a run's end may take to reach who has just offered: machines have other things to do as well.
WELCOME_IN = float(os.environ.get("TROUPE_WELCOME_IN", "2"))  # Seconds, once the server is there; for three of four,
# and so many times as long for the others, where the machine has other things to do as well.
LATE = 1 if "TROUPE_KILLS" in os.environ else 4


def merges_in(folder):
    """Line to version to its visits."""
    merges = collections.defaultdict(lambda: collections.defaultdict(list))
    for line, version, client, number in read(folder / "ledger.sqlite", "SELECT * FROM merges"):
        merges[line][version].append((client, number))
    return merges


def check_ledger(folder, buffer):
    """Versions have no gap, no visit is in two. Returns line to version to its visits."""
    ledger = folder / "ledger.sqlite"
    heads = dict(read(ledger, "SELECT line, head FROM lines"))
    merges, where = merges_in(folder), {}
    for line, versions in merges.items():
        for version, visits in versions.items():
            for visit in visits:
                before = where.setdefault((line, visit), version)
                assert before == version, f"visit {visit} is in versions {before} and {version} of line {line}"
    for line, head in heads.items():
        versions = [v for v, in read(ledger, "SELECT version FROM versions WHERE line = ? ORDER BY version", line)]
        assert versions == list(range(head + 1)), f"line {line} has a gap below {head}"
        assert set(merges[line]) == set(range(1, head + 1)), f"line {line} has versions of nothing, or beyond its head"
        sizes = {len(visits) for visits in merges[line].values()}
        assert buffer is None or sizes <= {buffer}, f"line {line} has versions of {sorted(sizes)} offers"
    return merges


def note_contents(run):
    """Reads the values that the ledger has now: they must be what their names say, and what was served."""
    record, ledger, missing = run.witness.record, run.folder / "ledger.sqlite", set()
    with_bytes = "SELECT line, version, block, count, content, bytes FROM contents WHERE what = 'values'"
    for line, version, block, count, content, data in read(ledger, with_bytes):
        if (line, version, block) in record.versions and data is None:
            assert record.versions[line, version, block][0] == content, \
                f"version {version} of line {line} was served with other values than it is stored with"
            continue
        if data is None:
            try:
                data = (run.folder / "versions" / content).read_bytes()
            except FileNotFoundError:
                missing.add(content)
                continue
        found = hashlib.blake2b(data, digest_size=32).hexdigest()
        assert found == content, f"the values of version {version}, block {block}, are not what their name says"
        assert len(data) == 4 * count
        record.note_version(line, version, block, numpy.frombuffer(data, "<f4"), "stored")
    # A server that lives drops versions meanwhile.
    missing &= {content for content, in read(ledger, "SELECT content FROM contents")} if missing else set()
    assert not missing, f"values are not there, and the ledger names them: {sorted(missing)}"


def check_answers(record, merges):
    """What went by as merged is merged, and what is merged was offered."""
    merged = {(visit, line): version for line, versions in merges.items()
              for version, visits in versions.items() for visit in visits}
    said = 0
    for (visit, line), verdicts in record.answers.items():
        if MERGED & set(verdicts):
            said += 1
            assert (visit, line) in merged, f"visit {visit} was told {dict(verdicts)} by line {line}, and is in no version"
    for visit, line in merged:
        assert visit in record.offers, f"visit {visit} is in line {line} and was never offered"
        assert any(record.block_lines.get(block) == line for block in record.offers[visit]), \
            f"visit {visit} offered nothing to line {line}, which merged it"
    return said, len(merged)


def check_durable(record, merges, buffer):
    """What was said to outlive its server did: it is merged or refused, and with a buffer, which refuses nothing on time,
    only by the end of the run. Returns how many there were, and after how many their clients asked."""
    merged = {(visit, line) for line, versions in merges.items() for visits in versions.values() for visit in visits}
    for part in record.durable - merged:
        visit, line = part
        over, _ = record.finished.get(visit[0], (None, None))
        assert part in record.refused_at or over is not None, f"visit {visit} was durable in line {line}, and is lost"
        if buffer and part in record.refused_at:
            assert record.refused_at[part] > record.accepted_at.get(line, 0) - ANSWERED_IN, \
                f"visit {visit} was durable in line {line}, and refused while the run went on"
    return len(record.durable), len(record.asked_after)


def wait_of(record, visit, over):
    """For how long the last server left the offer without an answer, or its client did not say it again; but for an answer
    that was lost with its connection."""
    at, server = record.last_said[visit]
    since, by = record.welcomed.get(visit[0], (0, None))
    if record.finished[visit[0]][1] != by:
        return 0  # Who has no session is not heard.
    opened = record.opened[record.process_of[visit[0]]]
    if server != by or since > at:
        return over - max(since, opened)
    return over - at - (SAID_AGAIN_AFTER if opened > at else 0)


def is_open(record, visit, line):
    """Whether an offer is neither answered by that line, nor its visit over."""
    final = set(record.answers.get((visit, line), ())) - {"overloaded"}
    return not (final or visit in record.ended or visit in record.declined)


def unsettled(record, since):
    """What comes to an end though nobody is invited: who was not welcome `since` then, what clients are at work on, and what they
    offered that is neither answered nor held by the server that is there."""
    out = [f"client {x}" for x in list(record.process_of) if record.welcomed[x][0] < since]
    for visits in list(record.begun.values()):
        out += [x for x in visits if x not in record.offers and x not in record.ended and x not in record.declined]
    for visit, blocks in list(record.offers.items()):
        _, server = record.welcomed[visit[0]]
        for line in {record.block_lines[block] for block in blocks}:
            if is_open(record, visit, line) and record.held.get((visit, line)) != server:
                out.append((visit, line))
    return out


def check_drained(run):
    """Whatever was said to the last server is answered for each of its lines, or the whole visit is. In a run that ends by
    itself, who is told that it is over asks for no more; returns how many such offers there are."""
    record, open_ends = run.witness.record, 0
    late = {client for i in run.late for client, in read(run.store(i), "SELECT client FROM clients")}
    for visit, blocks in record.offers.items():
        for line in {record.block_lines[block] for block in blocks}:
            if not is_open(record, visit, line):
                continue
            assert not run.drained, f"the offer of visit {visit} has no answer from line {line} after all was done"
            open_ends += 1
            over, _ = record.finished.get(visit[0], (None, None))
            assert over is not None or visit[0] in late, \
                f"the offer of visit {visit} has no answer from line {line}, and the run goes on"
            waited = wait_of(record, visit, over) if over else 0
            assert waited < ANSWERED_IN, f"the offer of visit {visit} had no answer from line {line} for {waited:.1f} s"
    return open_ends


def check_leases(run):
    """Numbers that were given belong to somebody from then on, whatever becomes of the server."""
    kept = json.loads((run.folder / "processes.json").read_text(encoding="utf-8"))["processes"].values()
    for numbers in list(run.witness.record.leases):
        assert any(set(numbers) <= set(x) for x in kept), f"the lease of {sorted(numbers)} is not stored"


def check_kept(run, i):
    """Of a process that was killed: what its clients said follows from what its disk has. An offer that was answered it may have
    let go of."""
    record = run.witness.record
    clients = {client for client, process in list(record.process_of.items()) if process == i}
    if not clients:
        return
    kept = {client: (life, last) for client, life, last in read(run.store(i), "SELECT client, incarnation, last FROM clients")}
    offers = set(read(run.store(i), "SELECT client, number FROM offers"))
    over = {visit for (visit, _), verdicts in list(record.answers.items()) if set(verdicts) - {"overloaded"}}
    over |= record.declined | set(record.ended)
    for client in clients:
        life, last = kept.get(client, (0, 0))
        said, begun = record.lives[client], record.begun_upto[client]
        assert said <= life, f"client {client} said hello in its life {said}, which it had not kept"
        assert begun <= last, f"client {client} spoke of its visit {begun}, which it had not kept"
    for visit in set(record.offering) - over - offers:
        assert visit[0] not in clients, f"client {visit[0]} offered for its visit {visit[1]}, which it had not kept"


def check_stores(run, merges):
    """No client has forgotten what is merged of it, and none knows of a visit that the server could give again."""
    ledger = run.folder / "ledger.sqlite"
    given = dict(read(ledger, "SELECT client, numbers_upto FROM clients"))
    newest = collections.Counter()
    for versions in merges.values():
        for visits in versions.values():
            for client, number in visits:
                newest[client] = max(newest[client], number)
    known, offers = {}, 0
    for i in range(len(run.clients)):
        store = run.store(i)
        offers += read(store, "SELECT count(*) FROM offers")[0][0]
        for client, last in read(store, "SELECT client, last FROM clients"):
            assert client not in known, f"client {client} is in two stores"
            known[client] = last
    assert sorted(known) == list(range(1, len(known) + 1)), sorted(known)
    for client, last in known.items():
        assert newest[client] <= last, f"client {client} has forgotten visit {newest[client]}, it remembers {last}"
        assert last <= given.get(client, 0), f"client {client} is ahead: visit {last}, and up to {given.get(client)} were given"
    return offers


def check_told(run, merges):
    """Where nobody reads along: what a client offered, as the record has it, and keeps no more, was merged, or the record has why
    not, which a server writes before it says so. Returns of how many that is so."""
    events = [json.loads(x) for x in (run.folder / "events.jsonl").read_bytes().split(b"\n")[:-1]]
    offered, over = ({(x["client"], x["visit"]) for x in events if x["event"] in names}
                     for names in (("offered",), ("withdrawn", "visit_failed")))
    refused = {(x["line"], x["client"], x["visit"]) for x in events if x["event"] == "refused" and x["verdict"] != "overloaded"}
    kept = {visit for i in range(len(run.clients)) for visit in read(run.store(i), "SELECT client, number FROM offers")}
    told = offered - over - kept
    assert told, "nobody was told of anything"
    for line, versions in merges.items():
        lacks = {x for x in told if (line, *x) not in refused} - {visit for visits in versions.values() for visit in visits}
        assert not lacks, f"line {line} has in no version what clients were told of: {sorted(lacks)[:5]}"
    return len(told)


def check_recoveries(waited):
    """Returns the slowest, and what its server took to listen."""
    for share, most in ((0.75, WELCOME_IN), (1.0, LATE * WELCOME_IN)) if len(waited) > 3 else ((1.0, LATE * WELCOME_IN),):
        slowest, took = waited[int(share * (len(waited) - 1))] if waited else (0, 0)
        assert slowest <= most, f"a process was welcome {slowest:.1f} s after its server listened, which took {took:.1f} s: {waited}"
    return slowest, took


def check_wire(record):
    """The bytes of all that was read were as the page has them."""
    assert not record.wrong, f"{len(record.wrong)} wrong on the wire: {record.wrong[:5]}"


