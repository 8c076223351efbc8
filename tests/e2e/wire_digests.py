"""What is served has the digest of what is run in one process: with and without keys, in chunks of any size, over
connections that are cut at random. Nobody has left by losing one.

Usage: wire_digests.py TROUPE [--long] [--seed N]
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import pathlib
import random
import socket
import re
import struct
import sys
import tempfile
import time
import urllib.request

RUN = ["deploy/examples/tiny.toml", "--set", "rounds=20"]
DATA = "/usr/share/datasets/fashion-mnist"
CLIENTS = 100
PATIENCE = 200  # Seconds.
# Processes, keys, KiB of a chunk.
SHORT = [(2, True, 4), (1, False, 4096)]
LONG = list(itertools.product((1, 2, 4), (False, True), (4, 256, 4096)))


class Cutter:
    """Hands on bytes between processes and a server, and cuts all connections now and then. However fast a machine is,
    so many bytes are not exceeded before somebody has looked at its pages, and has seen who came."""

    def __init__(self, to, seed, unseen):
        self.to, self.unseen = to, unseen
        self.looked = asyncio.Event()
        self.draw = random.Random(seed)
        self.open = set()
        self.used = asyncio.Event()
        self.cuts = 0

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.accepted, "127.0.0.1", 0)
        self.address = f"tcp://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        self.cutting = asyncio.create_task(self.cut())
        return self

    async def __aexit__(self, *_):
        self.cutting.cancel()
        self.server.close()
        for writer in self.open:
            writer.close()

    async def accepted(self, reader, writer):
        with contextlib.suppress(OSError):
            there, here = await asyncio.open_connection(*self.to)
            self.open |= {writer, here}
            self.used.set()
            await asyncio.gather(self.hand_on(reader, here), self.hand_on(there, writer), return_exceptions=True)

    async def hand_on(self, reader, writer):
        try:
            while data := await reader.read(1 << self.draw.randint(4, 16)):
                self.unseen -= len(data)
                if self.unseen < 0:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self.looked.wait(), 30)
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()
            self.open.discard(writer)

    async def cut(self):
        await self.used.wait()
        pause = 0.3  # However fast a machine is, this one is before the end.
        while True:
            await asyncio.sleep(pause)
            pause = self.draw.uniform(0.3, 1.5)
            for writer in tuple(self.open):
                raw = writer.get_extra_info("socket")
                if raw is not None and raw.fileno() >= 0:
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                self.cuts += 1
            self.open.clear()


class Pages:
    """What /metrics says of who came and went, as of when it was last asked."""

    def __init__(self, address, cutter):
        self.address, self.cutter = address, cutter
        self.seen, self.seen_after_cuts = {}, 0

    async def __aenter__(self):
        self.asking = asyncio.create_task(self.ask())
        return self

    async def __aexit__(self, *_):
        self.asking.cancel()

    async def ask(self):
        while True:
            cuts = self.cutter.cuts
            with contextlib.suppress(OSError):  # It is over.
                page = await asyncio.to_thread(lambda: urllib.request.urlopen(self.address, timeout=5).read().decode())
                found = re.findall(r'^troupe_(joins_total|leaves_total{reason="(?:said|lost)"}) (\d+)$', page, re.MULTILINE)
                self.seen, self.seen_after_cuts = {name: int(n) for name, n in found}, cuts
                if cuts > 0 and self.seen["joins_total"] == CLIENTS:
                    self.cutter.looked.set()
            await asyncio.sleep(0.1)

    def check(self):
        assert self.seen_after_cuts > 0, "nobody looked after a cut"
        assert self.seen["joins_total"] > 0, "nobody looked after somebody had come"
        wanted = {"joins_total": CLIENTS, 'leaves_total{reason="said"}': 0, 'leaves_total{reason="lost"}': 0}
        assert self.seen == wanted, f"by {self.seen_after_cuts} cuts somebody has left: {self.seen}"


class Scene:
    def __init__(self, troupe, scratch):
        self.troupe, self.scratch = troupe, scratch
        self.started = []

    async def start(self, name, *command):
        log = open(self.scratch / f"{name}.log", "w", encoding="utf-8")
        out = open(self.scratch / f"{name}.out", "w", encoding="utf-8")
        self.started.append(await asyncio.create_subprocess_exec(self.troupe, *map(str, command), stdout=out, stderr=log))
        return self.started[-1]

    async def ask(self, *command):
        process = await asyncio.create_subprocess_exec(self.troupe, *map(str, command), stdout=asyncio.subprocess.PIPE)
        found = (await process.communicate())[0].decode().strip()
        assert process.returncode == 0, command
        return found

    async def address(self, name):
        """And where its pages are."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            said = (self.scratch / f"{name}.log").read_text(encoding="utf-8")
            pages = re.search(r"^metrics at (http://\S+)\n", said, re.MULTILINE)
            if pages and (found := re.search(r"^tcp://.*\n", said, re.MULTILINE)):
                return found[0].split(), pages[1]
            await asyncio.sleep(0.02)
        raise AssertionError(f"{name} says no address")

    def said_at_the_end(self, name):
        return json.loads((self.scratch / f"{name}.out").read_text(encoding="utf-8"))

    def digest(self, name):
        return self.said_at_the_end(name)["digest"]

    async def served(self, name, processes, keys, chunk, seed):
        security = ["--keys", self.scratch / f"{name}-keys"] if keys else ["--insecure"]
        server = await self.start(name, "serve", *RUN, "--set", f"clients.expected={CLIENTS}", "--folder",
                                  self.scratch / "runs", "--format", "json", "--chunk-kib", chunk, "--http", "127.0.0.1:0",
                                  *security)
        said, address = await self.address(name)
        host, port = said[0].removeprefix("tcp://").split(":")
        unseen = self.said_at_the_end("wanted")["bytes_down"] / 2
        async with Cutter((host, int(port)), seed, unseen) as between, Pages(address, between) as pages:
            joined = []
            for i in range(processes):
                store = self.scratch / f"{name}-store-{i}"
                if keys:
                    own = await self.ask("keys", "new", "--keys", store)
                    await self.ask("keys", "allow", own, *security, "--name", f"p{i}", "--numbers", CLIENTS)
                joined.append(await self.start(
                    f"{name}-{i}", "join", between.address, "--virtual", CLIENTS // processes, "--data", DATA, "--store",
                    store, "--chunk-kib", chunk, *(["--server", said[1]] if keys else ["--insecure"])))
            async with asyncio.timeout(PATIENCE):
                assert await server.wait() == 0, "the server fails"
                for process in joined:
                    assert await process.wait() == 0, "clients fail"
            pages.check()
            return between.cuts

    def end(self):
        for process in self.started:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()


