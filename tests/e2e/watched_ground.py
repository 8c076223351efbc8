"""A live run under the eyes of a Prometheus, and what is asked about it (dashboards.py)."""

import collections
import json
import os
import pathlib
import re
import shutil
import sys
import time

BEGAN = time.monotonic()
TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "deploy"), str(TREE / "tests/dashboards")]

import alerts  # noqa: E402
import planted  # noqa: E402
import promql  # noqa: E402
import view  # noqa: E402
import watched  # noqa: E402

PAGES = {x.stem: json.loads(x.read_text(encoding="utf-8")) for x in sorted((TREE / "dashboards").glob("*.json"))}
# What says that an alert fires, and what may have nothing to say while all is well: a served run has no snapshots.
ALARMS = {"annotation 'Alerts'", "'Firing alerts' A"}
QUIET = {*ALARMS, "annotation 'Restarts'", "'Storage' B", *(f"'{x}' A" for x in view.QUIET)}
# Of alerts the times are cut in here alone; promtool holds the true ones.
CUT = [(r"for: \d+m", "for: 2s"), (r"\[(10m|30m|1h)\]", "[15s]"), (r"offset 30m", "offset 10s"), (r"4 \* 3600", "30"), (r"> 600", "> 10"),
       (r"> 900", "> 10")]
RATE, RANGE = "8s", "60s"
LONG = os.environ.get("TROUPE_NO_SKIPS")


