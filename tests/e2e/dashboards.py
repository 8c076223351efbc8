"""All that dashboards and alerts ask, asked of a Prometheus that watches a live run: dashboards.py TROUPE [--pictures FOLDER].
With --pictures nothing goes wrong in that run, and its dashboards are kept as pictures, with what they are of."""

import argparse
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from watched_ground import ALARMS, LONG, PAGES, QUIET, Ground  # First, since it knows where the modules of dashboards are.

import alerts
import filler
import planted
import promql
import view
import watched

# What processes that train say, and rates of what nobody did lately: empty where none of them is there.
UNTRAINED = {f"'{x}" for x in ("Visits by process' A", "Clients by process' A", "Largest share of the load' A", "Smallest, of an even share' A",
                                "Router entropy, of the most' A", "Share of load' A", "Entropy of routers, of the most' A", "Kept on disk' C",
                                "Workers at work' A", "Jobs that wait' A", "Training' A", "Training' B")}
UNSCORED = {"Perplexity"}
UNROUTED = QUIET - ALARMS - {f"'{x}' A" for x in view.ROUTED}  # Where a run beside it has clients that ask.
SKIPPED = []  # What could not be looked at here.


def joined(ground):
    """How many clients of the run that is watched are here."""
    here = f'troupe_clients{{state!~"away|lost", instance="{ground.run.http["server"]}"}}'
    return sum(float(x["value"][1]) for x in ground.vector(here))


def more_join(ground, looks):
    run = ground.run
    run.join("more", 20)
    ground.until(lambda: joined(ground) == 60, "twenty more clients are seen")
    looks("troupe-overview", "Clients", "60")
    ground.asks_all(choices=("all",))
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
    ground.asks_all(choices=("all",))
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
    ground.draws(UNSCORED)
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
        ground.draws(view.QUIET - {"Firing alerts"})
    ground.quiet()


def kill(ground, looks):
    ground.run.end("join-2", signal.SIGKILL)
    ground.fires("a process that is killed", "TroupeTargetDown")
    looks("troupe-overview", "Firing alerts", "TroupeTargetDown")
    ground.asks_all((QUIET - ALARMS).__contains__, choices=("all",))
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
    ground.asks_in_trouble(*UNTRAINED)
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
    if LONG:
        sys.exit(1)


def mounts(folder, size):
    """An empty disk there, in memory: [folder], or [] where there is no right to do so."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True).returncode == 0
    return [folder] if mounted else []


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("troupe")
    asked.add_argument("--pictures", type=pathlib.Path)
    given = asked.parse_args()
    if not shutil.which("prometheus"):
        skipped("there is no prometheus (./dev setup --watching)")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        # A disk of its own, since there is an alert that tells of a machine's that is nearly full; and below it one that can be filled.
        disks = mounts(scratch, "1g")
        if not disks and (room := shutil.disk_usage(scratch)).free < 0.1 * room.total:
            skipped(f"all of it: the disk of {scratch} is nearly full, of which an alert tells, and there is no right to mount another")
            return 77
        ground = Ground(pathlib.Path(given.troupe).resolve(), scratch, watched.free_port())
        disks += mounts(scratch / "run/runs", "64m")
        beside = planted.Planted(ground.run.troupe, scratch / "beside")

        def looks(uid, panel, word, choices=""):
            """The panel says so, a regular expression, within a few scrapes."""
            if ground.browser:
                ground.until(lambda: view.says(ground.browser, ground.run.prometheus_at, uid, panel, word, scratch, choices), f"'{panel}' of {uid} says {word}")

        try:
            ground.run.begin()
            if not given.pictures:
                beside.loses()
            ground.until(lambda: ground.vector("troupe_evaluation_metric") and ground.vector("sum(rate(troupe_visits_total[8s])) > 0"),
                         "the run gets on")
            # A few scrapes more, for rates and for rules that look at rules; for pictures a minute of them.
            time.sleep(65 if given.pictures else 8)
            ground.asks_all()
            if ground.browser:
                ground.wrong += view.looked_at(ground.browser, ground.run.prometheus_at, PAGES, given.pictures, scratch)
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
            for disk in reversed(disks):
                subprocess.run(["umount", "-l", disk], check=True)  # A browser may be slow to leave it.
        for line in ground.wrong:
            print(line)
        if ground.wrong:
            for name in ("server", "join-1", "prometheus"):
                print(f"== {name}\n{ground.run.text(name)[-600:]}")
    print(f"{len(ground.wrong)} findings" if ground.wrong else f"ok, but for what was skipped: {'; '.join(SKIPPED)}" if SKIPPED else "ok")
    return 1 if ground.wrong else 77 if SKIPPED else 0


if __name__ == "__main__":
    sys.exit(main())
