"""Serves runs to three joining processes over a link that delays, loses, cuts, forgets and throttles.

Usage: namespaces.py TROUPE [--long [--only CASE]] [--seed N]

A server and three processes with four clients each, in namespaces of their own (links.py). In each
case: the run ends when its time is over and everybody hears it, the ledger, read by stock SQLite,
and metrics.jsonl are right, who was away is back in time, and nobody waits for who is slow.
Ends with 77 where namespaces or devices cannot be made, and says so.
"""

import argparse
import contextlib
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import links
import strangers
from federation import PROCESSES, Federation, TooBusy, wait

BACK_WITHIN = 2.0
# A beat, what is not acknowledged for 3 s, and what a new connection takes.
ANEW_WITHIN = 40.0
# It dials anew after 10 s without a server's word.
STRANGER_WITHIN = 13.0
WINDOWS = 5  # With somebody who is slow, and as many without.
ROUGH = {"delay": 0.01, "loss": 0.05, "double": 0.05, "late": 0.05}


def happened(f, *names, processes=PROCESSES):
    """What the link did is counted: without it nothing was tried."""
    for k in processes:
        counts = f.network.counts(k)
        missing = [x for x in names if not counts[x]]
        assert not missing, f"the link of process {k} never {missing}"


def no_slower(told, beside, alone, least=0.8):
    """By the medians of as many windows: machines have other things to do as well."""
    told["alone"], told["beside"] = statistics.median(alone), statistics.median(beside)
    assert told["beside"] > least * told["alone"], \
        f"visits/s beside {[f'{x:.1f}' for x in beside]}, without {[f'{x:.1f}' for x in alone]}"


def delay(f, told):
    """200 ms each way."""
    f.network.tell(delay=0.2)
    f.begin()
    told["visits/s"] = f.rate(*PROCESSES, seconds=8)
    happened(f, "delayed")


def loss(f, told):
    """5 % lost, as many doubled and overtaken."""
    f.network.tell(**ROUGH)
    f.begin()
    told["visits/s"] = f.rate(*PROCESSES, seconds=8)
    happened(f, "lost", "doubled", "reordered")


def partition(f, told, seconds=30):
    """One is cut off, then all are."""
    f.network.tell(delay=0.05)
    f.begin()
    alone = [f.rate(2, 3, seconds=seconds / WINDOWS) for _ in range(3)]
    f.network.tell(1, cut=True)
    beside = [f.rate(2, 3, seconds=seconds / WINDOWS) for _ in range(WINDOWS)]
    told["one back"] = f.back(1, f.heal(1), 60)
    told["its visit"] = f.moves(1, visits=1)
    alone += [f.rate(2, 3, seconds=seconds / WINDOWS) for _ in range(WINDOWS - 3)]
    f.network.tell(cut=True)
    time.sleep(seconds)
    since = f.heal(*PROCESSES)
    told["all back"] = max(f.back(k, since, 60) for k in PROCESSES)
    told["their visits"] = f.moves(*PROCESSES, visits=1)
    happened(f, "cut")
    no_slower(told, beside, alone)
    assert max(told["one back"], told["all back"]) < BACK_WITHIN, "back late"


def forgotten(f, told):
    """Packets of its connections vanish for ever, those of new ones pass."""
    f.begin()
    f.network.tell(1, forget=True, mark=True)
    told["anew"] = f.back(1, time.monotonic(), ANEW_WITHIN)
    told["its visit"] = f.moves(1, visits=1)
    happened(f, "forgotten", processes=[1])


def slow(f, told):
    """A reader of 100 kB/s beside fast ones; and the same one as fast as they are."""
    f.network.tell(delay=0.05)
    f.begin()
    rates = {0: [], 100e3: []}
    for _ in range(WINDOWS):
        for rate, found in rates.items():
            f.network.tell(3, rate=rate)
            found.append(f.rate(1, 2, seconds=6))
    alone, beside = rates.values()
    told["its visit"] = f.moves(3, visits=1)
    happened(f, "throttled", processes=[3])
    no_slower(told, beside, alone)


def frozen(f, told, seconds=6):
    """One process stands still, again and again, then the server does."""
    f.network.tell(delay=0.05)
    f.begin()
    alone, beside = [], []
    for _ in range(WINDOWS):
        alone.append(f.rate(2, 3, seconds=seconds))
        f.joined[1].send_signal(signal.SIGSTOP)
        beside.append(f.rate(2, 3, seconds=seconds))
        f.joined[1].send_signal(signal.SIGCONT)
        told["its visit"] = f.moves(1, visits=1)
    f.freeze_server(seconds)
    told["their visits"] = f.moves(*PROCESSES, visits=1)
    no_slower(told, beside, alone)


