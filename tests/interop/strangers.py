"""Somebody who says whatever is worst, over a connection of his own."""

import collections
import os
import random
import struct

import zmq

import link
import wire

CHANNELS = 5000
LARGE = 100_000     # Bytes of a message that goes in chunks.


def flipped(body, most=8):
    """The bytes with some bits changed."""
    body = bytearray(body)
    for _ in range(random.randint(1, most) if body else 0):
        body[random.randrange(len(body))] ^= 1 << random.randrange(8)
    return bytes(body)


def strange_number():
    return random.choice((0, 1, 2, 2**15, 2**31, 2**32 - 1, random.getrandbits(20),
                          random.getrandbits(32)))


def strange_long():
    return random.choice((0, 1, 2**32, 2**40, 2**63, 2**64 - 1, random.getrandbits(64)))


class Corpus:
    """What was said in earnest: (kind, version, readable since), payload."""

    def __init__(self, with_hellos=False):
        self.with_hellos = with_hellos
        self.said = []
        for name, kind in wire.KINDS.items():
            self.add(kind, wire.payload_of(name, {}))

    def add(self, kind, payload):
        self.said.append(((kind.number, kind.version, kind.since), payload))
        if len(self.said) > 400:    # The first are one of each kind.
            del self.said[len(wire.KINDS)]

    def heard(self, name, fields):
        """What a client of ours hears or says, without large values, and as no valid hello unless that may be."""
        fields = dict(fields)
        for name_of_large in ("offered", "blocks"):
            fields[name_of_large] = [{**x, "delta": x.get("delta", ())[:8],
                                      "values": x.get("values", ())[:8]}
                                     for x in fields.get(name_of_large, ())]
        if name == "hello" and not self.with_hellos:
            fields["layout"] = os.urandom(32)
        self.add(wire.KINDS[name], wire.payload_of(name, fields))

    def any(self):
        return random.choice(self.said)


def without_keys(_socket):
    pass


def crowd(address, count, prepare=without_keys):
    """So many connections that begin a large transfer each, and say no more."""
    for _ in range(count):
        socket = zmq.Context.instance().socket(zmq.DEALER)
        socket.setsockopt(zmq.LINGER, 0)
        prepare(socket)
        socket.connect(address)
        opened = link.OPENED_BODY.pack(1, random.getrandbits(64))
        socket.send_multipart(link.piece(link.OPENED, 1, body=opened))
        began = link.BEGAN_BODY.pack(0x0101, 1, 1, 0, LARGE)
        socket.send_multipart(link.piece(link.BEGAN, 1, channel=1, transfer=1, body=began))
        yield socket


