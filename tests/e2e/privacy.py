"""Where clients ask for experts, what goes up is the request, the number of examples, and what was learned of the gate and of
the experts that were asked for: no row, label or embedding, and of an anchor no request. privacy.py TROUPE, by a witness on a
plain connection.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
# pylint: disable=wrong-import-position
from audit import Ear, said

ANCHORS, EXPERTS, CHOSEN, CLIENTS = 2, 4, 2, 8
CONFIG = f"""
name = "asked"
method = "ddome"
rounds = 6
evaluate_every = 0
[data]
kind = "synthetic"
[clients]
clients = {CLIENTS}
expected = {CLIENTS}
clients_per_round = 5
[pace]
mode = "sync"
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.01
[options]
experts = {EXPERTS}
chosen = {CHOSEN}
anchors = {ANCHORS}
anchors_per_round = 1
"""
# Nothing else tells anything of a client.
TELLS = {"hello", "beat", "leave", "terms_asked", "places_asked", "process_parted", "frozen_asked", "fetch_requested", "offer_made",
         "offer_awaited", "visit_declined", "scores_told"}
BESIDE = 400  # Bytes of a piece, or of a message, that are no values.
GATE = 1      # Its line, and its block: experts come after it, in their order.


class Listener(Ear):
    def __init__(self, server):
        super().__init__(server)
        self.sizes, self.offers, self.wants = {}, {}, {}

    def open(self, message, line):
        super().open(message, line)
        name, fields = message
        if name == "line_served":
            self.sizes |= {x["block"]: len(x["values"]) for x in fields["blocks"]}
        elif name == "fetch_requested":
            self.wants.setdefault(visit_of(fields), {}).setdefault(fields["leg"], set()).update(x["line"] for x in fields["wants"])
        elif name == "offer_made":
            self.offers[visit_of(fields)] = fields


def visit_of(fields):
    visit = fields["ticket"]["visit"]
    return visit["client"], visit["number"]


def check_visit(ear, visit):
    """Returns how many values it offers."""
    offer, wants = ear.offers[visit], ear.wants[visit]
    experts = sorted(wants[1])
    assert wants[0] == {GATE}, wants
    said_of = offer["disclosed"]
    if visit[0] <= ANCHORS:
        assert experts == [GATE + visit[0]], f"anchor {visit[0]} fetches {experts}"
        assert not said_of, f"an anchor says {said_of}"
    else:
        assert len(experts) == CHOSEN, f"client {visit[0]} fetches {experts}"
        assert [x["index"] for x in said_of] == [0], said_of
        request = said_of[0]["values"]
        assert sorted(GATE + 1 + x for x in request) == experts, f"{request} is said, and {experts} fetched"
    assert [x["block"] for x in offer["offered"]] == [GATE, *experts], offer
    for x in offer["offered"]:
        assert len(x["delta"]) == ear.sizes[x["block"]], f"block {x['block']} has other values than it has"
        assert x["weight"] > 0 and x["weight"] == int(x["weight"]), "what it weighs is its number of examples"
    return sum(len(x["delta"]) for x in offer["offered"])


def play(troupe, scratch, started):
    (scratch / "run.toml").write_text(CONFIG, encoding="utf-8")

    def start(name, *command):
        path = scratch / f"{name}.log"
        with open(path, "w", encoding="utf-8") as log:
            started.append(subprocess.Popen([troupe, *command], stdout=log, stderr=log))
        return started[-1], path

    server, log = start("serve", "serve", scratch / "run.toml", "--folder", scratch / "runs", "--insecure")
    host, port = said(log, r"^tcp://(\S+):(\d+)", server).groups()
    ear = Listener((host, int(port)))
    ear.start()
    client, _ = start("join", "join", ear.address(0), "--insecure", "--virtual", str(CLIENTS), "--store", scratch / "store")
    assert server.wait(200) == 0 and client.wait(60) == 0, log.read_text(encoding="utf-8")
    ear.stop()
    assert ear.broken is None, ear.broken
    parts = [y for x in ear.up for y in x.get("frames", [x])]
    told = {x["message"] for x in parts if "message" in x}
    assert told <= TELLS, told - TELLS
    assert any(x[0] <= ANCHORS for x in ear.offers) and any(x[0] > ANCHORS for x in ear.offers), "not all kinds of clients were there"
    values = sum(check_visit(ear, x) for x in ear.offers)
    size = sum(x["bytes"] for x in ear.up)
    assert size <= 4 * values + BESIDE * (len(ear.up) + len(parts)), f"{size} bytes go up for {values} values in {len(ear.up)} pieces"
    print(f"{len(ear.offers)} visits offered {values} values, in {size} bytes of {len(ear.up)} pieces")


def main():
    with tempfile.TemporaryDirectory() as folder:
        started = []
        try:
            play(os.path.abspath(sys.argv[1]), pathlib.Path(folder), started)
        finally:
            for process in started:
                if process.poll() is None:
                    process.kill()
                    process.wait()


if __name__ == "__main__":
    main()
