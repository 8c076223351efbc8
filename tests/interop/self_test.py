"""What needs no server: frames that are kept, a client that is told to come back, and a link that goes."""

import pathlib
import socket

import link
import wire
from client import Client

HERE = pathlib.Path(__file__).resolve().parent


def is_patient():
    """Who hears `overloaded` comes back when it is told, and sends the same."""
    said = []

    class Ear:
        is_open = True

        @staticmethod
        def say(_, name, fields, *__):
            said.append((name, fields))
            return True

    client = Client(Ear, 3, {"run": bytes(16), "layout": bytes(32)}, None)
    client.session, client.beaten, client.newest = 5, 100.0, 8
    fields = {"ticket": {"visit": {"client": 3, "number": 8}}}
    client.offers[8] = {"again": 0.0, "fields": fields}
    client.due(100.0)
    answer = {"visit": {"client": 3, "number": 8}, "line": 1, "head": 4,
              "verdict": wire.VERDICTS.index("overloaded"), "after": 1500}
    client.hear("offer_answered", answer, 100.5)
    client.due(101.9)
    assert len(said) == 1, said
    client.due(102.1)
    assert said == [("offer_made", fields)] * 2, said
    client.hear("offer_answered", {**answer, "verdict": 0}, 103.0)
    client.hear("offer_answered", {**answer, "verdict": 1}, 104.0)
    client.due(120.0)
    assert len(said) == 2 and client.merged == {8}, said


def read_golden():
    """The reader takes each frame that is kept, and writes the newest as they are."""
    frames = sorted((HERE.parent / "golden" / "messages").glob("*.bin"))
    for path in frames:
        name, version = path.stem.rsplit("-v", 1)
        frame = path.read_bytes()
        found, fields = wire.read_frame(frame)
        assert found == name, path
        if int(version) == wire.KINDS[name].version:
            _, number, written, since, *_, correlation, _ = wire.ENVELOPE.unpack_from(frame)
            payload = wire.payload_of(name, fields)
            assert wire.frame_of(number, written, since, payload, correlation) == frame, path
    missing = set(wire.KINDS) - {x.stem.rsplit("-v", 1)[0] for x in frames}
    assert not missing, missing


def read_halves():
    """Values that came as halves are those of the frame that is kept."""
    for name, version in (("line_served", 1), ("offer_made", 2)):
        half = (HERE.parent / "fuzz" / "corpus" / "frame" / f"{name}-bf16").read_bytes()
        kept = (HERE.parent / "golden" / "messages" / f"{name}-v{version}.bin").read_bytes()
        assert len(half) < len(kept) and str(wire.read_frame(half)) == str(wire.read_frame(kept)), name


def is_tidy():
    """A link that nobody has any more stopped its monitor, whoever still has its socket."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        x = link.Link(f"tcp://127.0.0.1:{nobody.getsockname()[1]}")
        kept = x.socket
        del x
        assert kept.closed and kept._monitor_socket is None     # pylint: disable=protected-access