class Stranger:
    """A connection of somebody who says whatever is worst."""

    def __init__(self, address, corpus, counts, answers, prepare=without_keys):
        self.address, self.corpus, self.counts = address, corpus, counts
        self.prepare = prepare  # Sets a socket's keys, where there are some.
        self.socket, self.connection = None, 0
        self.answers = answers
        self.harms = {name[5:]: getattr(self, name) for name in dir(self)
                      if name.startswith("harm_")}
        self.dial()

    def dial(self):
        if self.socket:
            self.socket.close()
        self.connection = self.connection + 1 if random.random() < 0.8 else 1
        if self.connection == 1:
            self.instance = random.getrandbits(64)
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.SNDTIMEO, 5000)
        self.prepare(self.socket)
        self.socket.connect(self.address)
        self.transfer = 1
        # Each does some of all that, since one harm may hide another.
        self.chosen = random.sample(sorted(self.harms), len(self.harms) // 2)
        self.piece(link.OPENED, body=link.OPENED_BODY.pack(1, self.instance))

    def close(self):
        self.socket.close()

    def send(self, parts):
        try:
            self.socket.send_multipart(parts)
        except zmq.Again:
            self.counts["stuck"] += 1
            self.dial()

    def piece(self, kind, **how):
        self.send(link.piece(kind, how.pop("connection", self.connection), **how))

    def frame(self, body, channel=None):
        if channel is None:
            channel = random.choice((0, 1, 2, 3, 4, random.randrange(CHANNELS)))
        self.piece(link.FRAMED, channel=channel, body=body)

    def harm(self):
        name = random.choice(self.chosen)
        self.harms[name]()
        self.counts[name] += 1
        if random.random() < 0.004:
            self.dial()

    def hear(self):
        """Some read what is answered; the last hardly does."""
        heard = collections.Counter()
        try:
            for _ in range(200):
                kind, *_, body = link.read_piece(self.socket.recv_multipart(zmq.NOBLOCK))
                heard[wire.read_frame(body)[0] if kind == link.FRAMED else kind] += 1
        except zmq.Again:
            pass
        self.answers.update(heard)
        return heard

    # Of pieces.

    def some_piece(self):
        head, payload = self.corpus.any()
        return link.piece(random.randint(1, 6), self.connection, channel=random.randrange(9),
                          transfer=random.randrange(4), place=random.randrange(3),
                          body=wire.frame_of(*head, payload))

    def harm_piece_bits(self):
        self.send([flipped(part) for part in self.some_piece()])

    def harm_piece_fields(self):
        """Any field of a head, with the right sum."""
        head, body = self.some_piece()
        at, code = random.choice(((0, "I"), (4, "B"), (5, "B"), (7, "B"), (8, "I"), (12, "I"),
                                  (16, "Q"), (24, "Q"), (32, "I")))
        head = bytearray(head[:36])
        struct.pack_into("<" + code, head, at,
                         strange_long() % 2**(8 * struct.calcsize("<" + code)))
        self.send([bytes(head) + wire.U32.write(wire.crc32c(head, body)), body])

    def harm_piece_parts(self):
        head, body = self.some_piece()
        self.send(random.choice(([head], [body], [b"", head, body], [head, body, b""], [b""],
                                 [head[:20], body], [head + b"x", body], [head] * 9,
                                 [os.urandom(40), body])))

    def harm_opened(self):
        body = random.choice((link.OPENED_BODY.pack(2, self.instance), b"",
                              link.OPENED_BODY.pack(1, random.getrandbits(64)),
                              link.OPENED_BODY.pack(1, self.instance)))
        self.piece(link.OPENED, connection=strange_number(), body=body)
        # Else all that follows would be of a connection that is gone.
        self.piece(link.OPENED, body=link.OPENED_BODY.pack(1, self.instance))

    def harm_other_connection(self):
        head, payload = self.corpus.any()
        self.piece(link.FRAMED, connection=strange_number(), channel=1,
                   body=wire.frame_of(*head, payload))

    # Of transfers.

    def begin(self, size, kind=None):
        number = random.choice(list(wire.NAMES)) if kind is None else kind
        self.piece(link.BEGAN, channel=random.randrange(CHANNELS), transfer=self.transfer,
                   body=link.BEGAN_BODY.pack(number, 1, 1, 0, size))

    def harm_claims(self):
        self.begin(random.choice((0, 2**30, 2**40, 2**63, 2**64 - 1)),
                   random.choice((0x0101, 0x0203, 0x0001, 0x0777)))
        self.transfer += 1

    def harm_never_ends(self):
        self.begin(LARGE, 0x0101)

    def harm_kind_changes(self):
        """A transfer is begun as something, and again as something else."""
        self.begin(LARGE, 0x0101)
        self.piece(link.CHUNK, transfer=self.transfer, body=bytes(100))
        self.begin(LARGE // 2, 0x0203)
        self.piece(link.CHUNK, transfer=self.transfer, place=100, body=bytes(100))

    def harm_chunks(self):
        self.piece(link.CHUNK, transfer=random.choice((self.transfer, strange_long())),
                   place=strange_long(), body=bytes(random.choice((0, 1, 1000))))

    def harm_many_transfers(self):
        for _ in range(4):
            self.begin(random.randint(1, LARGE))
            self.transfer += random.choice((0, 1, 1, 2**32))
            self.transfer %= 2**64

    def harm_whole_transfer(self):
        """All of it, as far as it is allowed, of something like a message."""
        (number, _, _), payload = self.corpus.any()
        payload = random.choice((os.urandom(random.randint(1, 3000)), flipped(payload), payload))
        self.transfer += 1
        self.begin(len(payload), number)
        if self.socket.poll(20) and self.hear()[link.REACHED]:
            for at in range(0, len(payload), 1000):
                self.piece(link.CHUNK, transfer=self.transfer, place=at,
                           body=payload[at:at + 1000])
            self.counts["whole_and_heard"] += 1
        else:   # Another one of its own is in the way.
            self.dial()

    def harm_answers(self):
        """Of transfers that nobody makes."""
        self.piece(random.choice((link.REACHED, link.REFUSED)), transfer=strange_long() % 2**64,
                   place=strange_long(), body=random.choice((b"", link.PLACE.pack(2**63))))

    # Of frames.

    def harm_envelope(self):
        """Any field of an envelope, with the right sum."""
        head, payload = self.corpus.any()
        frame = bytearray(wire.frame_of(*head, payload))
        at, code = random.choice(((0, "I"), (4, "H"), (6, "B"), (7, "B"), (8, "H"), (10, "H"),
                                  (12, "I"), (16, "I")))
        struct.pack_into("<" + code, frame, at,
                         strange_number() % 2**(8 * struct.calcsize("<" + code)))
        struct.pack_into("<I", frame, 20, wire.crc32c(frame[:20], frame[24:]))
        self.frame(bytes(frame))

    def harm_frame_bits(self):
        head, payload = self.corpus.any()
        self.frame(flipped(wire.frame_of(*head, payload)))

    def harm_payload_bits(self):
        head, payload = self.corpus.any()
        self.frame(wire.frame_of(*head, flipped(payload)))

    def harm_payload_cut(self):
        head, payload = self.corpus.any()
        cut = payload[:random.randint(0, len(payload))] + os.urandom(random.choice((0, 0, 1, 9)))
        self.frame(wire.frame_of(*head, cut))

    def harm_counts(self):
        """A number somewhere is very large."""
        head, payload = self.corpus.any()
        payload = bytearray(payload)
        if len(payload) >= 4:
            struct.pack_into("<I", payload, random.randrange(len(payload) - 3), strange_number())
        self.frame(wire.frame_of(*head, bytes(payload)))

    def harm_replayed(self):
        head, payload = self.corpus.any()
        self.frame(wire.frame_of(*head, payload))

    def harm_other_ids(self):
        """Another client's number, in the first field or in that after the protocols."""
        (number, version, since), payload = self.corpus.any()
        payload, at = bytearray(payload), 4 if number == 0x0001 else 0
        if len(payload) >= at + 8:
            struct.pack_into("<Q", payload, at, random.choice((0, 1, 2, 3, 4, 5, 2**20, 2**40)))
        self.frame(wire.frame_of(number, version, since, bytes(payload)))

    def harm_hellos(self):
        """Of protocols, models and lives that nobody has."""
        low = random.choice((0, 1, 2))
        fields = {"lowest": low, "highest": random.choice((0, 1, 9)), "client": strange_long(),
                  "incarnation": strange_long(), "layout": os.urandom(32),
                  "nonce": strange_long(), "examples": strange_long()}
        kind = wire.KINDS["hello"]
        self.frame(wire.frame_of(kind.number, kind.version, kind.since,
                                 wire.payload_of("hello", fields)))

    def harm_server_words(self):
        name = random.choice(("welcome", "farewell", "beat_answered", "terms_given", "invited",
                              "places_given", "offer_answered", "line_served", "visit_ended",
                              "version_announced"))
        kind = wire.KINDS[name]
        self.frame(wire.frame_of(kind.number, kind.version, kind.since,
                                 wire.payload_of(name, {})))

    def harm_process_words(self):
        """What a process asks, and what it would not."""
        name = random.choice(("terms_asked", "places_asked", "hello", "offer_made"))
        kind = wire.KINDS[name]
        fields = {"lowest": random.randrange(3), "highest": random.randrange(3),
                  "store": os.urandom(16), "count": strange_number(), "nonce": strange_long()}
        self.frame(wire.frame_of(kind.number, kind.version, kind.since,
                                 wire.payload_of(name, fields)), channel=0)

    def harm_far_channel(self):
        head, payload = self.corpus.any()
        self.frame(wire.frame_of(*head, payload), channel=random.getrandbits(32))
