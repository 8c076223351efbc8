"""Versions and checksums, computed again of what went by as offers, to the bit: a merge adds on a grid (kernels/grid.hpp), and the
record has a sum of each offer (core/checksum.hpp)."""

import collections
import json
import struct

import numpy

# What is added was rounded to a multiple of two to the power of minus so many; which, a run's weights and bounds say.
GRID_BITS = range(40, 10, -1)
TOGETHER = 32  # Offers whose checksums are computed at once.
FACTOR, LEFT, RIGHT = (numpy.uint64(x) for x in (0x9E3779B97F4A7C15, 29, 64 - 29))


def snap(x, bits):
    magic = 1.5 * 2.0 ** (52 - bits)
    return (x + magic) - magic


def total_of(parts, bits):
    return sum(snap(x.weight * x.delta.astype(numpy.float64), bits) for x in parts)


def is_mean(before, after, parts, bits):
    """Whether `after` is what was before it and the mean of the parts."""
    mean = total_of(parts, bits) / sum(snap(x.weight, bits) for x in parts)
    return numpy.array_equal((before.astype(numpy.float64) + mean).astype(numpy.float32), after)


def is_share(total, after, clients):
    """Whether `after` is a sum over all clients ever admitted, divided by as many, which are so many at most."""
    return any(numpy.array_equal((total / n).astype(numpy.float32), after) for n in range(clients, 0, -1))


class Versions:
    """Computes them as soon as all that they are made of is known, and lets go of that: a run may be long."""

    def __init__(self, sums=(), clients=0, bits=GRID_BITS):
        self.sums, self.clients = frozenset(sums), clients  # Blocks that are sums over clients, of so many at most.
        self.bits = list(bits)  # Those that all versions until now agree with.
        self.done = {}  # (line, version, block) that was computed to the visits that it is of.
        self.added = {}  # (line, block) of a sum to a version and all that was added up to it.
        self.checksums = {}  # Visit that is merged to the sum of what it offered.

    def go_on(self, record, merges, last=False):
        """`merges`: line to version to its visits, as a ledger has them. The `last` time all must be there."""
        self.sum_up(record, merges, last)
        blocks = {(block in self.sums, line, block) for line, _, block in list(record.versions)}
        for is_sum, line, block in sorted(blocks):
            if is_sum:
                self.follow(record, line, block, merges[line])
                continue
            for version in merges[line]:
                self.compare(record, (line, version, block), merges[line][version])
        if last:
            self.check(record, merges)

    def sum_up(self, record, merges, last):
        merged = {visit for versions in merges.values() for visits in versions.values() for visit in visits}
        fresh = [visit for visit in list(record.whole) if visit in merged]
        if last or len(fresh) >= TOGETHER:
            self.checksums.update(checksums_of({visit: record.whole.pop(visit) for visit in fresh}))

    def compare(self, record, key, visits):
        line, version, block = key
        before, after = (record.versions.get((line, x, block)) for x in (version - 1, version))
        if key in self.done or before is None or after is None:
            return
        parts = parts_of(record, visits, block)
        self.bits = [x for x in self.bits if is_mean(before[1], after[1], parts, x)]
        assert self.bits, f"version {version} of line {line} is not the mean of what was offered"
        self.close(record, key, visits)

    def follow(self, record, line, block, merges):
        """From the first version on, since what a sum begins with is in no later one to the bit."""
        at, total = self.added.get((line, block), (0, 0.0))
        while len(self.bits) == 1 and at + 1 in merges and (line, at + 1, block) in record.versions:
            at += 1
            total = total + total_of(parts_of(record, merges[at], block), self.bits[0])
            self.added[line, block] = at, total
            assert is_share(total, record.versions[line, at, block][1], self.clients), \
                f"version {at} of line {line} is not the sum of what was offered"
            self.close(record, (line, at, block), merges[at])

    def close(self, record, key, visits):
        line, version, block = key
        self.done[key] = sorted(visits)
        for visit in visits:
            record.offers[visit][block] = record.offers[visit][block]._replace(delta=None)
        for at in (version - 1, version):  # What no version needs any more.
            if (at == 0 or (line, at, block) in self.done) and (line, at + 1, block) in self.done:
                record.versions[line, at, block] = (record.versions[line, at, block][0], None)

    def check(self, record, merges):
        """All are computed, and of what the ledger says in the end."""
        for block, line in record.block_lines.items():
            for version, visits in merges[line].items():
                assert (line, version, block) in self.done, f"version {version} of line {line}, block {block}, could not be computed"
                assert self.done[line, version, block] == sorted(visits), f"version {version} of line {line} is of other visits now"


def parts_of(record, visits, block):
    for visit in visits:
        assert visit in record.offers, f"visit {visit} is merged and was never offered"
    return [record.offers[visit][block] for visit in visits]


def words_of(offer):
    """What is summed of an offer."""
    out = []
    for x in offer.blocks:
        out += struct.pack("<QQQdQ", x.block, x.base, x.rank, x.weight, len(x.delta)), x.delta.tobytes()
        out.append(bytes(-len(out[-1]) % 8))
    for index, values in offer.disclosed:
        out.append(struct.pack(f"<Q{len(values)}d", index, *values))
    out.append(struct.pack("<d", offer.loss))
    return numpy.frombuffer(b"".join(out), "<u8")


def mixed(sums, words):
    x = sums ^ words
    return (x << LEFT | x >> RIGHT) * FACTOR


def checksums_of(offers):
    """Visit to the sum of its offer: of many at once, since each word waits for one before it."""
    by_size = collections.defaultdict(dict)
    for visit, offer in offers.items():
        words = words_of(offer)
        by_size[len(words)][visit] = words
    out = {}
    for size, some in by_size.items():
        words = numpy.ascontiguousarray(numpy.stack(list(some.values())).T)
        sums = numpy.repeat(numpy.arange(1, 5, dtype=numpy.uint64)[:, None], len(some), axis=1)
        whole = size - size % 4
        for at in range(0, whole, 4):
            sums = mixed(sums, words[at:at + 4])
        for at in range(whole, size):
            sums[at - whole] = mixed(sums[at - whole], words[at])
        total = numpy.full(len(some), size, dtype=numpy.uint64)
        for x in sums:
            total = mixed(total, x)
        out.update((visit, f"{int(x):016x}") for visit, x in zip(some, total))
    return out


def check_checksums(folder, checksums):
    """The record has of each of these visits what its client offered, however often it says so."""
    recorded = collections.defaultdict(set)
    with open(folder / "events.jsonl", encoding="utf-8") as lines:
        for line in lines:
            x = json.loads(line)
            if x["event"] == "offered":
                recorded[x["client"], x["visit"]].add(x["checksum"])
    for visit, found in checksums.items():
        assert recorded[visit] == {found}, f"visit {visit} offered {found}, and the record has {recorded[visit]}"
