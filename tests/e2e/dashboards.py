"""All that dashboards and alerts ask, asked of a Prometheus that watches a live run: dashboards.py TROUPE [--pictures FOLDER].
With --pictures nothing goes wrong in that run, and its dashboards are kept as pictures, with what they are of."""

import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BEGAN = time.monotonic()
TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "deploy"), str(TREE / "tests/dashboards")]

import alerts  # noqa: E402
import filler  # noqa: E402
import planted  # noqa: E402
import promql  # noqa: E402
import view  # noqa: E402
import watched  # noqa: E402

PAGES = {x.stem: json.loads(x.read_text(encoding="utf-8")) for x in sorted((TREE / "dashboards").glob("*.json"))}
# What says that an alert fires, and what may have nothing to say while all is well.
ALARMS = {"annotation 'Alerts'", "'Firing alerts' A"}
QUIET = {*ALARMS, "annotation 'Restarts'", *(f"'{x}' A" for x in view.QUIET)}
UNROUTED = QUIET - ALARMS - {f"'{x}' A" for x in view.ROUTED}  # Where a run beside it has clients that ask.
# Of alerts the times are cut in here alone; promtool holds the true ones.
CUT = [(r"for: \d+m", "for: 2s"), (r"\[(10m|30m|1h)\]", "[15s]"), (r"offset 30m", "offset 10s"), (r"4 \* 3600", "30"), (r"> 600", "> 10"),
       (r"> 900", "> 10")]
RATE, RANGE = "8s", "60s"
SKIPPED = []  # What could not be looked at here.


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

    def asks_in_trouble(self):
        """As asks_all, where the run does not get on: rates are of nothing then, and alerts are there."""
        self.asks_all(lambda where: where not in ALARMS, gets_on=False, choices=("all",))

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


def joined(ground):
    """How many clients of the run that is watched are here."""
    here = f'troupe_clients{{state!~"away|lost", instance="{ground.run.http["server"]}"}}'
    return sum(float(x["value"][1]) for x in ground.vector(here))


def more_join(ground, looks):
    run = ground.run
    run.join("more", 20)
    ground.until(lambda: joined(ground) == 60, "twenty more clients are seen")
    looks("troupe-overview", "Clients", "60")
    ground.quiet()

    # One who is slow, but answers: its visits come late. Some versions are made meanwhile, until all wait for it.
    head = lambda: float(ground.vector('max(troupe_head_version{block="model"})')[0]["value"][1])  # noqa: E731
    before, deadline = head(), time.monotonic() + 10
    os.kill(run.processes["more"].pid, signal.SIGSTOP)
    while head() < before + 10 and time.monotonic() < deadline:
        time.sleep(0.2)
    os.kill(run.processes["more"].pid, signal.SIGCONT)
    ground.until(lambda: ground.vector("max(histogram_quantile(0.99, sum by (le) (rate(troupe_offer_staleness_versions_bucket[20s])))) > 8"),
                 "a straggler shows as staleness")
    ground.allow("a straggler")
    ground.quiet()


def refusal(ground, looks, beside):
    """And meanwhile the runs that have faults of their own."""
    run = ground.run

    def refuses():
        stranger = subprocess.run([run.troupe, "join", run.address, "--server", run.key, "--store", run.folder / "stranger", "--wait", "3"],
                                  capture_output=True, text=True)
        assert stranger.returncode == 5, stranger

    beside.begin()
    ground.watch(beside.http)
    refuses()
    ground.fires("a peer that is refused", "TroupePeersRefused")
    looks("troupe-transport", "Refused peers", "1", f"&instance={run.http['server']}")
    refuses()  # Once more, so that it does not end meanwhile.
    ground.asks_all(lambda where: where in UNROUTED, choices=("all",))
    refuses()
    looks("troupe-overview", "Firing alerts", "TroupePeersRefused")
    looks("troupe-overview", "Versions", f"TroupePeersRefused {run.http['server']}")  # As a mark.
    at_once = [x for x in beside.http if x != "lost"]
    ground.alone(*at_once)
    for panel, words in planted.SHOWN.items():
        looks("troupe-experts", panel, words)
    ground.wrong += beside.said_otherwise()
    ground.forget(*at_once)
    for name in at_once:
        beside.end(name)
    ground.quiet()


def restarts(ground, looks):
    def began():
        asked = f'process_start_time_seconds{{instance="{ground.run.http["more"]}"}}'
        return [x["value"][1] for x in ground.vector(asked)]
    for _ in range(2):
        before = began()
        ground.run.end("more")
        ground.run.join("more", 20)
        ground.until(lambda: joined(ground) == 60, "its clients are here again")
        ground.until(lambda before=before: began() not in ([], before), "it is scraped again")
    ground.fires("a process that is restarted twice", "TroupeRestarts")
    # Its marks, of the last minute. One that is away for longer than the window is in values.py of tests/dashboards.
    (mark,) = (x for x in PAGES["overview"]["annotations"]["list"] if x["name"] == "Restarts")
    (values,) = (x for chosen, x in ground.some() if chosen == "all")
    asked = f"count_over_time((max by (instance) ({promql.filled(mark['expr'], values)}))[60s:1s])"
    ground.until(lambda: ground.run.http["more"] in {x["metric"].get("instance") for x in ground.vector(asked)}, "its restart has a mark")
    looks("troupe-overview", "Versions", f"{mark['titleFormat']} {ground.run.http['more']}")
    ground.quiet()


