"""What must hold of a served run whose processes were killed: by what went by on the wire (witness.py), the ledger as
stock SQLite reads it, and the clients' stores."""

import collections
import hashlib

import numpy

from served_run import read

MERGED = {"accepted", "duplicate"}
SAID_AGAIN_AFTER = 10.0
ANSWERED_IN = 1.0  # Seconds that a run's end may take to reach who has just offered.


def check_ledger(folder, buffer):
    """Versions have no gap, no visit is in two. Returns line to version to its visits."""
    ledger = folder / "ledger.sqlite"
    heads = dict(read(ledger, "SELECT line, head FROM lines"))
    merges = collections.defaultdict(lambda: collections.defaultdict(list))
    where = {}
    for line, version, client, number in read(ledger, "SELECT * FROM merges"):
        before = where.setdefault((line, client, number), version)
        assert before == version, f"visit {client, number} is in versions {before} and {version} of line {line}"
        merges[line][version].append((client, number))
    for line, head in heads.items():
        versions = [v for v, in read(ledger, "SELECT version FROM versions WHERE line = ? ORDER BY version", line)]
        assert versions == list(range(head + 1)), f"line {line} has a gap below {head}"
        assert set(merges[line]) == set(range(1, head + 1)), f"line {line} has versions of nothing, or beyond its head"
        sizes = {len(visits) for visits in merges[line].values()}
        assert buffer is None or sizes <= {buffer}, f"line {line} has versions of {sorted(sizes)} offers"
    return merges


def note_contents(run):
    """Reads the values that the ledger has now: they must be what their names say, and what was served."""
    record, ledger = run.witness.record, run.folder / "ledger.sqlite"
    with_bytes = "SELECT line, version, block, count, content, bytes FROM contents WHERE what = 'values'"
    for line, version, block, count, content, data in read(ledger, with_bytes):
        if (line, version, block) in record.versions and data is None:
            assert record.versions[line, version, block][0] == content, \
                f"version {version} of line {line} was served with other values than it is stored with"
            continue
        if data is None:
            data = (run.folder / "versions" / content).read_bytes()
        found = hashlib.blake2b(data, digest_size=32).hexdigest()
        assert found == content, f"the values of version {version}, block {block}, are not what their name says"
        assert len(data) == 4 * count
        record.note_version(line, version, block, numpy.frombuffer(data, "<f4"), "stored")


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


def is_near(found, wanted, step):
    size = max(numpy.abs(step).max(), 1e-6 * numpy.abs(wanted).max())
    return numpy.abs(found - wanted).max() <= 1e-2 * size


def is_sum(before, after, total, clients):
    """Whether what is summed over all clients ever admitted grew by `total`, while they became no fewer."""
    return any(is_near(after * m, before * n + total, total)
               for m in range(clients, 0, -1) for n in range(m, 0, -1))


def check_values(record, merges, sums=frozenset(), clients=0):
    """Each version is what was before it and the mean of what went by as offers, as far as their values are known.
    `sums`: blocks that are sums over clients ever admitted, of so many. Returns how many were compared."""
    compared = 0
    for (line, version, block), (_, after) in record.versions.items():
        before = record.versions.get((line, version - 1, block))
        if version == 0 or before is None:
            continue
        offers = [record.offers[visit][block] for visit in merges[line][version]]
        total = sum(weight * delta for _, _, weight, _, delta in offers)
        mean = total / sum(weight for _, _, weight, _, _ in offers)
        if block in sums:
            assert is_sum(before[1], after, total, clients), \
                f"version {version} of line {line} is not the sum of what was offered"
        else:
            assert is_near(before[1] + mean, after, mean), \
                f"version {version} of line {line} is not the mean of what was offered"
        compared += 1
    return compared


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


def check_drained(run):
    """Whatever was said to the last server is answered for each of its lines, or the whole visit is. Who is told that the
    run is over asks for no more; returns how many such offers there are."""
    record, open_ends = run.witness.record, 0
    late = {client for i in run.late for client, in read(run.store(i), "SELECT client FROM clients")}
    for visit, blocks in record.offers.items():
        for line in {record.block_lines[block] for block in blocks}:
            final = set(record.answers.get((visit, line), ())) - {"overloaded"}
            if final or visit in record.ended or visit in record.declined:
                continue
            open_ends += 1
            over, _ = record.finished.get(visit[0], (None, None))
            assert over is not None or visit[0] in late, \
                f"the offer of visit {visit} has no answer from line {line}, and the run goes on"
            waited = wait_of(record, visit, over) if over else 0
            assert waited < ANSWERED_IN, f"the offer of visit {visit} had no answer from line {line} for {waited:.1f} s"
    return open_ends


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


def check_wire(record):
    """The bytes of all that was read were as the page has them."""
    assert not record.wrong, f"{len(record.wrong)} wrong on the wire: {record.wrong[:5]}"


