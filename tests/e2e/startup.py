"""Who asks for help, a report or a wait does not wait for torch: startup.py TROUPE FOLDER

Each command writes to a pipe that is full, so that it stands still when it has done its work; then
the kernel says what it has mapped and what it took. A run that trains with torch shows that this
would be seen."""

import fcntl
import os
import subprocess
import sys
import time

troupe, scratch = sys.argv[1:]
TICK = os.sysconf("SC_CLK_TCK")
CPU_MAX = 0.05  # Seconds.
MEMORY_MAX = 20_000  # kB.
PATIENCE = 60  # Seconds.


def full_pipe():
    """Both ends of a pipe that holds as much as it can."""
    out, to = os.pipe()
    flags = fcntl.fcntl(to, fcntl.F_GETFL)
    fcntl.fcntl(to, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(to, b"." * 4096)
    except BlockingIOError:
        pass
    fcntl.fcntl(to, fcntl.F_SETFL, flags)
    return out, to


def stands_in_write(pid):
    """To its stdout: what it says to others takes a moment, too."""
    with open(f"/proc/{pid}/syscall") as file:
        return file.read().split()[:2] in (["1", "0x1"], ["20", "0x1"])  # write, writev


def looked_at(words):
    """(has torch, CPU seconds, peak kB) of a command when it writes its result."""
    out, to = full_pipe()
    process = subprocess.Popen([troupe, *words], stdout=to, stderr=subprocess.DEVNULL)
    os.close(to)
    try:
        until = time.monotonic() + PATIENCE
        while not stands_in_write(process.pid):
            assert time.monotonic() < until, f"{words}: it never writes"
            time.sleep(0.01)
        with open(f"/proc/{process.pid}/maps") as file:
            torch = "libtorch" in file.read()
        with open(f"/proc/{process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{process.pid}/status") as file:
            peak = next(int(x.split()[1]) for x in file if x.startswith("VmHWM"))
        return torch, (int(fields[11]) + int(fields[12])) / TICK, peak
    finally:
        os.close(out)  # The command ends: nobody reads.
        process.kill()
        process.wait()


def main():
    example = "deploy/examples/tiny.toml"
    short = ["--set", "versions=2", "--set", "ledger=memory", "--set", "samples_per_client=20"]
    run = subprocess.run([troupe, "run", example, *short, "--folder", scratch, "--format", "json"],
                         capture_output=True, check=True)
    folder = os.path.join(scratch, os.listdir(scratch)[0])
    assert b'"success": true' in run.stdout
    wrong = []
    for words in [["version"], ["--help"], ["run", "--help"], ["why", folder], ["report", folder],
                  ["trace", folder], ["check-config", "--keys"],
                  # A model that needs no torch.
                  ["check-config", "deploy/examples/floral/synthetic_linear.toml"]]:
        torch, cpu, peak = looked_at(words)
        print(f"{' '.join(words[:1] + [x for x in words[1:] if x != folder]):28} {cpu:.2f} s of CPU, {peak} kB")
        if torch or cpu > CPU_MAX or peak > MEMORY_MAX:
            wrong.append(f"{words}: torch {torch}, {cpu} s, {peak} kB; "
                         f"no torch, {CPU_MAX} s and {MEMORY_MAX} kB would do")
    torch, cpu, peak = looked_at(["run", example, *short, "--folder", scratch])
    print(f"{'run':28} {cpu:.2f} s of CPU, {peak} kB")
    if not torch:
        wrong.append("a run that trains with torch has none of it mapped: this test cannot see it")
    sys.exit("\n".join(wrong) or 0)


main()