def disk(ground):
    runs = ground.run.folder / "runs"
    if not os.path.ismount(runs):
        skipped("a full disk, which takes the right to mount one")
        return
    with filler.filling(runs):
        ground.fires("a disk that fills", "TroupeDiskFullSoon")
    ground.no_others()  # It is not yet over, and what comes now would bring it as well.
    with filler.filled(runs):
        ground.fires("a full disk", "TroupeDiskNearlyFull", "TroupeStoreWaits", "TroupeLineFails")
        ground.asks_in_trouble()
    ground.quiet()


def kill(ground, looks):
    ground.run.end("join-2", signal.SIGKILL)
    ground.fires("a process that is killed", "TroupeTargetDown")
    looks("troupe-overview", "Firing alerts", "TroupeTargetDown")
    ground.run.join("join-2")
    ground.quiet()


def files(ground):
    """As many as it may have, nearly."""
    pid = ground.run.processes["join-1"].pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (int(len(os.listdir(f"/proc/{pid}/fd")) / 0.905), before[1]))
    ground.fires("a process that runs out of files", "TroupeQueueAtBound")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    ground.quiet()


def standstill(ground):
    """All who train are gone, and then all who are asked."""
    run = ground.run
    for name in ("join-1", "join-2", "more"):
        run.end(name)
    ground.fires("nobody who trains", "TroupeNoProgress", "TroupeTargetDown")
    ground.asks_in_trouble()
    for name in ("join-1", "join-2"):
        run.join(name)
    run.http.pop("more")
    run.targets()
    ground.quiet()

    ground.alone("lost")
    run.http.clear()
    run.targets()
    ground.fires("nobody who is asked", "TroupeNobodyAsked")
    ground.no_others()


def phases(ground, looks, beside):
    more_join(ground, looks)
    refusal(ground, looks, beside)
    restarts(ground, looks)
    disk(ground)
    kill(ground, looks)
    files(ground)
    standstill(ground)
    known = {x for x, of in alerts.rules_of(pathlib.Path(ground.run.alerts).read_text(encoding="utf-8")).items() if of["kind"] == "alert"}
    of_disk = {"TroupeDiskNearlyFull", "TroupeDiskFullSoon", "TroupeStoreWaits", "TroupeLineFails"}
    untried = known - ground.seen - (set() if os.path.ismount(ground.run.folder / "runs") else of_disk)
    if untried:
        ground.wrong.append(f"no cause is planted for {', '.join(sorted(untried))}")
    for cause in sorted(planted.BESIDE.keys() - ground.causes - (set() if os.path.ismount(ground.run.folder / "runs") else {"a full disk"})):
        ground.wrong.append(f"'{cause}' is no cause of these, and has a row of what may fire beside it")


def skipped(words):
    """What is to be there in the long gate; elsewhere all else is looked at, and the whole counts as skipped."""
    print(f"skipped: {words}", flush=True)
    SKIPPED.append(words)
    if os.environ.get("TROUPE_NO_SKIPS"):
        sys.exit(1)


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("troupe")
    asked.add_argument("--pictures", type=pathlib.Path)
    given = asked.parse_args()
    browser = shutil.which("chromium")
    if not shutil.which("prometheus"):
        skipped("there is no prometheus (./dev setup --watching)")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        ground = Ground(pathlib.Path(given.troupe).resolve(), scratch, watched.free_port())
        # A disk of its own, that can be full.
        runs = scratch / "run/runs"
        runs.mkdir(parents=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", runs], capture_output=True).returncode == 0
        beside = planted.Planted(ground.run.troupe, scratch / "beside")

        def looks(uid, panel, word, choices=""):
            """The panel says so, a regular expression, within a few scrapes."""
            if browser:
                ground.until(lambda: view.says(browser, ground.run.prometheus_at, uid, panel, word, scratch, choices), f"'{panel}' of {uid} says {word}")

        try:
            ground.run.begin()
            if not given.pictures:
                beside.loses()
            ground.until(lambda: ground.vector("troupe_evaluation_metric") and ground.vector("sum(rate(troupe_visits_total[8s])) > 0"),
                         "the run gets on")
            # A few scrapes more, for rates and for rules that look at rules; for pictures a minute of them.
            time.sleep(65 if given.pictures else 8)
            ground.asks_all()
            if browser:
                ground.wrong += view.looked_at(browser, ground.run.prometheus_at, PAGES, given.pictures, scratch)
            else:
                skipped("pages in a browser: there is no chromium (./dev setup --watching)")
            if not given.pictures:
                ground.quiet()
                phases(ground, looks, beside)
        except (AssertionError, watched.Failed) as e:
            ground.wrong.append(str(e))
        finally:
            ground.run.close()
            beside.close()
            if mounted:
                subprocess.run(["umount", runs], check=True)
        for line in ground.wrong:
            print(line)
        if ground.wrong:
            for name in ("server", "join-1", "prometheus"):
                print(f"== {name}\n{ground.run.text(name)[-600:]}")
    print(f"{len(ground.wrong)} findings" if ground.wrong else f"ok, but for what was skipped: {'; '.join(SKIPPED)}" if SKIPPED else "ok")
    return 1 if ground.wrong else 77 if SKIPPED else 0


if __name__ == "__main__":
    sys.exit(main())
