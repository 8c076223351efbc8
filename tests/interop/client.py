"""A client of a served run, written from docs/wire_format.md and nothing else.

Usage: client.py ADDRESS [--clients N] [--examples N] [--name NAME] [--wait SECONDS]
       client.py ADDRESS --server KEY --secret KEY …
       client.py LINE …

With a line it draws a pair of its own, enrols it, and joins with that. It learns softmax regression by FedAvg, on images of its own that made_up.py draws.
"""

import argparse
import hashlib
import json
import os
import random
import sys
import time
import tomllib

import numpy as np

import made_up
import wire
from keys import Keys, read_line
from link import Link, Refused

AGAIN = 5.0         # Seconds after which what is not answered is said again.
BEAT = 30.0
LINE = BLOCK = 1    # The model of FedAvg, which here has no buffers.


class Learner:
    """Softmax regression: weights by class and input, then a bias for each class."""

    def __init__(self, name, count, config):
        pixels, labels = made_up.draw(name, count)
        self.inputs = np.hstack([pixels / 255, np.ones((count, 1))])
        self.wanted = np.eye(made_up.CLASSES)[labels]
        self.how = config["training"]
        self.size = made_up.CLASSES * self.inputs.shape[1]
        kinds = {"n": float, "sqrt": np.sqrt, "log": np.log1p, "equal": bool}
        self.weight = float(kinds[config["clients"]["example_weight"]](count))

    def train(self, values, seed):
        """(delta, mean loss) of a visit that begins at these values."""
        split = made_up.CLASSES * made_up.SIDE**2
        begin = np.asarray(values, float)
        model = np.vstack([begin[:split].reshape(made_up.CLASSES, -1).T, begin[split:]])
        chance, losses = np.random.default_rng(seed), []
        for _ in range(max(1, self.how["local_epochs"])):
            rows = chance.permutation(len(self.inputs))
            for at in range(0, len(rows), self.how["batch_size"]):
                batch = rows[at:at + self.how["batch_size"]]
                scores = self.inputs[batch] @ model
                scores -= scores.max(1, keepdims=True)
                shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
                losses.append(-np.log(shares[self.wanted[batch] > 0]).mean())
                slope = self.inputs[batch].T @ (shares - self.wanted[batch]) / len(batch)
                model -= self.how["learning_rate"] * slope
        trained = np.concatenate([model[:-1].T.ravel(), model[-1]])
        return (trained - begin).astype("<f4"), float(np.mean(losses))


