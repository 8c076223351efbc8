"""Folders as they would be after a loss of power, from a trace of system calls (strace -f -y -xx): of each file only what
was synced, under names whose folders were synced."""

import pathlib
import re
import sqlite3
import tempfile

TRACED = "fsync,fdatasync,sendto,sendmsg,write,writev,pwrite64,pwritev,ftruncate,rename,renameat,renameat2,unlink,openat"
LINE = re.compile(r"^(\d+) +(.*)$")
CALL = re.compile(r"^(\w+)\((.*)$")
FD = re.compile(r"^\d+<((?:\\x[0-9a-f]{2})*)(?:\(deleted\))?>")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


def bytes_of(text):
    return bytes.fromhex(text.replace("\\x", ""))


def path_in(args):
    """What the first argument, a file, is called."""
    found = FD.match(args)
    return bytes_of(found.group(1)).decode("utf-8", "replace") if found else ""


class Trace:
    """Follows a trace: `sent` is called with the bytes of each send, before it is done."""

    def __init__(self, sent):
        self.sent = sent
        self.now = {}  # Path to bytes, as any process sees them.
        self.synced = {}  # The same after a loss of power, but for names.
        self.named = {}  # The same by names that are durable.
        self.syncs = 0
        self.begun = {}  # Process to a call that did not end yet.
        self.calls = 0

    def follow(self, lines):
        for line in lines:
            found = LINE.match(line)
            if not found:
                continue
            pid, text = found.groups()
            if text.startswith("<... "):
                if call := self.begun.pop(pid, None):
                    self.ended(call, text)
                continue
            if not (call := CALL.match(text)):
                continue
            self.calls += 1
            self.began(*call.groups())
            if text.endswith("<unfinished ...>"):
                self.begun[pid] = call.groups()
            else:
                self.ended(call.groups(), text)

    def began(self, name, args):
        """What may be done as soon as it is asked for: others see it, and it may leave this machine."""
        if name in ("sendto", "sendmsg", "write", "writev") and path_in(args).startswith(("socket:", "TCP:")):
            self.sent(b"".join(bytes_of(x) for x in TEXT.findall(args)))
        elif name in ("write", "pwrite64"):
            self.wrote(name, path_in(args), args)

    def wrote(self, name, path, args):
        data = b"".join(bytes_of(x) for x in TEXT.findall(args))
        file = self.now.setdefault(path, bytearray())
        at = len(file) if name == "write" else int(re.findall(r", (\d+)(?:\)| <)", args)[-1])
        if at > len(file):
            file.extend(bytes(at - len(file)))
        file[at:at + len(data)] = data

    def ended(self, call, text):
        """What counts when it is done."""
        name, args = call
        if re.search(r"= -1 ", text):
            return
        if name in ("fsync", "fdatasync"):
            self.sync(path_in(args))
        elif name == "ftruncate":
            size = int(args.split(", ")[1].split(")")[0].split(" ")[0])
            file = self.now.setdefault(path_in(args), bytearray())
            del file[size:]
        elif name.startswith("rename"):
            old, new = [bytes_of(x).decode() for x in TEXT.findall(args)]
            for files in (self.now, self.synced):
                if old in files:
                    files[new] = files.pop(old)
        elif name == "openat" and "O_TRUNC" in args:
            path = bytes_of(TEXT.findall(args)[0]).decode()
            self.now[path] = bytearray()

    def sync(self, path):
        self.syncs += 1
        if path in self.now:
            self.synced[path] = bytes(self.now[path])
            return
        for name in self.synced:  # Of a folder: what is in it has its name.
            if str(pathlib.Path(name).parent) == path:
                self.named[name] = True


class Ledger:
    """A database of a trace, as a loss of power would leave it."""

    def __init__(self, trace, path):
        self.trace = trace
        self.path = str(path)
        self.cache = {}
        self.at = None

    def ask(self, sql):
        if self.at != self.trace.syncs:
            self.cache, self.at = {}, self.trace.syncs
        if sql not in self.cache:
            self.cache[sql] = self.read(sql)
        return self.cache[sql]

    def read(self, sql):
        with tempfile.TemporaryDirectory() as folder:
            for end in ("", "-wal"):
                data = self.trace.synced.get(self.path + end)
                if data is not None:
                    (pathlib.Path(folder) / ("x.sqlite" + end)).write_bytes(data)
            try:
                image = sqlite3.connect(pathlib.Path(folder) / "x.sqlite")
                try:
                    return set(image.execute(sql).fetchall())
                finally:
                    image.close()
            except sqlite3.DatabaseError:
                return set()  # There is none yet.
