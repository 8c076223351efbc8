"""Computes a run again from its events, in double precision: each visit from what it fetched, each
version from the offers that it names."""

from dataclasses import dataclass

import numpy as np

import home
import server
from methods import METHODS, Method, OFFERS_NOTHING, lines_of
from planted import wrong
from sent import sent, turned
from task import first_values, task_of
from visit import Visit

# Single precision may choose another expert for a token where logits are so near.
NEAR = 1e-5
MOST_LOOSE = 1e-3  # More would let errors pass.
ROUNDING = 2.0**-23  # Of single precision: values are so far off, however short a step was.


@dataclass
class Difference:
    what: str
    relative: float
    bound: float = Method.bound
    size: float = 1.0  # Of what was compared, in the unit of `relative`.
    learned: bool = False  # Whether training has made it what it is.

    @property
    def fine(self):
        return self.relative < self.bound

    @property
    def bounded(self):
        """Whether a difference as large as the whole would be seen."""
        return self.bound < self.size

    @property
    def parts(self):
        """Of what is allowed; what is no number is larger than all."""
        return self.relative / self.bound if self.relative == self.relative else float("inf")


def compared(what, found, wanted, moved, bound=Method.bound, learned=True):
    """A difference by what moved; of what did not move, by one."""
    off = float(np.linalg.norm(found - wanted))
    if moved > 1e-9:
        return Difference(what, off / moved, bound, learned=learned)
    return Difference(what, off, bound, float(np.linalg.norm(wanted)), learned)


