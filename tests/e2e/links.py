"""A network of a test's own: namespaces, and between them a link that is a program.

A kernel may lack netem, so packets pass a process that delays, drops, doubles, reorders, throttles
and forgets them. Namespaces have no names and processes in them end with their parent, so nothing
stays behind, however a test ends. Devices are TUN: packets of IP, without a neighbour to look for.

  namespace 0: the server          this program             namespace k: clients
         10.77.0.1          ◄─►  lane up, lane down of k  ◄─►  10.77.0.(k + 1)

Usage: links.py SERVER_FD CLIENT_FD…      conditions as JSON on stdin, counts on stdout
"""

import collections
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK, UP = 0x8914, 0x8916, 0x891C, 0x0001
SERVER = "10.77.0.1"
PACKETS_PER_TURN = 64
SYN, ACK = 0x02, 0x10


def call(name, *arguments):
    if getattr(LIBC, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def make_namespace():
    """A descriptor of a new one, which is there as long as that or a process in it."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        call("unshare", CLONE_NEWNET)
        made = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        call("setns", home, CLONE_NEWNET)
    finally:
        os.close(home)
    return made


def enter(namespace):
    """For a process that is about to become another: it ends with its parent."""
    call("setns", namespace, CLONE_NEWNET)
    call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)


def start(namespace, command, **options):
    return subprocess.Popen(command, preexec_fn=lambda: enter(namespace), **options)


def address_of(host):
    return struct.pack("HH4s", socket.AF_INET, 0, socket.inet_aton(host))


def open_device(namespace, address):
    """The descriptor of a new device there, with this address."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        call("setns", namespace, CLONE_NEWNET)
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            for number, name, value in (
                    (SIOCSIFFLAGS, b"lo", struct.pack("H", UP)),
                    (SIOCSIFADDR, b"tun0", address_of(address)),
                    (SIOCSIFNETMASK, b"tun0", address_of("255.255.255.0")),
                    (SIOCSIFFLAGS, b"tun0", struct.pack("H", UP))):
                fcntl.ioctl(asking, number, struct.pack("16s24s", name, value))
    finally:
        call("setns", home, CLONE_NEWNET)
        os.close(home)
    return device


class Network:
    """A server's namespace and one for each of its clients; the link is a child of this process."""

    def __init__(self, clients, seed=1):
        self.namespaces = [make_namespace() for _ in range(clients + 1)]
        devices = [open_device(x, f"10.77.0.{i + 1}") for i, x in enumerate(self.namespaces)]
        self.link = subprocess.Popen(
            [sys.executable, "-B", __file__, str(seed), *map(str, devices)], pass_fds=devices,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL))
        for device in devices:
            os.close(device)

    def tell(self, client=0, **what):
        """Conditions of a client's lanes from now on; 0: of all. Returns the counts so far."""
        self.link.stdin.write(json.dumps({"client": client, **what}) + "\n")
        self.link.stdin.flush()
        return json.loads(self.link.stdout.readline())

    def counts(self, client):
        return collections.Counter(self.tell()[client - 1])

    def close(self):
        self.link.kill()
        self.link.wait()
        self.link.stdin.close()
        self.link.stdout.close()
        for namespace in self.namespaces:
            os.close(namespace)


class Lane:
    """What becomes of packets one way: instants at which each goes on, none for who is lost."""

    def __init__(self, draw):
        self.draw = draw
        self.count = collections.Counter()
        self.free_at = 0.0
        self.conditions = {"delay": 0.0, "loss": 0.0, "double": 0.0, "late": 0.0, "rate": 0.0,
                           "cut": False}
        self.queue_bytes = 64 << 10

    def admit(self, now, size):
        on = self.conditions
        if on["cut"]:
            self.count["cut"] += 1
            return []
        if on["loss"] and self.draw.random() < on["loss"]:
            self.count["lost"] += 1
            return []
        at = now
        if on["rate"]:
            if (self.free_at - now) * on["rate"] > self.queue_bytes:
                self.count["overflown"] += 1
                return []
            at = self.free_at = max(now, self.free_at) + size / on["rate"]
            self.count["throttled"] += 1
        at += on["delay"]
        self.count["delayed"] += on["delay"] > 0
        if on["late"] and self.draw.random() < on["late"]:
            at += self.draw.uniform(0.005, 0.05)
        if on["double"] and self.draw.random() < on["double"]:
            self.count["doubled"] += 1
            return [at, at + self.draw.uniform(0, 0.02)]
        return [at]


