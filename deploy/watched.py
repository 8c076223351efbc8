#!/usr/bin/env python3
"""A server, two joining processes and a Prometheus with the dashboards, on this machine and for this machine alone:
watched.py TROUPE [--port PORT]. Ctrl-C ends all of it in order. ./dev dashboards builds what it needs and starts it."""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TREE = pathlib.Path(__file__).resolve().parent.parent
CLIENTS_EACH = 20


class Failed(Exception):
    """With words for a person."""


class Watched:
    """`begin` starts everything, `close` ends it. `interval`: seconds between scrapes, and between looks at alerts."""

    def __init__(self, troupe, folder, port, *, interval=2, config=TREE / "deploy/examples/watched.toml", alerts=None):
        self.troupe, self.folder, self.port, self.interval, self.config = str(troupe), pathlib.Path(folder), port, interval, config
        self.alerts = alerts or TREE / "dashboards/alerts.yaml"
        self.processes = {}  # By name, in the order in which they began.
        self.http = {}  # Their addresses.
        self.again = {}  # What starts them once more.
        self.address, self.key, self.run = None, None, None
        self.prometheus_at = f"http://127.0.0.1:{port}"

    def text(self, name):
        path = self.folder / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def start(self, name, command):
        # A session of its own: Ctrl-C is ours, and they end in order.
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen([str(x) for x in command], stdout=log, stderr=subprocess.STDOUT,
                                                    stdin=subprocess.DEVNULL, start_new_session=True)

    def wait_for(self, name, pattern, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := re.search(pattern, self.text(name), re.M):
                return found
            if self.processes[name].poll() is not None:
                raise Failed(f"{name} has ended at once; it said:\n{self.text(name).strip()[-800:]}")
            time.sleep(0.05)
        raise Failed(f"{name} does not say that it is ready; {self.folder / name}.log has what it says")

    def ask(self, *command):
        done = subprocess.run([self.troupe, *map(str, command)], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"troupe {command[0]} fails: {done.stderr.strip()}")
        return done.stdout.strip()

    def targets(self):
        """Who is scraped. Prometheus sees the change by itself."""
        path = self.folder / "prometheus/targets/all.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps([{"targets": [x]} for x in self.http.values()]), encoding="utf-8")
        new.rename(path)

    def serve(self, *more):
        """Again it goes on with the run."""
        before = len(re.findall("^tcp://", self.text("server"), re.M))
        self.start("server", [self.troupe, "serve", self.run or self.config, "--keys", self.folder / "keys", "--folder", self.folder / "runs",
                              "--listen", self.address or "tcp://127.0.0.1:0", "--http", self.http.get("server", "127.0.0.1:0"), *more])
        said = self.wait_for("server", r"(?:^tcp://[^^]*?){%d}^(tcp://\S+) (\S+)$" % before)
        self.address, self.key = said[1], said[2]
        self.http["server"] = re.findall(r"^metrics at http://(\S+)/metrics$", self.text("server"), re.M)[-1]
        (self.run,) = (self.folder / "runs").iterdir()
        self.again["server"] = [self.troupe, "serve", self.run, "--http", self.http["server"]]

    def join(self, name, clients=CLIENTS_EACH, *more):
        """With an invitation; again it is known."""
        store = self.folder / f"store-{name}"
        whom = [self.address, "--server", self.key] if store.exists() else [
            self.ask("keys", "invite", "--keys", self.folder / "keys", "--name", name, "--numbers", clients)]
        before = self.text(name).count("metrics at")
        # It trains without a pause: what is looked at meanwhile stays quick, and so does whatever else this machine does.
        self.start(name, ["nice", "-n", 10, self.troupe, "join", *whom, "--virtual", clients, "--workers", 1, "--store", store,
                          "--http", self.http.get(name, "127.0.0.1:0"), *more])
        said = self.wait_for(name, r"(?:metrics at[^^]*?){%d}^metrics at http://(\S+)/metrics$" % before)
        self.http[name] = said[1]
        self.again[name] = [self.troupe, "join", self.address, "--server", self.key, "--virtual", clients, "--workers", 1, "--store", store,
                            "--http", said[1]]
        self.targets()

    def begin(self):
        prometheus = shutil.which("prometheus")
        if not prometheus:
            raise Failed("there is no prometheus here: apt-get install prometheus (./dev dashboards does)")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError as e:
                raise Failed(f"port {self.port} cannot be had for Prometheus ({e.strerror}); another one: --port {self.port + 1}") from e
        try:
            (self.folder / "prometheus").mkdir(parents=True)  # It is nobody else's.
        except OSError as e:
            raise Failed(f"{self.folder} cannot be made ({e.strerror}); another one: --folder FOLDER") from e
        self.serve()
        self.join("join-1")
        self.join("join-2")
        config = (TREE / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8")
        config = config.replace("../../dashboards/alerts.yaml", str(pathlib.Path(self.alerts).resolve()))
        config = re.sub(r"(_interval): 10s", rf"\g<1>: {self.interval}s", config)
        (self.folder / "prometheus/prometheus.yml").write_text(config, encoding="utf-8")
        self.start("prometheus", [prometheus, f"--config.file={self.folder}/prometheus/prometheus.yml",
                                  f"--storage.tsdb.path={self.folder}/prometheus/data", f"--web.listen-address=127.0.0.1:{self.port}",
                                  f"--web.user-assets={TREE}/dashboards"])
        self.wait_for("prometheus", "Server is ready to receive web requests")

    def ask_prometheus(self, path, **parameters):
        """Its answer, also one that says what is wrong."""
        try:
            with urllib.request.urlopen(f"{self.prometheus_at}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            return json.load(e)

    def end(self, name, number=signal.SIGINT, seconds=20):
        """Returns its exit status."""
        process = self.processes.pop(name)
        if process.poll() is None:
            process.send_signal(number)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def close(self, say=lambda _: None):
        """Who has clients first, so that they are not lost to anybody."""
        for name in sorted(self.processes, key=lambda x: (x == "prometheus", x == "server")):
            say(f"ending {name}")
            self.end(name, signal.SIGTERM if name == "prometheus" else signal.SIGINT)


WORDS = """
dashboards  {at}/user/view/
alerts      {at}/alerts
metrics     {metrics}
folder      {folder}

In another terminal, line by line:

  cd {here}
  # Twenty more clients join: "Clients" of Overview goes from 40 to 60. The first line has Prometheus ask their process, too.
  echo '[{{"targets": ["{more}"]}}]' >{folder}/prometheus/targets/more.json
  {troupe} join "$({troupe} keys invite --keys {folder}/keys --name more --numbers 20)" --virtual 20 --workers 1 --store {folder}/store-more --http {more} &
  # They leave by `kill %1`; "Clients by state" of Clients and churn has them as away.
  # A process is killed: "Connected processes" of Transport and storage is one less, and TroupeTargetDown fires after two minutes.
  kill -9 {pid}
  # A peer is refused, with 5: "Refused peers" counts it, and TroupePeersRefused fires after one minute.
  {troupe} join {address} --server {key} --store {folder}/stranger --wait 5
  # What the run waits for.
  {troupe} why {run}

Ctrl-C ends all of it."""


def ended(name, status):
    """In words."""
    if status >= 0:
        return f"{name} has ended with {status}"
    return f"{name} was ended by signal {-status} ({signal.strsignal(-status)})"


def say(words):
    """Its terminal may be gone."""
    with contextlib.suppress(OSError):
        print(words, flush=True)


def free_port():
    """Below those that a system gives to whoever asks for any: nobody takes it before it is used."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def port(text):
    if not text.isdecimal() or not 0 < int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"'{text}' is no port; one from 1 to 65535 would do")
    return int(text)


def main():
    asked = argparse.ArgumentParser(prog="./dev dashboards", description="A run with its dashboards, on this machine.")
    asked.add_argument("troupe", help=argparse.SUPPRESS)
    asked.add_argument("--port", type=port, default=9190, help="where Prometheus and the dashboards are; 9190")
    asked.add_argument("--folder", help="where all of it is kept; else runs/dashboards-TIME")
    given = asked.parse_args()
    folder = pathlib.Path(given.folder or time.strftime("runs/dashboards-%Y%m%d-%H%M%S"))
    if folder.exists():
        sys.exit(f"dev: {folder} is there already; another name would do.")

    def interrupt(*_):
        raise KeyboardInterrupt

    # Also where its terminal is closed; but not where that shall not matter, as under nohup.
    ends = [x for x in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(x) != signal.SIG_IGN]
    for number in ends:
        signal.signal(number, interrupt)
    watched = Watched(given.troupe, folder, given.port)
    code = 0
    try:
        watched.begin()
        print(WORDS.format(at=watched.prometheus_at, metrics=", ".join(f"http://{x}/metrics ({name})" for name, x in watched.http.items()),
                           folder=folder, here=os.getcwd(), troupe=watched.troupe, more=f"127.0.0.1:{free_port()}",
                           pid=watched.processes["join-2"].pid, address=watched.address, key=watched.key, run=watched.run), flush=True)
        while "prometheus" in watched.processes:
            time.sleep(0.2)
            for name, process in list(watched.processes.items()):
                if process.poll() is not None:
                    del watched.processes[name]
                    say(f"{ended(name, process.returncode)}; {folder}/{name}.log has its words")
                    if name in watched.again:
                        say(f"  again: {' '.join(map(str, watched.again[name]))}")
        code = 1
    except KeyboardInterrupt:
        pass
    except Failed as e:
        print(f"dev: {e}", file=sys.stderr)
        code = 1
    finally:
        for number in (signal.SIGINT, *ends):
            signal.signal(number, signal.SIG_IGN)
        watched.close(say)
    if not code:
        say(f"all has ended; {folder} has what they said" + (f", and troupe serve {watched.run} goes on" if watched.run else ""))
    return code


if __name__ == "__main__":
    sys.exit(main())