class Ground:
    """A live run, and what is asked about it."""

    def __init__(self, troupe, scratch, port):
        rules = scratch / "alerts.yaml"
        text = (TREE / "dashboards/alerts.yaml").read_text(encoding="utf-8")
        for pattern, cut in CUT:
            text = re.sub(pattern, cut, text)
        rules.write_text(text, encoding="utf-8")
        self.run = watched.Watched(troupe, scratch / "run", port, interval=1, alerts=rules)
        self.wrong = []
        self.seen = set()  # Alerts that have fired when they should.
        self.causes = set()  # What was done to it.
        self.browser, self.scratch = shutil.which("chromium"), scratch
        self.beside = {}  # Runs that are not the one that is watched, by name: their addresses.
        # All was quiet then; what may have fired since. Before the first look at anybody nobody is asked.
        self.since, self.may = time.monotonic(), {"TroupeNobodyAsked"}

    def vector(self, expression):
        said = self.run.ask_prometheus("query", query=expression)
        assert said["status"] == "success", f"{expression}: {said}"
        return said["data"]["result"]

    def firing(self, state="firing"):
        return {x["metric"]["alertname"] for x in self.vector(f'ALERTS{{alertstate=~"{state}"}}')
                if x["metric"].get("instance") not in self.beside.values()}

    def fired(self, seconds):
        """{address: alerts}, in the last so many seconds."""
        out = collections.defaultdict(set)
        for x in self.vector(f'count by (alertname, instance) (count_over_time(ALERTS{{alertstate="firing"}}[{seconds}s]))'):
            out[x["metric"].get("instance", "")].add(x["metric"]["alertname"])
        return out

    def until(self, what, words, seconds=90):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if what():
                return
            time.sleep(0.5)
        self.wrong.append(f"{words}: not within {seconds} s; firing: {sorted(self.firing())}")

    def allow(self, cause, *names):
        """By this cause these may fire, and those beside them: `quiet` looks."""
        self.causes.add(cause)
        self.may |= {*names, *planted.BESIDE.get(cause, {})}

    def fires(self, cause, *names):
        """By this cause these do."""
        self.until(lambda: set(names) <= self.firing(), f"{cause} brings {', '.join(names)}")
        self.seen |= set(names)
        self.allow(cause, *names)
        print(f"{time.monotonic() - BEGAN:4.0f} s  {cause}: {', '.join(sorted(self.firing()))}", flush=True)

    def quiet(self):
        """All alerts end with their causes, and none has fired that must not since all was quiet last."""
        # Nor is any about to: what comes after this is another cause's.
        self.until(lambda: not self.firing("firing|pending"), "all alerts end")
        self.no_others()

    def no_others(self):
        names = {address: name for name, address in self.run.http.items()}
        for address, fired in self.fired(max(1, int(time.monotonic() - self.since))).items():
            if address not in self.beside.values() and (others := fired - self.may):
                self.wrong.append(f"{', '.join(sorted(others))} of {names.get(address, address)} fired, and what may was "
                                  f"{', '.join(sorted(self.may)) or 'nothing'}")
        self.since, self.may = time.monotonic(), set()

    def watch(self, runs):
        """Also these, {name: address}, each of which has one fault."""
        self.beside |= runs
        self.run.http |= runs
        self.run.targets()

    def alone(self, *names):
        """Each of these has had its own alert, and no other one."""
        for name in names:
            own, told = planted.ALERTS[name], planted.told(name, self.beside[name])
            self.until(lambda: self.vector(told), f"{own} fires of the run '{name}'")
            if (had := self.fired(600)[self.beside[name]]) - {*planted.ALSO.get(name, {})} != {own}:
                self.wrong.append(f"the run '{name}' brings {', '.join(sorted(had - {own})) or 'nothing'} in the place of {own} alone")
            self.seen.add(own)
            print(f"{time.monotonic() - BEGAN:4.0f} s  the run '{name}': {', '.join(sorted(had))}", flush=True)

    def forget(self, *names):
        for name in names:
            del self.run.http[name]
        self.run.targets()
        self.until(lambda: not {self.beside[x] for x in names} & {x["metric"]["instance"] for x in self.vector("up")}, "they are asked no more")

    def draws(self, may_be_empty):
        """The page has every panel, within a minute. It takes a while: in the long gate alone."""
        if not LONG or not self.browser:
            return
        wrong = lambda: view.drawn_at(self.browser, self.run.prometheus_at, PAGES, self.scratch, may_be_empty)  # noqa: E731
        deadline = time.monotonic() + 60
        while (left := wrong()) and time.monotonic() < deadline:
            time.sleep(1)
        self.wrong += left
        print(f"{time.monotonic() - BEGAN:4.0f} s  drawn", flush=True)

    def some(self):
        """(words, values of variables): all of each, one, several."""
        labels = {x: sorted({y["metric"].get(x, "") for y in self.vector("troupe_versions_total or troupe_build_info")} - {""})
                  for x in ("job", "instance", "line")}
        base = {"__rate_interval": RATE, "__range": RANGE}
        yield "all", {**base, "job": ".+", "instance": ".+", "line": ".+"}
        yield "one", {**base, **{x: y[:1] for x, y in labels.items()}}
        yield "several", {**base, **{x: y[:2] for x, y in labels.items()}}

    def asks_all(self, may_be_empty=QUIET.__contains__, *, gets_on=True, choices=("all", "one", "several")):
        """No expression errs, however variables are chosen; and with all of them none is empty that need not be. Nor does a
        rule of Prometheus err, and in a run that gets on what is recorded is there. All within a minute, in which it is scraped."""
        deadline = time.monotonic() + 60
        while True:
            asked, wrong = self.asked(may_be_empty, choices)
            wrong += self.wrong_rules(gets_on)
            if not wrong or time.monotonic() > deadline:
                break
            time.sleep(1)
        self.wrong += wrong
        print(f"{time.monotonic() - BEGAN:4.0f} s  {asked} expressions asked", flush=True)

    def asked(self, may_be_empty, choices):
        """How many, and what is wrong."""
        asked, wrong = 0, []
        for chosen, values in (x for x in self.some() if x[0] in choices):
            for name, page in PAGES.items():
                for where, expression in promql.expressions(page):
                    text = promql.filled(expression, values)
                    said = (self.run.ask_prometheus("series", **{"match[]": text}) if where.startswith("variable") else
                            self.run.ask_prometheus("query", query=text))
                    asked += 1
                    if said["status"] != "success":
                        wrong.append(f"{name}: {where}, with {chosen}: {said.get('error')}")
                    elif chosen == "all" and not may_be_empty(where) and not has_numbers(said["data"]):
                        wrong.append(f"{name}: {where} is empty: {text}")
        return asked, wrong

    def asks_in_trouble(self, *may_be_empty):
        """As asks_all, where the run does not get on: alerts are there."""
        self.asks_all((QUIET - ALARMS | set(may_be_empty)).__contains__, gets_on=False, choices=("all",))

    def wrong_rules(self, gets_on):
        wrong = []
        for group in self.run.ask_prometheus("rules")["data"]["groups"]:
            for rule in group["rules"]:
                if rule["health"] != "ok":
                    wrong.append(f"{rule['name']} is {rule['health']}: {rule.get('lastError')}")
        known = alerts.rules_of(pathlib.Path(self.run.alerts).read_text(encoding="utf-8"))
        for name, rule in known.items():
            if gets_on and rule["kind"] == "record" and not self.vector(rule["expr"]):
                wrong.append(f"{name} records nothing")
        return wrong


def has_numbers(data):
    """Also where the answer is one of series."""
    found = data["result"] if isinstance(data, dict) else data
    return any("value" not in x or x["value"][1] != "NaN" for x in found)
