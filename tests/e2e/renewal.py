"""A served run goes over to the server's next pair of keys, twice: renewal.py TROUPE.

Two processes are there, and the server is killed before, at and after the moment; nothing is lost. A third one was away: it is
refused with the word, and comes back by a new line.
"""

import calendar
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

import wire_laws
from served_run import read
from witness import kill_now

BUFFER = 4
CONFIG = f"""
name = "renewed"
method = "fedavg"
updates = 1000000
evaluate_every = 0
[data]
kind = "synthetic"
dimension = 20
[clients]
clients = 12
expected = 4
[pace]
mode = "fedbuff"
buffer_size = {BUFFER}
concurrency = 12
[model]
kind = "softmax"
[training]
local_epochs = 1
batch_size = 5
learning_rate = 0.01
"""


def until(what, words, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(words)


def text_at(path):
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


class Scene:
    def __init__(self, troupe, scratch):
        self.troupe, self.scratch, self.keys = troupe, scratch, scratch / "keys"
        (scratch / "run.toml").write_text(CONFIG, encoding="utf-8")
        self.server, self.folder, self.joined, self.logs = None, None, {}, 0

    def ask(self, *command, code=0):
        done = subprocess.run([self.troupe, *command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, (command, done)
        return done.stdout + done.stderr if code else done.stdout.strip()

    def start(self, name, *command):
        self.logs += 1
        path = self.scratch / f"{self.logs:02}-{name}.log"
        with open(path, "w", encoding="utf-8") as log:
            return subprocess.Popen([self.troupe, *command], stdout=log, stderr=subprocess.STDOUT), path

    def serve(self):
        """Returns the key that its first line says."""
        self.server, self.log = self.start("serve", "serve", self.folder or self.scratch / "run.toml", "--folder",
                                           self.scratch / "runs", "--keys", self.keys)
        until(lambda: self.said() or self.server.poll() is not None, "the server listens")
        assert self.said(), text_at(self.log)
        if not self.folder:
            (endpoint,) = (self.scratch / "runs").glob("*/endpoint")
            self.folder = endpoint.parent
        return self.said()[0]

    def said(self):
        return re.findall(r"^tcp://\S+ ([0-9a-f]{64})$", text_at(self.log), re.MULTILINE)

    def kill_server(self):
        kill_now(self.server)
        self.server.wait()

    def join(self, name, *where):
        self.joined[name] = self.start(name, "join", *where, "--store", self.scratch / name, "--virtual", "4", "--workers", "1")

    def kill(self, name):
        kill_now(self.joined[name][0])
        self.joined.pop(name)[0].wait()

    def merged(self, name):
        """Visits of a process that are in versions."""
        table = next((self.scratch / name).glob("run-*/clients.sqlite"), None)
        try:
            mine = [client for client, in read(table, "SELECT client FROM clients")] if table else []
        except sqlite3.OperationalError:
            return 0  # It is being made.
        return sum(read(self.folder / "ledger.sqlite", "SELECT COUNT(*) FROM merges WHERE client = ?", x)[0][0] for x in mine)

    def go_on(self, *names):
        """Versions are made of visits of each of them."""
        before = {x: self.merged(x) for x in names}
        for x in names:
            until(lambda x=x: self.merged(x) >= before[x] + BUFFER,
                  f"{x} does not go on:\n{text_at(self.joined[x][1])}\n{text_at(self.log)}")

    def renew(self, after):
        """Returns the next key, when both processes have it, and its moment."""
        said = self.ask("keys", "renew", "--keys", self.keys, "--in", after).split()
        key, moment = said[-1], calendar.timegm(time.strptime(said[1], "%Y-%m-%dT%H:%M:%SZ"))
        for x in "alice", "bob":
            # As the next one, or already as the one that it has.
            until(lambda x=x: any(key in text_at(path) for path in (self.scratch / x / "servers").glob("*")),
                  f"{x} does not hear of the next key:\n{text_at(self.joined[x][1])}")
        return key, moment

    def changed(self, key):
        until(lambda: text_at(self.folder / "endpoint").endswith(f" {key}\n"), f"the key does not change:\n{text_at(self.log)}")
        until(lambda: f"public {key}\n" in text_at(self.keys / "pair") and not (self.keys / "next").exists(),
              "the old pair is not gone")
        until(lambda: self.said()[-1] == key, "the line of a server says its key")

    def close(self):
        for process in [self.server, *(x for x, _ in self.joined.values())]:
            if process and process.poll() is None:
                process.kill()
                process.wait()


def away(scene, line, first, second):
    """Who was away needs a new line, and its clients are as they were."""
    said = scene.ask("join", line, "--store", scene.scratch / "carol", code=5)
    assert "it needs a new line" in said, said
    address = line.rsplit("/", 2)[0]
    for key in first, "ab" * 32:
        said = scene.ask("join", address, "--server", key, "--store", scene.scratch / "carol", code=5)
        assert f"has not the key {key}" in said, said
    before = scene.merged("carol")
    assert before > 0
    scene.join("carol", scene.ask("keys", "invite", "--keys", scene.keys, "--name", "carol"))
    scene.go_on("carol")
    assert second == scene.said()[-1]


def play(scene):
    first = scene.serve()
    lines = {x: scene.ask("keys", "invite", "--keys", scene.keys, "--name", x) for x in ("alice", "bob", "carol")}
    for name, line in lines.items():
        scene.join(name, line)
    for name in lines:
        until(lambda name=name: (scene.scratch / name / "pair").exists(), f"{name} is not there")
        until(lambda name=name: list((scene.scratch / name).glob("run-*/clients.sqlite")), f"{name} is not there")
    scene.go_on(*lines)
    scene.kill("carol")

    # The server dies before the moment.
    second, moment = scene.renew("8s")
    assert "next of the server, from " in scene.ask("keys", "list", "--keys", scene.keys)
    scene.kill_server()
    assert scene.serve() == first or time.time() >= moment, "it changes before its moment"
    scene.changed(second)
    scene.go_on("alice", "bob")
    # And after it. Who begins again with what it was once given finds it.
    scene.kill_server()
    scene.kill("bob")
    assert scene.serve() == second
    scene.join("bob", lines["bob"])
    scene.go_on("alice", "bob")
    away(scene, lines["carol"], first, second)

    # It is dead at the moment.
    third, moment = scene.renew("4s")
    scene.kill_server()
    time.sleep(max(0.0, moment + 0.1 - time.time()))
    assert scene.serve() == third, "it forgets its moment"
    scene.changed(third)
    address = lines["alice"].rsplit("/", 2)[0]
    scene.kill("alice")
    scene.join("alice", address, "--server", first)
    scene.go_on("alice", "bob")

    scene.ask("stop", scene.folder)
    assert scene.server.wait(60) == 0
    for name, (process, log) in scene.joined.items():
        assert process.wait(60) == 0, f"{name}:\n{text_at(log)}"
    merges = wire_laws.check_ledger(scene.folder, BUFFER)
    replayed = scene.ask("replay", scene.folder)
    print(f"{sum(map(len, merges.values()))} versions over three pairs of keys; {replayed.splitlines()[-1]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(os.path.abspath(sys.argv[1]), pathlib.Path(folder))
        try:
            play(scene)
        finally:
            scene.close()


if __name__ == "__main__":
    main()
