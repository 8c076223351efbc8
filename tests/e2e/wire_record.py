"""What went by between joining processes and their server, as a witness (witness.py) notes it: what does not fit what went
by before is wrong at once, and wire_laws.py holds the rest against the ledger.
"""

import collections
import time

import wire_reader

SILENCE = 4.0  # Seconds without progress that are worth a word.
PROGRESS = {"offer_made", "offer_answered", "line_served"}
REASONS = ("protocol", "layout", "superseded", "refused", "no_session", "finished")
Part = collections.namedtuple("Part", "base rank weight digest delta")  # Of an offer.


class Record:
    """What went by. Written by the witness's thread alone."""

    def __init__(self):
        self.tickets = {}  # Visit to its ticket.
        self.indexes = {}  # Index of an invitation to its visit.
        self.examples = {}  # Client to its number of examples.
        self.offers = {}  # Visit to block to its Part.
        self.whole = {}  # Visit to all of its offer, until somebody takes it.
        self.offers_said = collections.Counter()
        self.answers = collections.defaultdict(collections.Counter)  # (visit, line) to verdicts.
        self.held = {}  # (visit, line) to the last server that said that it has it.
        self.begun = {}  # Client to the visits that it was at work on when it said hello.
        self.durable = set()  # (visit, line) of which it was said that it outlives the server.
        self.asked_after = collections.Counter()  # The same, by clients that have let go of the values.
        self.refused_at = {}  # (visit, line) to the instant.
        self.accepted_at = {}  # Line to the last instant.
        self.ended = {}  # Visit to the verdict on the whole of it.
        self.declined = set()
        self.versions = {}  # (line, version, block) to (digest, values).
        self.block_lines = {}
        self.fetched = set()
        self.leases = set()  # Numbers that were given together.
        self.lives = collections.Counter()  # Client to the newest of its lives that said hello.
        self.begun_upto = collections.Counter()  # Client to the newest visit that it fetched or offered for.
        self.offering = set()  # Visits of whose offers some bytes went by.
        self.counts = collections.Counter()
        self.welcomes = []  # Instants, of which process, and by which server.
        self.servers = {}  # To when each was first heard; to each process it is another one.
        self.farewells = collections.Counter()
        self.last_said = {}  # Visit to when its offer was last said, and to which server.
        self.process_of = {}  # Client to the process that it lives in.
        self.opened = {}  # Process to when it was last connected.
        self.welcomed = {}  # Client to when it was last welcome, and to which server.
        self.finished = {}  # Client to when it was told that the run is over.
        self.progress = None
        self.silences = []
        self.timeline = collections.deque(maxlen=2000)  # Of what sessions are made of.
        self.wrong = []

    def note_end(self, process, server):
        """One word that the run is over is to all clients of a process."""
        for client, where in self.process_of.items():
            if where == process:
                self.finished.setdefault(client, (time.monotonic(), server))

    def note_silence(self, name):
        """For how long nothing went by that ends a visit, while something was to."""
        if name not in PROGRESS:
            return
        now = time.monotonic()
        if self.progress and now - self.progress > SILENCE:
            self.silences.append((self.progress, now))
        self.progress = now

    def note_wrong(self, what):
        self.wrong.append(what)

    def heard(self, name, x, channel, server):
        """`server`: which of those that lived one after the other."""
        self.counts[name] += 1
        self.note_silence(name)
        if name == "offer_made":
            self.last_said[x.ticket.visit] = (time.monotonic(), server)
        elif name == "welcome":
            self.welcomed[channel] = (time.monotonic(), server)
        elif name == "offer_held":
            self.held[x[0], x[1]] = server
        if x is not None and (hear := getattr(self, f"on_{name}", None)):
            hear(x)

    def on_places_given(self, x):
        if x[1]:
            self.leases.add(tuple(x[1]))

    def on_hello(self, x):
        self.examples[x.client] = x.examples
        self.lives[x.client] = max(self.lives[x.client], x.incarnation)
        self.begun[x.client] = {ticket.visit for ticket in x.open}

    def on_farewell(self, x):
        self.farewells[REASONS[x[0]] if x[0] < len(REASONS) else x[0]] += 1

    def on_invited(self, x):
        known = self.tickets.setdefault(x.visit, x)
        # Only the end of a visit may be said otherwise, since it is of the run's clock.
        same = known._replace(expires=0, mac=b"") == x._replace(expires=0, mac=b"")
        if not same:
            self.note_wrong(f"visit {x.visit} is given twice: {known} and {x}")
        if self.indexes.setdefault(x.index, x.visit) != x.visit:
            self.note_wrong(f"invitation {x.index} is of {self.indexes[x.index]} and of {x.visit}")

    def on_fetch_requested(self, x):
        self.note_begun(x.ticket.visit)

    def note_begun(self, visit):
        client, number = visit
        self.begun_upto[client] = max(self.begun_upto[client], number)

    def note_offering(self, visit):
        """Some of its offer went by, which may never be whole."""
        self.note_begun(visit)
        self.offering.add(visit)

    def on_line_served(self, x):
        self.fetched.add(x.visit)
        for block, values in x.values:
            self.note_version(x.line, x.base, block, values, "served")

    def note_version(self, line, version, block, values, how):
        self.block_lines[block] = line
        digest = wire_reader.digest_of(values)
        known = self.versions.get((line, version, block))
        if known is None:
            self.versions[line, version, block] = (digest, values)
        elif known[0] != digest:
            self.note_wrong(f"version {version} of line {line}, block {block}, is {how} with other values than before")

    def on_offer_made(self, x):
        visit = x.ticket.visit
        self.note_offering(visit)
        self.offers_said[visit] += 1
        if visit not in self.tickets:
            self.note_wrong(f"an offer of visit {visit}, to which nobody was invited")
        known = self.offers.get(visit)
        parts = {x.block: Part(x.base, x.rank, x.weight, wire_reader.digest_of(x.delta), x.delta) for x in x.blocks}
        if known is None:
            self.offers[visit], self.whole[visit] = parts, x
            return
        for block, part in parts.items():
            if block not in known or known[block][:4] != part[:4]:
                self.note_wrong(f"the offer of visit {visit} is said again with another block {block}")

    def on_offer_answered(self, x):
        self.answers[x.visit, x.line][x.verdict] += 1
        if x.verdict == "accepted":
            self.accepted_at[x.line] = time.monotonic()
        elif x.verdict not in ("duplicate", "overloaded"):
            self.refused_at.setdefault((x.visit, x.line), time.monotonic())

    def on_offer_held(self, x):
        visit, line, durable = x
        if durable:
            self.durable.add((visit, line))

    def on_offer_awaited(self, x):
        ticket, lines = x
        for line in lines:
            self.asked_after[ticket.visit, line] += 1
            if (ticket.visit, line) not in self.durable:
                self.note_wrong(f"visit {ticket.visit} has let go of what line {line} does not have durably")

    def on_visit_ended(self, x):
        self.ended[x[0]] = x[1]

    def on_visit_declined(self, x):
        self.declined.add(x[0].visit)