class Client:
    """One client's side of the conversation; says what is due, and hears answers."""

    protocols = 1, 1

    def __init__(self, link, number, terms, learner):
        self.link, self.number, self.learner = link, number, learner
        self.run, self.layout = terms["run"], terms["layout"]
        self.incarnation = 1
        self.nonce = random.getrandbits(63)
        self.session = None
        self.known = False      # It had a session.
        self.newest = 0         # The newest visit that it began.
        self.ticket = None      # Of the visit that it is at work on.
        self.held = None        # The version that it fetched last, and its values.
        self.offers = {}        # What is not answered, by the visit's number.
        self.spoke = self.beaten = -AGAIN
        self.over = None        # The reason of a farewell that is the last.
        self.merged = set()     # The numbers of the visits of which it knows that they are.
        self.counts = dict.fromkeys(("visits", "unchanged", *wire.VERDICTS, "again", "hellos",
                                     "held"), 0)

    def say(self, name, **fields):
        return self.link.say(self.number, name, fields)

    def hello(self):
        self.session = None
        self.nonce += 1
        self.spoke = -AGAIN

    def due(self, now):
        """Says what nobody has answered."""
        if self.over or not self.link.is_open:
            return
        if self.session is None:
            if now > self.spoke + AGAIN:
                self.counts["hellos"] += 1
                self.spoke = now
                lowest, highest = self.protocols
                self.say("hello", lowest=lowest, highest=highest, client=self.number,
                         incarnation=self.incarnation, layout=self.layout, nonce=self.nonce,
                         examples=len(self.learner.inputs), newest=self.newest,
                         at_work=[self.ticket] if self.ticket else [], run=self.run)
            return
        if now > self.beaten + BEAT:
            self.beaten = now
            self.say("beat", client=self.number, session=self.session)
        if self.ticket and now > self.spoke + AGAIN:
            self.fetch(now)
        for offer in self.offers.values():
            if now > offer["again"]:
                self.counts["again"] += offer["again"] > 0
                offer["again"] = now + AGAIN
                self.say("offer_made", **offer["fields"])

    def fetch(self, now):
        self.spoke = now
        held = self.held[0] if self.held else wire.NONE
        self.say("fetch_requested", ticket=self.ticket, leg=0,
                 wants=[{"line": LINE, "held": held, "exact": wire.NONE}])

    def hear(self, name, x, now):
        what = getattr(self, "hear_" + name, None)
        if what and not self.over:
            what(x, now)

    def hear_welcome(self, x, now):
        if x["nonce"] != self.nonce or self.session is not None:
            return
        self.session, self.known = x["session"], True
        self.spoke, self.beaten = -AGAIN, now
        for offer in self.offers.values():
            offer["again"] = 0.0    # All that is unanswered is said again.

    def hear_farewell(self, x, _):
        reason = wire.REASONS[x["reason"]]
        if x["nonce"] not in (0, self.nonce):
            return
        if reason == "no_session":
            if self.session is not None:
                self.hello()
        elif reason == "superseded" and x["superseded"] and not self.known:
            self.incarnation, self.known = x["superseded"] + 1, True
            self.hello()
        else:
            self.over = reason, x["text"]

    def hear_invited(self, x, now):
        ticket = x["ticket"]
        number = ticket["visit"]["number"]
        if ticket["visit"]["client"] != self.number or self.is_at_work_on(ticket["visit"]):
            return
        if number in self.offers:
            self.offers[number]["again"] = 0.0
        elif number <= self.newest:
            self.decline(ticket, "dropped")
        elif self.ticket or len(self.offers) >= 8:
            self.decline(ticket, "busy")
        else:
            self.newest, self.ticket = number, ticket
            self.fetch(now)

    def decline(self, ticket, why):
        self.say("visit_declined", ticket=ticket, decline=wire.DECLINES.index(why))

    def is_at_work_on(self, visit):
        return self.ticket is not None and self.ticket["visit"] == visit

    def hear_line_served(self, x, _):
        if not self.is_at_work_on(x["visit"]) or (x["leg"], x["line"]) != (0, LINE):
            return
        if x["unchanged"]:
            if not self.held or self.held[0] != x["base"]:
                self.held = None    # It asks again, without it.
                return
            values = self.held[1]
            self.counts["unchanged"] += 1
        else:
            values = {block["block"]: block["values"] for block in x["blocks"]}.get(BLOCK)
        ticket, self.ticket = self.ticket, None
        if values is None or len(values) != self.learner.size or not np.isfinite(values).all():
            self.decline(ticket, "failed")
            return
        self.held = x["base"], values
        delta, loss = self.learner.train(values, ticket["seed"])
        self.counts["visits"] += 1
        self.offers[ticket["visit"]["number"]] = {
            "again": 0.0, "fields": {"ticket": ticket, "loss": loss, "offered": [
                {"block": BLOCK, "base": x["base"], "weight": self.learner.weight,
                 "delta": delta}]}}

    def hear_offer_answered(self, x, now):
        offer = self.offers.get(x["visit"]["number"])
        if not offer or x["visit"]["client"] != self.number or x["line"] != LINE:
            return
        verdict = wire.VERDICTS[x["verdict"]]
        self.counts[verdict] += 1
        if verdict == "overloaded":
            offer["again"] = now + (x["after"] / 1000 or AGAIN)
        else:
            del self.offers[x["visit"]["number"]]
            if verdict in ("accepted", "duplicate"):
                self.merged.add(x["visit"]["number"])

    def hear_offer_held(self, x, _):
        offer = self.offers.get(x["visit"]["number"])
        if offer and x["visit"]["client"] == self.number and x["line"] == LINE:
            offer["again"] = float("inf")   # In this session.
            self.counts["held"] += 1

    def hear_visit_ended(self, x, _):
        self.counts[wire.VERDICTS[x["verdict"]]] += 1
        if self.is_at_work_on(x["visit"]):
            self.ticket = None
        elif x["visit"]["client"] == self.number and wire.VERDICTS[x["verdict"]] != "withdrawn":
            self.offers.pop(x["visit"]["number"], None)


