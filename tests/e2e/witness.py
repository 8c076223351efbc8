"""A witness that is none of troupe's words: it stands between joining processes and their server, hands on every byte
as it is, and reads along (wire_reader.py). Connections are lost through it as they are without it.

    process ── DEALER ──► listener │ witness │ ──► the server's ROUTER
"""

import collections
import contextlib
import os
import selectors
import signal
import socket
import struct
import threading
import time

import numpy

import wire_reader
from wire_reader import Malformed

READ_BYTES = 1 << 18
OUT_BYTES_MAX = 1 << 20  # Beyond it the other side is not read: senders wait, as they would.
PROJECTIONS = 4
SILENCE = 4.0  # Seconds without progress that are worth a word.
PROGRESS = {"offer_made", "offer_answered", "line_served"}
REASONS = ("protocol", "layout", "superseded", "refused", "no_session", "finished")
FINISHED = REASONS.index("finished")
OVER = 1  # As processes part.


class Record:
    """What went by. Written by the witness's thread alone."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.rows = {}  # Size to the vectors on which values of that size are projected.
        self.tickets = {}  # Visit to its ticket.
        self.indexes = {}  # Index of an invitation to its visit.
        self.examples = {}  # Client to its number of examples.
        self.offers = {}  # Visit to block to (base, rank, weight, digest, projection).
        self.offers_said = collections.Counter()
        self.answers = collections.defaultdict(collections.Counter)  # (visit, line) to verdicts.
        self.durable = set()  # (visit, line) of which it was said that it outlives the server.
        self.asked_after = collections.Counter()  # The same, by clients that have let go of the values.
        self.refused_at = {}  # (visit, line) to the instant.
        self.accepted_at = {}  # Line to the last instant.
        self.ended = {}  # Visit to the verdict on the whole of it.
        self.declined = set()
        self.versions = {}  # (line, version, block) to (digest, projection).
        self.block_lines = {}
        self.fetched = set()
        self.counts = collections.Counter()
        self.welcomes = []  # Instants, and of which process.
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

    def project(self, values):
        rows = self.rows.get(len(values))
        if rows is None:
            rows = self.rows[len(values)] = self.random.standard_normal((PROJECTIONS, len(values)))
        return rows @ values.astype(numpy.float64)

    def heard(self, name, x, channel, server):
        """`server`: which of those that lived one after the other."""
        self.counts[name] += 1
        self.note_silence(name)
        if name == "offer_made":
            self.last_said[x.ticket.visit] = (time.monotonic(), server)
        elif name == "welcome":
            self.welcomed[channel] = (time.monotonic(), server)
        if x is not None and (hear := getattr(self, f"on_{name}", None)):
            hear(x)

    def on_hello(self, x):
        self.examples[x.client] = x.examples

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

    def on_line_served(self, x):
        self.fetched.add(x.visit)
        for block, values in x.values:
            self.note_version(x.line, x.base, block, values, "served")

    def note_version(self, line, version, block, values, how):
        self.block_lines[block] = line
        digest = wire_reader.digest_of(values)
        known = self.versions.get((line, version, block))
        if known is None:
            self.versions[line, version, block] = (digest, self.project(values))
        elif known[0] != digest:
            self.note_wrong(f"version {version} of line {line}, block {block}, is {how} with other values than before")

    def on_offer_made(self, x):
        visit = x.ticket.visit
        self.offers_said[visit] += 1
        if visit not in self.tickets:
            self.note_wrong(f"an offer of visit {visit}, to which nobody was invited")
        known = self.offers.setdefault(visit, {})
        for part in x.blocks:
            digest = wire_reader.digest_of(part.delta)
            said = known.get(part.block)
            if said is None:
                known[part.block] = (part.base, part.rank, part.weight, digest, self.project(part.delta))
            elif said[:4] != (part.base, part.rank, part.weight, digest):
                self.note_wrong(f"the offer of visit {visit} is said again with another block {part.block}")

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


class Connection:
    """A connection of a process, and the one that is made for it."""

    def __init__(self, process, inner, outer):
        self.process = process  # Which of them it is.
        self.sockets = {"up": inner, "down": outer}  # Where what goes that way comes from.
        self.out = {"up": bytearray(), "down": bytearray()}
        self.closing = set()
        self.zmtp = {"up": wire_reader.Zmtp(), "down": wire_reader.Zmtp()}
        self.number = None  # As who dialled counts.
        self.instances = {"up": None, "down": None}

    def target(self, way):
        return self.sockets["down" if way == "up" else "up"]


class Witness(threading.Thread):
    """Listens on an address for each process, and dials `server`, a pair of host and port, for each who comes."""

    def __init__(self, server, processes, seed):
        super().__init__(daemon=True)
        self.server = server
        self.record = Record(seed)
        self.lock = threading.Lock()
        self.traps = []
        self.after = []  # To be called when what was read has been handed on.
        self.links = {}  # (who said it, who hears it) to Transfers.
        self.connections = set()
        self.selector = selectors.DefaultSelector()
        self.listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(processes)]
        for i, listener in enumerate(self.listeners):
            listener.setblocking(False)
            self.selector.register(listener, selectors.EVENT_READ, i)
        self.wake_out, self.wake_in = os.pipe()
        self.selector.register(self.wake_out, selectors.EVENT_READ)
        self.over = False
        self.broken = None

    def address(self, process):
        return "tcp://127.0.0.1:%d" % self.listeners[process].getsockname()[1]

    def trap(self, fires):
        """`fires(name, way, channel, message, sender)` is asked of all that goes by, on the witness's thread, until it says true."""
        with self.lock:
            self.traps.append(fires)

    def disarm(self):
        with self.lock:
            self.traps.clear()

    def stop(self):
        self.over = True
        os.write(self.wake_in, b"x")
        self.join(10)

    def cut(self):
        """Every connection is lost, while both of its ends live."""
        os.write(self.wake_in, b"c")

    def run(self):
        try:
            while not self.over:
                self.turn()
        except BaseException as problem:  # A witness that is gone must be noticed.
            self.broken = problem
            raise
        finally:
            for one in list(self.connections):
                self.close(one)
            for listener in self.listeners:
                listener.close()

    def turn(self):
        for key, events in self.selector.select(1.0):
            if key.fileobj in self.listeners:
                self.accept(key.fileobj, key.data)
            elif key.fileobj == self.wake_out:
                if b"c" in os.read(self.wake_out, 64):
                    for one in list(self.connections):
                        self.close(one)
            elif key.data[0] in self.connections:
                one, way = key.data
                try:
                    if events & selectors.EVENT_WRITE:
                        self.hand_on(one, "down" if way == "up" else "up")
                    if events & selectors.EVENT_READ:
                        self.read(one, way)
                except OSError:
                    self.close(one)

    def accept(self, listener, process):
        with contextlib.suppress(BlockingIOError):
            inner, _ = listener.accept()
            try:
                outer = socket.create_connection(self.server, 1)
            except OSError:
                inner.close()  # The server is away.
                return
            one = Connection(process, inner, outer)
            for way, end in one.sockets.items():
                end.setblocking(False)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.selector.register(end, selectors.EVENT_READ, (one, way))
            self.connections.add(one)

    def close(self, one):
        if one not in self.connections:
            return
        self.connections.remove(one)
        for end in one.sockets.values():
            if end in self.selector.get_map():
                self.selector.unregister(end)
            # As the process that is gone would: without waiting for what is not sent.
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()

    def read(self, one, way):
        data = one.sockets[way].recv(READ_BYTES)
        if not data:
            one.closing.add(way)
            if not one.out[way]:
                self.close(one)
            else:
                self.watch(one)
            return
        self.look_at(one, way, data)
        one.out[way] += data
        self.hand_on(one, way)
        after, self.after = self.after, []
        for act in after:
            act()

    def hand_on(self, one, way):
        out = one.out[way]
        with contextlib.suppress(BlockingIOError):
            while out:
                del out[:one.target(way).send(out)]
        if not out and way in one.closing:
            self.close(one)
        else:
            self.watch(one)

    def watch(self, one):
        """Of each socket: what is to be sent to it, and whether there is room for what it says."""
        for way, end in one.sockets.items():
            other = "down" if way == "up" else "up"
            events = selectors.EVENT_WRITE if one.out[other] else 0
            if len(one.out[way]) < OUT_BYTES_MAX and way not in one.closing:
                events |= selectors.EVENT_READ
            known = self.selector.get_map().get(end)
            # A selector takes no socket of which nothing is to be known.
            if known and not events:
                self.selector.unregister(end)
            elif known and known.events != events:
                self.selector.modify(end, events, (one, way))
            elif events and not known:
                self.selector.register(end, events, (one, way))

    # -- what is said -----------------------------------------------------------

    def look_at(self, one, way, data):
        try:
            for parts in one.zmtp[way].feed(data):
                self.piece(one, way, wire_reader.read_piece(parts))
        except (Malformed, struct.error, IndexError) as what:
            self.record.note_wrong(f"{way}: {type(what).__name__} {what}")

    def piece(self, one, way, x):
        self.record.counts[f"pieces {way}"] += 1
        if x.kind == wire_reader.OPENED:
            _, one.instances[way] = struct.unpack("<HQ", x.body)
            one.number = x.connection
            self.record.opened[one.process] = time.monotonic()
            return self.say("opened", one, way, x.channel, x)
        if x.connection != one.number:
            self.record.counts["of a lost connection"] += 1
            return None
        if x.kind == wire_reader.FRAMED:
            name, message = wire_reader.read_frame(x.body)
            return self.message(one, way, x.channel, name, message)
        if x.kind == wire_reader.BUNDLED:
            self.record.counts[f"bundles {way}"] += 1
            for channel, frame in wire_reader.frames_of(x):
                self.message(one, way, channel, *wire_reader.read_frame(frame))
        if x.kind == wire_reader.BEGAN:
            kind = struct.unpack_from("<H", x.body)[0]
            self.transfers(one, way).began(x)
            return self.say("began " + wire_reader.KINDS[kind][0], one, way, x.channel, x)
        if x.kind == wire_reader.CHUNK:
            link = self.transfers(one, way)
            whole = link.chunk(x)
            kind = link.under_way[x.transfer][0][0]
            self.say("chunk " + wire_reader.KINDS[kind][0], one, way, x.channel, x)
            if whole:
                self.message(one, way, *whole)
        return None

    def transfers(self, one, way):
        said, heard = one.instances[way], one.instances["down" if way == "up" else "up"]
        if said is None or heard is None:
            raise Malformed("a transfer before both have said who they are")
        return self.links.setdefault((said, heard), wire_reader.Transfers())

    def message(self, one, way, channel, name, message):
        if name == "welcome":
            self.record.welcomes.append((time.monotonic(), one.process))
            self.record.process_of[channel] = one.process
        self.record.heard(name, message, channel, one.instances["down"])
        is_end = {"farewell": FINISHED, "process_parted": OVER}.get(name)
        if way == "down" and is_end is not None and message[0] == is_end:
            self.record.note_end(one.process, one.instances["down"])
        self.say(name, one, way, channel, message)

    def say(self, name, one, way, channel, message):
        if name in ("opened", "hello", "welcome", "farewell", "terms_asked"):
            self.record.timeline.append((time.monotonic(), name, way, one.process, channel))
        with self.lock:
            self.traps = [fires for fires in self.traps if not fires(name, way, channel, message, one)]


def kill_now(process):
    """On whatever thread; the owner waits for it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