class Replay:
    """`anchored`: each visit and merge begins from the versions that the run has, so that what is
    compared is one step. Else only version 0 is taken from the run."""

    def __init__(self, method, config, record, anchored):
        self.method, self.config, self.record = METHODS[method], config, record
        self.name, self.anchored = method, anchored
        self.task = task_of(method, config)
        self.lines = lines_of(method, config)
        self.versions, self.optimisers = {}, {}
        for line, blocks in self.lines.items():
            self.versions[line, 0] = self.stored(line, 0)
            self.optimisers.update({b: server.Optimiser(config) for b in blocks})
        self.invited, self.fetched, self.offers, self.trained = {}, {}, {}, []
        self.states, self.waiting = {}, {}
        self.narrow = {}  # Of each client: the nearest that another choice has been.
        self.loose = {}  # Of each visit: how far rounding may have moved what it offers.
        self.admitted, self.clients_before = 0, None
        self.merges, self.differences = 0, []
        self.finished = set()  # Who has made its last visit.

    def stored(self, line, version):
        return {block: self.record.values[line, version, i]
                for i, block in enumerate(self.lines[line])}

    def run(self):
        self.compare_first()
        for event in self.record.events:
            at = getattr(self, "on_" + event["event"], None)
            if at:
                at(event)
            elif self.method.finish and event["event"] == "visit_failed":
                self.finish(event)
            elif self.name in OFFERS_NOTHING and event["event"] not in ("withdrawn", "refused"):
                key = event.get("client"), event.get("visit")
                if key in self.fetched and key not in self.trained:
                    self.train(event)
        if self.name in OFFERS_NOTHING and self.config["pace.mode"] == "sync":
            self.compare_turns()
        if self.method.finish:
            missing = len(self.task.train) - len(self.finished)
            self.differences.append(Difference("clients without a last visit", float(missing)))
        if not self.anchored:
            self.compare_clients()
        return self

    def compare_first(self):
        for line, blocks in self.lines.items():
            for block in blocks:
                first = first_values(self.task, self.name, block)
                if first.size != self.versions[line, 0][block].size:
                    raise RuntimeError(f"{block} should have {first.size} values, found "
                                       f"{self.versions[line, 0][block].size}")
                self.differences.append(compared(f"{block} 0", self.versions[line, 0][block], first,
                                                 float(np.linalg.norm(first)), learned=False))

    def on_admitted(self, event):
        self.admitted = event["clients"]
        if self.clients_before is None:
            self.clients_before = self.admitted

    def on_invited(self, event):
        self.invited[event["client"], event["visit"]] = event

    def on_fetched(self, event):
        of = self.fetched.setdefault((event["client"], event["visit"]), {})
        of[event["line"]] = event["version"]

    def on_offered(self, event):
        self.train(event)

    def begun(self, key):
        """A visit to what it fetched, and what its client keeps, which it may change."""
        invited, values = self.invited[key], {}
        for line, version in self.fetched[key].items():
            values |= sent(self.config, self.versions[line, version])
        state = dict(self.states.get(key[0], {}))
        return Visit(self.task, key[0], invited["seed"], invited["progress"], values, state), state

    def finish(self, event):
        """The last visit of a client has the role behind all others."""
        key = event["client"], event["visit"]
        if self.invited[key]["role"] == 1:
            visit, self.states[key[0]] = self.begun(key)
            self.method.finish(visit)
            self.narrow[key[0]] = min(self.narrow.get(key[0], np.inf), visit.narrowest)
            self.finished.add(key[0])

    def train(self, event):
        key = event["client"], event["visit"]
        visit, state = self.begun(key)
        values = visit.fetched
        if self.method.asks:
            self.differences.append(Difference(
                f"request {event['client']} {event['visit']}", self.method.asks(visit, event)))
        deltas = self.method.learn(visit)
        client = event["client"]
        self.narrow[client] = min(self.narrow.get(client, np.inf), visit.narrowest)
        self.loose[key] = visit.loose
        state["own steps"] = state.get("own steps", 0) + visit.steps
        self.trained.append(key)
        if self.method.on_accept:
            self.waiting[key] = state
        else:
            self.states[event["client"]] = state
        bound = self.config["merge.clip_norm"]
        if bound and deltas:
            size = max(abs(d).max() for d in deltas.values()) if wrong("clipped_by_largest") else (
                np.sqrt(sum((d * d).sum() for d in deltas.values())))
            deltas = {b: d * min(1, bound / size) for b, d in deltas.items()}
        if self.config["merge.wire"] == "bf16":
            self.loose[key] += turned(deltas, values)
        deltas = sent(self.config, deltas)
        self.offers[key] = {
            block: {"delta": delta, "base": values[block], "weight": self.weight(visit, block),
                    "share": visit.shares.get(block, 1.0), "lacks": visit.lacks.get(block)}
            for block, delta in deltas.items()}

    def weight(self, visit, block):
        if self.method.weight == "norm":
            return visit.norms.get(block, 1.0)
        if self.method.weight == "one" and not wrong("examples_for_one"):
            return 1.0
        return server.example_weight(self.config["clients.example_weight"], visit.examples)

    def on_version(self, event):
        line, version = event["line"], event["version"]
        before, after, coarse = self.versions[line, version - 1], {}, {}
        # A client may come while a merge is under way; its version says whether it counts.
        clients = event.get("clients", self.admitted)
        self.compare_merged(line, version, event["merged"])
        for block in self.lines[line]:
            parts = []
            for client, number in event["merged"]:
                behind = version - 1 - self.fetched[client, number][line]
                offer = self.offers[client, number].get(block)
                if offer:
                    parts.append(server.parted(self.config, offer, behind))
            after[block] = self.merged(block, parts, before[block], clients)
            by_norm = self.method.weight == "norm" and block == "adapter"
            coarse[block] = server.off_the_grid(parts) if by_norm else 0.0
            if self.method.factored:  # A product does not say the signs of its factors.
                after[block] = self.task.adapter.facing(after[block],
                                                        self.stored(line, version)[block])
        for client, number in event["merged"]:
            if (client, number) in self.waiting:
                self.states[client] = self.waiting.pop((client, number))
        self.merges += 1
        self.compare_version(line, version, after, [client for client, _ in event["merged"]], coarse)
        if "control" in after:
            self.compare_controls(version, clients, self.stored(line, version)["control"])
            self.clients_before = clients
        self.versions[line, version] = self.stored(line, version) if self.anchored else after

    def merged(self, block, parts, current, clients):
        if not parts:
            return current
        if self.method.factored:
            return server.mean_of_products(self.task.adapter, parts)
        if block == "control":
            return server.sum_over_clients(parts, current, clients, self.clients_before)
        if self.config["merge.rule"] != "mean":
            mean = server.robust(self.config, parts)
        else:
            mean = server.mean(self.config, parts, current)
        own_rate = self.config.get("adapter_server_rate", 1)
        if block.startswith("adapter") and own_rate != 1:
            return current + own_rate * mean
        return current + self.optimisers[block].step(mean)

    def compare_merged(self, line, version, merged):
        """Behind a gate nobody offers what it was not to train, not even zeros."""
        if self.method.asks:
            idle = [x for x in merged if not set(self.lines[line]) & set(self.offers[tuple(x)])]
            self.differences.append(Difference(f"idle {line} {version}", float(len(idle))))

    def bound_of(self, clients):
        """What clients do who might have chosen otherwise says nothing, nor what others made of it."""
        narrow = [x for client, x in self.narrow.items() if not self.anchored or client in clients]
        near = 100.0 if wrong("every_choice_is_near") else NEAR
        return np.inf if min(narrow, default=np.inf) < near else self.method.bound

    def loose_of(self, clients):
        """Steps that hung on the last bit of a slope, by whose clients remember them."""
        return sum(x for (client, _), x in self.loose.items() if not self.anchored or client in clients)

    def compare_version(self, line, version, after, clients, coarse):
        wanted = self.stored(line, version)
        origin = self.stored(line, version - 1 if self.anchored else 0)
        loose = self.loose_of(clients)
        for block in self.lines[line]:
            moved = float(np.linalg.norm(wanted[block] - origin[block]))
            rounding = ROUNDING * float(np.linalg.norm(wanted[block])) + coarse[block]
            self.differences.append(compared(
                f"{block} {version}", after[block], wanted[block], moved,
                self.bound_of(clients) + (min(loose, MOST_LOOSE * moved) + rounding) / max(moved, 1e-9)))

    def compare_controls(self, version, clients, control):
        """SCAFFOLD: N c is the sum of all c_i, and N is all clients that were admitted."""
        known = self.clients_before <= clients <= self.admitted
        self.differences.append(Difference(f"N {version}", 0.0 if known else 1.0))
        total = sum(x["own_control"] for x in self.states.values())
        self.differences.append(compared(f"N c {version}", clients * control, total,
                                         float(np.linalg.norm(total)), Method.bound / 10))

    def compare_turns(self):
        """Who offers nothing, in rounds: nobody is withdrawn because nobody offers."""
        missing = len(set(self.invited) - set(self.trained))
        self.differences.append(Difference("invited and not trained", float(missing)))

    def compare_clients(self):
        """What clients use themselves in the end, where the run has scored it."""
        if not self.task.test or self.task.streams and not self.config["evaluate_every"]:
            return
        heads = {}
        for line in self.lines:
            heads |= sent(self.config, self.versions[line, max(v for x, v in self.versions if x == line)])
        classifies = self.config.get("data.task") == "classify"
        if self.task.streams and not classifies:
            self.compare_perplexities(heads)
            return
        what, of = ("clients_loss", self.record.summary) if classifies else (
            "test_mse", self.record.summary["method_results"])
        said = of.get(what) or 0.0
        found = np.mean([home.loss(self.task, self.name, k + 1, heads, self.states.get(k + 1, {}))
                         for k in range(len(self.task.test))])
        self.differences.append(Difference(what, abs(found - said) / found, learned=True))

    def compare_perplexities(self, heads):
        found, merged = home.perplexities(self.task, self.name, heads, self.states)
        said = self.record.summary
        for what, by_us, by_it in (
                ("perplexity", found, said["clients_perplexity"]),
                ("perplexity merged", merged, said["method_results"].get("perplexity_merged"))):
            if by_us is not None:
                self.differences.append(Difference(what, abs(by_us - (by_it or 0.0)) / by_us,
                                                   self.bound_of(self.narrow), learned=True))
