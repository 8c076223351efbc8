"""A block that is larger than a frame may be passes through less credit; with --long it is held against one process. Prints what memory
each process took at most.

Usage: large_block.py TROUPE [--long]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

FRAME_MAX = 1 << 30  # Of one piece.
CREDIT = 1 << 28  # What may be under way.
# GiB of memory, and of the weights between two layers the widths: 1.11 GB, and 3.01 GB (beyond 2^31 bytes). What a server and a process
# of two clients have at once is seven times a block, where one client is visited after the other.
SIZES = {False: (14, (4200, 66000)), True: (21, (11400, 66000))}
PATIENCE = {False: 400, True: 1800}  # Seconds.
RUN = """name = "large"
method = "fedavg"
seed = 2
rounds = {}
evaluate_every = 0
workers = 1
[data]
kind = "synthetic"
[model]
kind = "mlp"
hidden = [{}, {}]
[clients]
clients = 2
clients_per_round = {}
[training]
local_steps = 1
batch_size = 1
"""


def free_gib():
    text = pathlib.Path("/proc/meminfo").read_text(encoding="ascii")
    return int(re.search(r"MemAvailable:\s+(\d+)", text).group(1)) >> 20


class Process:
    def __init__(self, scratch, name, *command):
        self.name, self.peak = name, 0
        self.log = scratch / f"{name}.log"
        self.out = scratch / f"{name}.out"
        with open(self.log, "w", encoding="utf-8") as err, open(self.out, "w", encoding="utf-8") as out:
            self.own = subprocess.Popen(list(map(str, command)), stdout=out, stderr=err)

    def said(self):
        """With --format json a process that does not begin says why where its summary would be."""
        return "".join(x.read_text(encoding="utf-8")[-2000:] for x in (self.log, self.out))

    def goes_on(self):
        try:
            status = pathlib.Path(f"/proc/{self.own.pid}/status").read_text(encoding="ascii")
            self.peak = max(self.peak, *map(int, re.findall(r"VmHWM:\s+(\d+)", status) or [0]))
        except OSError:
            pass
        return self.own.poll() is None

    def wait(self, until):
        while self.goes_on():
            if time.monotonic() > until:
                raise TimeoutError(f"{self.name} goes on: {self.said()}")
            time.sleep(0.1)
        assert self.own.returncode == 0, f"{self.name}: {self.own.returncode}: {self.said()}"

    def kill(self):
        if self.own.poll() is None:
            self.own.kill()
            self.own.wait()


def address_of(server, until):
    while not (found := re.search(r"^tcp://\S+", server.log.read_text(encoding="utf-8"), re.M)):
        assert server.goes_on() and time.monotonic() < until, server.said()
        time.sleep(0.1)
    return found.group(0)


def digest_in(process):
    return json.loads(process.out.read_text(encoding="utf-8"))["digest"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("troupe")
    parser.add_argument("--long", action="store_true")
    args = parser.parse_args()
    gib, widths = SIZES[args.long]
    if gib > free_gib():
        print(f"skipped: {free_gib()} GiB of memory are free, and this takes {gib}")
        return 77
    block = 4 * widths[0] * widths[1]
    assert block > FRAME_MAX > CREDIT
    started = []
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        config = scratch / "large.toml"
        # The longer run has a round for either client, or memory would not do.
        rounds = 2 if args.long else 1
        config.write_text(RUN.format(rounds, *widths, 2 // rounds), encoding="utf-8")

        def start(what, *command):
            started.append(Process(scratch, what, args.troupe, *command))
            return started[-1]

        try:
            begin = time.monotonic()
            until = begin + PATIENCE[args.long]
            server = start("server", "serve", config, "--insecure", "--format", "json", "--folder", scratch / "served")
            address = address_of(server, until)
            each = 2 if args.long else 1
            kept = ["--store", scratch / "store"] if args.long else []
            clients = [start(f"client{i}", "join", address, "--insecure", "--virtual", each, "--workers", 1, *kept)
                       for i in range(2 // each)]
            while any([x.goes_on() for x in started]) and time.monotonic() < until:
                for x in started:
                    assert x.own.returncode in (None, 0), f"{x.name} ended with {x.own.returncode}: {x.said()}"
                time.sleep(0.1)
            for x in started:
                x.wait(until)
            served = time.monotonic() - begin
            summary = json.loads(server.out.read_text(encoding="utf-8"))
            assert (summary["heads"], summary["visits"]) == ({"model": rounds}, 2), summary
            visited = re.findall(r'"invited","client":(\d+)', (pathlib.Path(summary["folder"]) / "events.jsonl").read_text(encoding="utf-8"))
            assert sorted(visited) == ["1", "2"], visited
            crossed = (summary["bytes_up"] / block, summary["bytes_down"] / block)
            assert max(crossed) < 2.1, f"two offers and two versions are {crossed} blocks"
            whole = []
            if args.long:
                whole = [start("one process", "run", config, "--format", "json", "--folder", scratch / "run")]
                whole[0].wait(until)
                assert digest_in(server) == digest_in(whole[0]), "what was served has another digest"
            peaks = ", ".join(f"{x.name} {x.peak / 2**20:.1f} GiB" for x in [server, *clients, *whole])
            print(f"a block of {block / 1e9:.2f} GB: {served:.0f} s; at most {peaks}; digest {digest_in(server)[:8]}")
        finally:
            for x in started:
                x.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