async def play(arguments, scratch):
    scene = Scene(arguments.troupe, scratch)
    try:
        run = await scene.start("wanted", "run", *RUN, "--folder", scratch / "runs", "--format", "json")
        assert await run.wait() == 0, "troupe run fails"
        wanted = scene.digest("wanted")
        for i, (processes, keys, chunk) in enumerate(LONG if arguments.long else SHORT):
            name, began = f"served-{i}", time.monotonic()
            cuts = await scene.served(name, processes, keys, chunk, arguments.seed + i)
            found = scene.digest(name)
            print(f"{processes} processes{' with keys' if keys else ''}, chunks of {chunk} KiB, {cuts} cuts:"
                  f" {found[:8]}, {time.monotonic() - began:.1f} s", flush=True)
            assert found == wanted, f"it is {found} and not {wanted}"
            assert cuts > 4, f"{cuts} cuts are too few to be within visits"
    except BaseException:
        for path in sorted(scratch.glob("*.log")):
            print(f"== {path.name}\n{path.read_text(encoding='utf-8')[-800:]}")
        raise
    finally:
        scene.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("troupe", type=lambda x: str(pathlib.Path(x).resolve()))
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(play(arguments, pathlib.Path(name)))


if __name__ == "__main__":
    sys.exit(main())