def restart(f, told, seconds=5):
    """The server is gone for a while."""
    f.begin()
    f.kill_server()
    time.sleep(seconds)
    told["back"] = f.serve_again()
    assert told["back"] < BACK_WITHIN, "back late"


def stranger(f, told, seconds=4):
    """Something else answers at the server's address while it is gone."""
    f.begin()
    port = f.address.rpartition(":")[2]
    for speech in strangers.SPEECHES:
        f.kill_server()
        visitors = f.scratch / f"{speech}.visitors"
        with open(visitors, "w", encoding="utf-8") as out:
            other = links.start(f.network.namespaces[0], [sys.executable, "-B", strangers.__file__, port, speech], stdout=out)
        time.sleep(seconds)
        wait(lambda seen=visitors: len(set(seen.read_text(encoding="utf-8").split())) == len(PROCESSES), 60,
             f"all visit {speech}")
        other.kill()
        other.wait()
        told[speech] = f.serve_again()
        assert told[speech] < STRANGER_WITHIN, f"back late after {speech}"


def clocks(f, told, seconds=2):
    """Machines are a day apart, and the server's clock is set back while it is gone."""
    f.clocks = {0: 86400, 1: -86400, 2: 0, 3: 86400}
    f.begin()
    f.kill_server()
    f.clocks[0] = -86400
    told["back"] = f.serve_again()
    time.sleep(seconds)
    at = f.instants()
    assert at == sorted(at) and at[-1] > 1, f"the run's time goes from {max(at)} to {at[-1]} s"


def ended_away(f, _):
    """The run ends while one is cut off, which may then look for it as long as it likes."""
    f.begin()
    f.network.tell(1, cut=True)
    f.end(away=[1])
    f.heal(1)
    with contextlib.suppress(subprocess.TimeoutExpired):
        assert f.joined[1].wait(5) == 0, f"it ends with {f.joined[1].returncode}"
        return
    f.joined[1].terminate()
    assert f.joined[1].wait(20) == 0, f"told to end, it ends with {f.joined[1].returncode}"


def short(f, told):
    """Some of everything, in the seconds of a gate."""
    f.network.tell(3, **ROUGH, rate=200e3)
    f.begin()
    f.network.tell(1, cut=True)
    f.network.tell(2, forget=True)
    time.sleep(7)
    f.heal(1)
    f.freeze_server(1)
    told["visits"] = f.moves(*PROCESSES, visits=1)
    happened(f, "cut", processes=[1])
    happened(f, "forgotten", processes=[2])
    happened(f, "lost", "doubled", "reordered", "throttled", processes=[3])
    f.network.tell(loss=0, double=0, late=0, rate=0)


# Each with the seconds that it takes, once its run has begun.
LONG = {delay: 20, loss: 20, partition: 145, forgotten: 125, slow: 85, frozen: 90, restart: 25,
        stranger: 110, clocks: 10, ended_away: 5}
SHORT = {short: 18}


def play(case, seconds, arguments):
    """With a longer run, where this machine has other things to do as well."""
    for spare in (5, 40):
        try:
            return play_within(case, seconds + spare, spare, arguments)
        except TooBusy as e:
            print(f"{case.__name__}: {e} after {spare} s, again with more time", flush=True)
    return play_within(case, seconds + 120, 120, arguments)


def play_within(case, seconds, spare, arguments):
    told = {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        f = Federation(arguments.troupe, pathlib.Path(name), arguments.seed, seconds=seconds,
                       spare=spare, dimension=4000 if case is slow else 1700)
        try:
            case(f, told)
            if case is not ended_away:
                told["end"] = f.end()
        except TooBusy:
            raise
        except BaseException:
            print(f.logs(), f.network.tell(), told, sep="\n")
            raise
        finally:
            f.close()
    figures = ", ".join(f"{what} {x:.2f}" for what, x in told.items())
    print(f"{case.__name__}: {figures}; {time.monotonic() - began:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("troupe", type=lambda x: pathlib.Path(x).resolve())
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        links.Network(1).close()
    except OSError as e:
        print(f"skipped: no namespaces with devices of their own can be made here ({e})")
        sys.exit(77)
    for case, seconds in (LONG if arguments.long else SHORT).items():
        if arguments.only in (None, case.__name__):
            play(case, seconds, arguments)


if __name__ == "__main__":
    main()