class Flows:
    """As a NAT has them: who is not known passes with a SYN alone, and hears nothing."""

    def __init__(self):
        self.known = set()
        self.heard = {}
        self.count = collections.Counter()
        self.back_at = None

    def forget(self):
        self.known.clear()

    def mark(self):
        """From here on it is looked when a flow carries something both ways."""
        self.heard.clear()
        self.back_at = None

    def admit(self, packet, upwards):
        if packet[9] != 6:
            return True
        head = (packet[0] & 15) * 4
        source, target = struct.unpack_from("!HH", packet, head)
        port = source if upwards else target
        flags = packet[head + 13]
        if upwards and flags & SYN and not flags & ACK:
            self.known.add(port)
            self.count["flows"] += 1
        if port not in self.known:
            self.count["forgotten"] += 1
            return False
        if len(packet) > head + (packet[head + 12] >> 4) * 4:
            if upwards:
                self.heard[port] = True
            elif port in self.heard and self.back_at is None:
                self.back_at = time.monotonic()
        return True


class Link:
    """All lanes, and what is under way on them."""

    def __init__(self, seed, server, clients):
        self.server = server
        self.clients = clients
        self.up, self.down = ([Lane(random.Random(f"{seed} {way} {i}")) for i in clients]
                              for way in ("up", "down"))
        self.flows = [Flows() for _ in clients]
        self.under_way = []
        self.number = 0
        self.last = collections.Counter()

    def take(self, device):
        """Reads what a namespace sends."""
        for _ in range(PACKETS_PER_TURN):
            try:
                packet = os.read(device, 65536)
            except BlockingIOError:
                return
            if packet[0] >> 4 != 4:
                continue
            upwards = device != self.server
            i = self.clients.index(device) if upwards else packet[19] - 2
            if 0 <= i < len(self.clients) and self.flows[i].admit(packet, upwards):
                self.send(i, upwards, packet)

    def send(self, i, upwards, packet):
        now = time.monotonic()
        lane = (self.up if upwards else self.down)[i]
        for at in lane.admit(now, len(packet)):
            self.number += 1
            heapq.heappush(self.under_way, (at, self.number, i, upwards, packet))

    def deliver(self):
        """Hands over what is due; returns how long nothing will be."""
        now = time.monotonic()
        while self.under_way and self.under_way[0][0] <= now:
            _, number, i, upwards, packet = heapq.heappop(self.under_way)
            lane = (self.up if upwards else self.down)[i]
            lane.count["reordered"] += number < self.last[i, upwards]
            self.last[i, upwards] = max(number, self.last[i, upwards])
            lane.count["bytes_up" if upwards else "bytes_down"] += len(packet)
            try:
                os.write(self.server if upwards else self.clients[i], packet)
            except OSError:
                lane.count["unwritten"] += 1
        return max(self.under_way[0][0] - now, 0) if self.under_way else 1.0

    def obey(self, order):
        chosen = order.pop("client")
        for i in range(len(self.clients)) if chosen == 0 else [chosen - 1]:
            if order.get("forget"):
                self.flows[i].forget()
            if order.get("mark"):
                self.flows[i].mark()
            for lane in (self.up[i], self.down[i]):
                lane.conditions |= {k: v for k, v in order.items() if k in lane.conditions}
        return [{**(self.up[i].count + self.down[i].count + flows.count),
                 "back_at": flows.back_at} for i, flows in enumerate(self.flows)]


def main():
    seed, server, *clients = map(int, sys.argv[1:])
    link = Link(seed, server, clients)
    poll = select.poll()
    for fd in (0, server, *clients):
        poll.register(fd, select.POLLIN)
    pause = 1.0
    while True:
        for fd, _ in poll.poll(pause * 1000):
            if fd != 0:
                link.take(fd)
            elif line := sys.stdin.readline():
                print(json.dumps(link.obey(json.loads(line))), flush=True)
            else:
                return
        pause = link.deliver()


if __name__ == "__main__":
    main()