class Process:
    """A connection, and the clients that speak over it."""

    def __init__(self, address, patience, store=None, **how):
        self.link = Link(address, **how)
        self.patience = time.monotonic() + patience
        self.store = store or os.urandom(16)
        self.clients = {}

    def hear(self, milliseconds):
        """What came for the process; its clients hear what is theirs."""
        opened = self.link.opened
        for channel, name, fields in self.link.hear(milliseconds):
            if channel in self.clients:
                self.clients[channel].hear(name, fields, time.monotonic())
            elif channel == 0:
                if name == "farewell" and wire.REASONS[fields["reason"]] == "no_session":
                    for client in self.clients.values():
                        client.hear(name, fields, time.monotonic())
                if name == "farewell" and wire.REASONS[fields["reason"]] == "refused":
                    raise Refused(self.link.address)
                if name == "scores_asked":  # These have no rows to test on.
                    self.link.say(0, "scores_told", {"question": fields["question"],
                                                     "scores": [{"client": x} for x in fields["clients"]]})
                if name == "process_parted" and wire.PARTINGS[fields["parting"]] == "over":
                    for client in self.clients.values():
                        client.over = client.over or ("finished", fields["text"])
                yield name, fields
        if self.link.opened != opened:
            for client in self.clients.values():
                client.hello()  # Small frames were lost, or the server has forgotten all.

    def ask(self, question, answer, **fields):
        """Asks until there is an answer to this."""
        nonce, said = random.getrandbits(63), -AGAIN
        while time.monotonic() < self.patience:
            if self.link.is_open and time.monotonic() > said + 1:
                said = time.monotonic()
                self.link.say(0, question, {"nonce": nonce, **fields})
            for name, found in self.hear(100):
                if name == answer and found["nonce"] == nonce:
                    return found
        raise SystemExit(f"nobody answers {question} at {self.link.address}: {self.link.story()}")

    def enrol(self, own):
        """Makes a key known, over a connection with that of a line. Returns why not."""
        answer = self.ask("enrolment_asked", "enrolment_answered", own=own)
        self.link.close()
        return answer["why"]

    def join(self, count, name, examples, client=Client):
        terms = self.ask("terms_asked", "terms_given", lowest=1, highest=1)
        if terms["protocol"] != 1:
            raise SystemExit("the server speaks another protocol")
        config = tomllib.loads("\n".join(terms["lines"]))
        if (config["method"], config["model"]["kind"]) != ("fedavg", "softmax"):
            raise SystemExit("this client knows FedAvg and softmax regression alone")
        places = self.ask("places_asked", "places_given", store=self.store, count=count)
        if not places["clients"]:
            raise SystemExit(f"there is no place: {places['why']}")
        for number in places["clients"]:
            learner = Learner(f"{name} {number}", examples, config)
            self.clients[number] = client(self.link, number, terms, learner)

    def step(self, milliseconds=20):
        for client in self.clients.values():
            client.due(time.monotonic())
        for _ in self.hear(milliseconds):
            pass

    def run(self):
        while not all(x.over for x in self.clients.values()):
            self.step()
        self.part()
        return {x.over[0] for x in self.clients.values()}

    def part(self):
        """The last word: nobody waits for this process any more."""
        self.link.say(0, "process_parted", {"parting": wire.PARTINGS.index("over")})
        self.link.close(500)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--name", default="own")
    parser.add_argument("--wait", type=float, default=30)
    parser.add_argument("--server", type=bytes.fromhex)
    parser.add_argument("--secret", type=bytes.fromhex)
    args = parser.parse_args()
    address, server, invited = read_line(args.address) or (args.address, args.server, None)
    own = Keys(server, args.secret) if server else None
    try:
        why = invited and Process(address, args.wait, prepare=invited.prepare).enrol(own.public)
        if why:
            raise SystemExit(why)
        keys = {"prepare": own.prepare} if own else {}
        process = Process(address, args.wait, hashlib.md5(args.name.encode()).digest(), **keys)
        process.join(args.clients, args.name, args.examples)
        reasons = process.run()
    except Refused:
        print("this key is not let in", file=sys.stderr)
        return 5
    print(json.dumps({x.number: {**x.counts, "merged": sorted(x.merged)}
                      for x in process.clients.values()}))
    return reasons != {"finished"}


if __name__ == "__main__":
    sys.exit(main())
