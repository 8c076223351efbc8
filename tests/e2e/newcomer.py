"""What ./dev dashboards starts, as a newcomer meets it: newcomer.py TROUPE. Clear words where it cannot, what it says one may do
done as it is said, and an end in order."""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "deploy"))

import watched  # noqa: E402


def misfits(program, scratch):
    def says(code, words, *more, **environment):
        done = subprocess.run([*program, *map(str, more)], capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
        said = done.stdout + done.stderr
        assert done.returncode == code and words in said and "Traceback" not in said, f"{more}: {done.returncode}, {said}"

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        says(1, "cannot be had for Prometheus (Address already in use); another one: --port", "--port", taken.getsockname()[1], "--folder", scratch / "a")
    for port in ("0", "65536", "-1", "http"):
        says(2, f"'{port}' is no port; one from 1 to 65535 would do", f"--port={port}", "--folder", scratch / "a")
    says(1, "there is no prometheus here: apt-get install prometheus", "--folder", scratch / "a", PATH="/nowhere")
    says(1, "is there already", "--folder", scratch)
    (scratch / "file").touch()
    says(1, "cannot be made (Not a directory); another one: --folder", "--port", watched.free_port(), "--folder", scratch / "file/a")
    assert not (scratch / "a").exists(), "something is left of what could not begin"


class Terminal:
    """Another one, in which what is said is done."""

    def __init__(self, words):
        self.lines = [x.strip() for x in words.partition("line by line:")[2].split("\n")]
        self.started = []

    def line(self, words):
        (found,) = (x for x in self.lines if words in x and not x.startswith("#"))
        return found

    def does(self, words, code=0):
        done = subprocess.run(["bash", "-c", f"{self.line('cd ')}; {self.line(words)}"], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, f"{words} ends with {done.returncode}: {done.stdout}{done.stderr}"

    def starts(self, line):
        self.started.append(subprocess.Popen(["bash", "-c", f"exec {line.removesuffix('&')}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def end(self):
        for one in self.started:
            one.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.wait(20)
            one.kill()


def walks(program, scratch):
    port = watched.free_port()
    asked = watched.Watched("", scratch, port)  # Of it the Prometheus is asked.

    def sees(expression, value, what, seconds=90):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = asked.ask_prometheus("query", query=expression)["data"]["result"]
            if found and float(found[0]["value"][1]) == value:
                return
            time.sleep(0.3)
        raise AssertionError(f"{what} is not seen: {expression} is {found}")

    def warns(alert):
        """It takes its time: in the long gate alone."""
        if os.environ.get("TROUPE_NO_SKIPS"):
            sees(f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})', 1, alert, seconds=300)

    with subprocess.Popen([*program, "--port", str(port), "--folder", scratch / "b"], stdout=subprocess.PIPE, text=True) as started:
        words = ""
        for line in started.stdout:
            words += line
            if "Ctrl-C ends all of it" in line:
                break
        other = Terminal(words)
        try:
            sees("sum(up)", 3, "who is there")
            other.does("echo ")
            other.starts(other.line("keys invite"))
            sees('sum(troupe_clients{state!="away"})', 60, "that twenty more clients join")
            sees("sum(up)", 4, "their process")
            other.does("kill -9")
            assert "join-2 was ended by signal 9 (Killed); " in next(started.stdout)
            again = next(started.stdout).strip()
            sees("sum(up)", 3, "that a process is killed")
            warns("TroupeTargetDown")
            other.starts(again.removeprefix("again: "))
            sees("sum(up)", 4, f"that it begins again by {shlex.quote(again)}")
            other.does("--wait 5", 5)
            sees("sum(troupe_refusals_total)", 1, "that a peer is refused")
            warns("TroupePeersRefused")
            other.does(" why ")
        finally:
            other.end()
            started.send_signal(signal.SIGINT)
        words = started.stdout.read()
        assert started.wait(60) == 0 and re.search(r"ending join-1\nending server\nending prometheus\nall has ended", words), words


def closed(program, scratch):
    """Nothing is left where its terminal is closed."""
    with subprocess.Popen([*program, "--port", str(watched.free_port()), "--folder", scratch / "c"], stdout=subprocess.PIPE, text=True) as started:
        next(x for x in started.stdout if x.startswith("dashboards"))
        started.stdout.close()
        started.send_signal(signal.SIGHUP)
        started.wait(60)
    left = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(scratch / "c").encode() in (words := path.read_bytes()):
                left[int(path.parent.name)] = words.replace(b"\0", b" ").decode()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"its terminal is closed, and there goes on {left}"


def main():
    if not shutil.which("prometheus"):
        print("skipped: there is no prometheus (./dev setup --watching)")
        return 1 if os.environ.get("TROUPE_NO_SKIPS") else 77
    program = [sys.executable, "-B", TREE / "deploy/watched.py", sys.argv[1]]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        misfits(program, scratch)
        # As it is typed, where nothing is installed meanwhile.
        walks(["env", "TROUPE_SETUP=done", TREE / "dev", "dashboards"] if os.environ.get("TROUPE_NO_SKIPS") else program, scratch)
        closed(program, scratch)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
