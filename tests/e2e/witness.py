"""A witness that is none of troupe's words: it stands between joining processes and their server, hands on every byte
as it is, and reads along (wire_reader.py). Connections are lost through it as they are without it. For a last drain it keeps
back invitations, and nothing else; and where it is told to mix, a server hears a chunk of an old transfer once more.

    process ── DEALER ──► listener │ witness │ ──► the server's ROUTER
"""

import contextlib
import os
import selectors
import signal
import socket
import struct
import threading
import time

import wire_reader
from wire_reader import Malformed
from wire_record import REASONS, Record

READ_BYTES = 1 << 18
OUT_BYTES_MAX = 1 << 20  # Beyond it the other side is not read: senders wait, as they would.
FINISHED = REASONS.index("finished")
OFFER = 0x0101  # It begins with its visit.
OVER = 1  # As processes part.
SESSIONS = ("opened", "terms_asked", "terms_given", "places_asked", "places_given", "hello", "welcome", "farewell")


class Connection:
    """A connection of a process, and the one that is made for it."""

    def __init__(self, process, inner, outer):
        self.process = process  # Which of them it is.
        self.sockets = {"up": inner, "down": outer}  # Where what goes that way comes from.
        self.out = {"up": bytearray(), "down": bytearray()}
        self.closing = set()
        self.is_drained = False
        self.zmtp = {"up": wire_reader.Zmtp(), "down": wire_reader.Zmtp()}
        self.number = None  # As who dialled counts.
        self.instances = {"up": None, "down": None}
        self.chunk = self.old = None  # The last chunk that went up, and that of the transfer before, with their parts.

    def target(self, way):
        return self.sockets["down" if way == "up" else "up"]

    def old_chunk(self, piece, parts):
        """The last chunk of the transfer before, where one of this would come next. `piece` is a chunk that goes up."""
        if self.chunk and self.chunk[0].transfer != piece.transfer:
            self.old = self.chunk
        self.chunk = piece, parts
        return self.old[1] if self.old and self.old[0].place == piece.place + len(piece.body) else None


class Witness(threading.Thread):
    """Listens on an address for each process, and dials `server`, a pair of host and port, for each who comes."""

    def __init__(self, server, processes):
        super().__init__(daemon=True)
        self.server = server
        self.record = Record()
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
        self.drains = False
        self.mixed = None  # What is to be told when a chunk is said again.

    def address(self, process):
        return "tcp://127.0.0.1:%d" % self.listeners[process].getsockname()[1]

    def trap(self, fires):
        """`fires(name, way, channel, message, sender)` is asked of all that goes by, on the witness's thread, until it says true."""
        with self.lock:
            self.traps.append(fires)

    def disarm(self):
        self.mixed = None
        with self.lock:
            self.traps.clear()

    def stop(self):
        self.over = True
        os.write(self.wake_in, b"x")
        self.join(10)

    def cut(self):
        """Every connection is lost, while both of its ends live."""
        os.write(self.wake_in, b"c")

    def mix(self):
        """Once, a chunk of a transfer that is over comes within the next one. No network would do so, but a server must not care.
        Returns what is set then."""
        self.mixed = threading.Event()
        return self.mixed

    def drain(self):
        """The same, and over those that come then nobody is invited."""
        self.drains = True
        self.cut()

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
            one.is_drained = self.drains
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
        one.out[way] += self.look_at(one, way, data)
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
        """Returns what is to be handed on."""
        try:
            if one.is_drained and way == "down":
                return b"".join(self.drained(one, data))
            zmtp, begun = one.zmtp[way], len(one.zmtp[way].bytes)  # Of a message whose beginning was handed on.
            for parts in zmtp.feed(data):
                piece = wire_reader.read_piece(parts)
                self.piece(one, way, piece)
                if again := self.said_again(one, way, piece, parts):
                    data = data[:zmtp.at - begun] + again + data[zmtp.at - begun:]
                    begun -= len(again)
        except (Malformed, struct.error, IndexError) as what:
            self.record.note_wrong(f"{way}: {type(what).__name__} {what}")
        return data

    def said_again(self, one, way, piece, parts):
        """What is to be mixed in behind this one."""
        old = one.old_chunk(piece, parts) if way == "up" and piece.kind == wire_reader.CHUNK else None
        mixed = self.mixed
        if not old or not mixed:
            return None
        self.mixed = None
        mixed.set()
        return wire_reader.write_message(old)

    def drained(self, one, data):
        """All that is whole, without invitations."""
        for raw, parts in one.zmtp["down"].units(data):
            if not parts:
                yield raw
                continue
            piece = wire_reader.read_piece(parts)
            left = wire_reader.without(piece, "invited")
            if left is not None:
                self.piece(one, "down", left)
                yield raw if left is piece else wire_reader.write_piece(left, len(parts))

    def piece(self, one, way, x):
        self.record.counts[f"pieces {way}"] += 1
        if x.kind == wire_reader.OPENED:
            _, one.instances[way] = struct.unpack("<HQ", x.body)
            if way == "down":
                self.record.servers.setdefault(one.instances[way], time.monotonic())
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
            if kind == OFFER and x.place == 0:
                self.record.note_offering(struct.unpack_from("<QQ", x.body))
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
            self.record.welcomes.append((time.monotonic(), one.process, one.instances["down"]))
            self.record.process_of[channel] = one.process
        self.record.heard(name, message, channel, one.instances["down"])
        is_end = {"farewell": FINISHED, "process_parted": OVER}.get(name)
        if way == "down" and is_end is not None and message[0] == is_end:
            self.record.note_end(one.process, one.instances["down"])
        self.say(name, one, way, channel, message)

    def say(self, name, one, way, channel, message):
        if name in SESSIONS:
            self.record.timeline.append((time.monotonic(), name, way, one.process, channel))
        with self.lock:
            self.traps = [fires for fires in self.traps if not fires(name, way, channel, message, one)]


def kill_now(process):
    """On whatever thread; the owner waits for it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
