#!/usr/bin/env python3
"""A thousand connections that mean harm at a run's --http, of one kind after the other, each
opened again when it is closed: how long does an honest reader wait, how much memory does the
process take, and does it end when it is told to, with all of them open?

    tests/experiments/hostile_http.py build/release/troupe [CONNECTIONS [SECONDS]]

SECONDS of each kind; by default seven, so that each sees the server's deadline of five.
"""

import multiprocessing
import pathlib
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

CONFIG = """
name = "watched"
method = "fedavg"
clock = "wall"
rounds = 1000000000
evaluate_every = 100
workers = 1
scenario = "{all_leave}"
ledger = "memory"
events = false
[data]
kind = "quadratic"
[model]
kind = "quadratic"
[clients]
clients = 12
clients_per_round = 4
[pace]
mode = "sync"
[training]
local_steps = 5
batch_size = 0
learning_rate = 0.1
"""

HOST = b"Host: localhost\r\n"
GET = b"GET /metrics HTTP/1.1\r\n"
ASKED = GET + HOST + b"\r\n"

# What a connection says first, and then as often as it can, or once in so many seconds; whether
# it closes its own direction; whether it reads.
KINDS = {
    "body in chunks": dict(first=b"POST /healthz HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n",
                           again=b"10000\r\n" + b"x" * 0x10000 + b"\r\n"),
    "body of a GET": dict(first=GET + HOST + b"Content-Length: 1000000000\r\n\r\n", again=b"x" * 0x10000),
    "one byte a second": dict(first=GET + b"X: ", again=b"x", every=1),
    "silence": dict(),
    "headers without end": dict(first=GET, again=b"X: y\r\n" * 1000),
    "8 KB of ranges": dict(first=GET + HOST + b"Range: bytes=0-" + b",0-" * 2600 + b"\r\n\r\n"),
    "wrong host": dict(first=GET + b"Host: evil.example\r\n\r\n"),
    "pipelined": dict(first=ASKED * 100, again=ASKED * 100),
    "target without end": dict(first=b"GET /", again=b"x" * 0x10000),
    "HTTP/0.9": dict(first=b"GET /metrics\r\n"),
    "zeros": dict(first=b"\0", again=b"\0" * 4096),
    "half closed": dict(first=GET, half=True),
    "asked, then half closed": dict(first=ASKED, half=True),
    "never reads": dict(first=ASKED),
    "reads and comes again": dict(first=ASKED, reads=True),
}
WAIT_MAX = 1.0
GROWTH_MAX = 20 << 20
OPENED_AT_A_TIME = 20


def connect(address):
    x = socket.socket()
    # Whatever port is left: no state of the kernel waits for late segments.
    x.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    x.setblocking(False)
    x.connect_ex(address)
    return x


def harm(address, count, kind, opened, closed, done):
    """Holds so many connections until it is done; counts what it opened and what was closed."""
    watch = select.epoll()
    there = {}  # By descriptor: socket, what it has to say yet, when it speaks again.

    def act(x, events):
        """Whether it is still there."""
        try:
            if kind.get("reads") and events & select.EPOLLIN:
                return x[0].recv(1 << 16) != b""
            if events & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
                return False
            if x[1]:
                x[1] = x[1][x[0].send(x[1]):]
                if not x[1] and kind.get("half"):
                    x[0].shutdown(socket.SHUT_WR)
            elif kind.get("again") and time.monotonic() >= x[2]:
                x[0].send(kind["again"])
                x[2] = time.monotonic() + kind.get("every", 0)
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    while not done.is_set():
        for _ in range(min(OPENED_AT_A_TIME, count - len(there)) if opened.value >= count else count):
            x = connect(address)
            there[x.fileno()] = [x, kind.get("first", b""), 0.0]
            watch.register(x, select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP)
            opened.value += 1
        for number, events in watch.poll(0):
            if not act(there[number], events):
                there.pop(number)[0].close()
                closed.value += 1
        time.sleep(0.005)


def ask(address, path="/healthz", more=""):
    """Seconds, and what came."""
    begin = time.monotonic()
    with socket.create_connection(address, timeout=70) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
        heard = b""
        while part := s.recv(1 << 16):
            heard += part
    return time.monotonic() - begin, heard


def resident(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) * 1024


class attack:
    def __init__(self, address, count, kind):
        self.opened, self.closed = (multiprocessing.Value("q", 0) for _ in range(2))
        self.done = multiprocessing.Event()
        self.process = multiprocessing.Process(
            target=harm, args=(address, count, kind, self.opened, self.closed, self.done), daemon=True)

    def __enter__(self):
        self.process.start()
        while self.opened.value == 0:
            time.sleep(0.001)
        return self

    def __exit__(self, *_):
        self.done.set()
        self.process.join(10)
        self.process.kill()


def bear(address, pid, name, count, seconds):
    """A row of what was seen; whether it is good."""
    waits, wrong, before, most = [], 0, resident(pid), 0
    with attack(address, count, KINDS[name]) as those:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                wait, heard = ask(address)
            except OSError as e:
                wait, heard = 70.0, str(e).encode()
            waits.append(wait)
            wrong += not heard.startswith(b"HTTP/1.1 200")
            most = max(most, resident(pid))
            time.sleep(0.01)
    grown = most - before
    good = max(waits) < WAIT_MAX and grown < GROWTH_MAX and not wrong
    print(f"{name:24} {those.opened.value:8} {those.closed.value:8} {len(waits):7} {wrong:6} {max(waits) * 1000:9.1f}"
          f" {grown / 2**20:7.1f}  {'ok' if good else 'RED'}", flush=True)
    return good


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    troupe = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 7.0
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        home = pathlib.Path(scratch)
        (home / "all_leave.toml").write_text("[[scene]]\nversion = 100\nleave = [1, 12]\n")
        (home / "run.toml").write_text(CONFIG.format(all_leave=home / "all_leave.toml"))
        with open(home / "err", "w") as err:
            run = subprocess.Popen([troupe, "run", home / "run.toml", "--folder", home / "runs", "--http", "127.0.0.1:0"],
                                   stdout=subprocess.DEVNULL, stderr=err)
        try:
            while not (found := re.search(r"metrics at http://127.0.0.1:(\d+)/", (home / "err").read_text())):
                assert run.poll() is None, (home / "err").read_text()
                time.sleep(0.1)
            address = ("127.0.0.1", int(found[1]))
            # All clients leave, so that what grows from then on is not the run.
            while b"no client is available" not in ask(address, "/why")[1]:
                time.sleep(0.2)
            ask(address, "/metrics")
            print(f"{count} connections of each kind for {seconds:g} s")
            print(f"{'kind':24} {'opened':>8} {'closed':>8} {'readers':>7} {'wrong':>6} {'wait ms':>9} {'grew MB':>7}")
            for name in KINDS:
                good &= bear(address, run.pid, name, count, seconds)
            plain = len(ask(address, "/metrics")[1])
            ranges = len(ask(address, "/metrics", "Range: bytes=0-" + ",0-" * 2600 + "\r\n")[1])
            print(f"/metrics has {plain} bytes, with 8 KB of ranges {ranges}")
            good &= ranges < 2 * plain
            with attack(address, count, KINDS["one byte a second"]):
                time.sleep(0.5)
                begin = time.monotonic()
                run.send_signal(signal.SIGINT)
                try:
                    code = run.wait(30)
                except subprocess.TimeoutExpired:
                    code = "nothing"
                took = time.monotonic() - begin
            print(f"ended with {code} {took:.2f} s after Ctrl-C")
            good &= code == 130 and took < 5
        finally:
            run.kill()
            run.wait()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
