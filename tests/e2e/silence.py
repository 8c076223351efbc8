"""A client that goes silent for three beats is lost, and comes back: the defaults of a served run, at their length.

Usage: silence.py TROUPE

Two processes join; one is stopped (SIGSTOP) in the middle of a round. No `clients.silence_max` says how long a silence may be, so it is 90
seconds, and who waits beats every 30. A hundred seconds of nothing: `.ci/long nets` does it, and the simulator the rest.
"""

import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

CONFIG = """
name = "silent"
method = "fedavg"
rounds = 1000000
evaluate_every = 0
[data]
kind = "synthetic"
dimension = 20
[clients]
clients = 4
clients_per_round = 4
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 10
learning_rate = 0.01
"""
EACH = 2
BEAT = 30
SILENCE = 3 * BEAT
SLACK = 25  # A roster looks every ten seconds.


class Served:
    """A server with pages, and its processes."""

    def __init__(self, troupe, scratch):
        self.troupe, self.scratch = troupe, scratch
        (scratch / "run.toml").write_text(CONFIG, encoding="utf-8")
        self.processes = []
        self.server = self.begin("server", "serve", scratch / "run.toml", "--insecure", "--http", "127.0.0.1:0",
                                 "--folder", scratch / "runs")
        self.address = soon(lambda: self.said("server", r"tcp://\S+"), 30, "the server listens")
        self.pages = soon(lambda: self.said("server", r"http://\S+/metrics"), 30, "the server has pages")
        (self.folder,) = (scratch / "runs").glob("*")

    def begin(self, name, *command):
        with open(self.scratch / f"{name}.log", "w", encoding="utf-8") as log:
            self.processes.append(subprocess.Popen([self.troupe, *command], stdout=log, stderr=subprocess.STDOUT))
        return self.processes[-1]

    def join(self, name):
        return self.begin(name, "join", self.address, "--insecure", "--virtual", str(EACH), "--workers", "1", "--store",
                          self.scratch / name, "--audit", self.scratch / f"{name}.audit")

    def said(self, name, pattern):
        found = re.search(pattern, (self.scratch / f"{name}.log").read_text(encoding="utf-8"))
        return found and found[0]

    def metric(self, name):
        with urllib.request.urlopen(self.pages, timeout=10) as page:
            found = re.search(rf"^{re.escape(name)} (\d+)$", page.read().decode(), re.MULTILINE)
        return int(found[1]) if found else 0

    def beats(self, name):
        text = (self.scratch / f"{name}.audit").read_text(encoding="utf-8")
        return len(re.findall(r'"message": ?"beat"', text))

    def lost(self):
        return self.metric('troupe_leaves_total{reason="lost"}')


def soon(found, most, what):
    """What is found, once it is there."""
    until = time.monotonic() + most
    while not (it := found()):
        assert time.monotonic() < until, f"not within {most} s: {what}"
        time.sleep(0.1)
    return it


def is_lost_and_comes_back(run):
    run.join("stays")
    stops = run.join("stops")
    soon(lambda: run.metric("troupe_visits_total") > 20, 60, "visits of all are merged")
    stops.send_signal(signal.SIGSTOP)
    began, beats = time.monotonic(), run.beats("stays")
    assert run.lost() == 0, "somebody is lost who is here"
    soon(lambda: run.lost() == EACH, SILENCE + SLACK, "who is silent is lost")
    waited = time.monotonic() - began
    assert waited > SILENCE - 2, f"lost after {waited:.0f} s"
    # Who waits for the round beats; it says nothing else.
    found = run.beats("stays") - beats
    assert EACH * (waited // (1.2 * BEAT)) <= found <= EACH * (waited // (0.8 * BEAT) + 1), f"{found} beats"
    assert run.metric('troupe_clients{state="away"}') + run.metric('troupe_clients{state="lost"}') == EACH
    visits, joins = run.metric("troupe_visits_total"), run.metric("troupe_joins_total")
    stops.send_signal(signal.SIGCONT)
    soon(lambda: run.metric("troupe_joins_total") >= joins + EACH, 30, "who was lost is back")
    soon(lambda: run.metric("troupe_visits_total") > visits + 8 * EACH, 60, "rounds of all go on")
    assert run.metric('troupe_clients{state="lost"}') == 0 and run.lost() == EACH
    print(f"lost after {waited:.0f} s, {found} beats of {EACH} who waited")


def main():
    troupe = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        run = Served(troupe, pathlib.Path(name).resolve())
        try:
            is_lost_and_comes_back(run)
            subprocess.run([troupe, "stop", run.folder], check=True, timeout=60, capture_output=True)
            assert [x.wait(60) for x in run.processes] == [0, 0, 0]
        except BaseException:
            for log in sorted(pathlib.Path(name).glob("*.log")):
                print(f"== {log.name}\n{log.read_text(encoding='utf-8')[-800:]}")
            raise
        finally:
            for x in run.processes:
                x.kill()
                x.wait()


if __name__ == "__main__":
    main()
