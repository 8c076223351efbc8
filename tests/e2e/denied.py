"""Who is denied says hello before the server has looked at its keys again: denied.py TROUPE KEYS ADDRESS SERVER PAGES.

KEYS is the folder of the server's keys, SERVER its public one. The run begins with one client, and has
a place for two of each key that is tried, ten keys at most. And whoever says something over and over is heard
for less than a second after `keys deny`: at least three times of five, and for less than three each time.
"""

import pathlib
import re
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
# pylint: disable=wrong-import-position
import wire
from client import Process
from keys import Keys

TROUPE, FOLDER, ADDRESS, SERVER, PAGES = sys.argv[1:]
TIMES = 5
PATIENCE = 30.0
HEARD_IN = 3.0  # Seconds in which who is denied is told nothing else,
DEAF_IN = 1.0   # and after which nothing is heard of it, from when somebody types that it is:
MOST, TRIES = 3, 5  # so often of so many times, since machines have other things to do as well,
DEAF_AT_LAST = 3.0  # and each time after so long.


def keys(*arguments):
    """Returns when it has begun."""
    return subprocess.Popen([TROUPE, "keys", *arguments, "--keys", FOLDER], stdout=subprocess.DEVNULL)


def seen(name):
    with urllib.request.urlopen(PAGES, timeout=10) as page:
        return int(re.search(rf"^{re.escape(name)} (\d+)$", page.read().decode(), re.M)[1])


def until_seen(name, wanted):
    """The page is made twice a second."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if seen(name) == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(f"{name} is {seen(name)}, and not {wanted}")


def say_hello(link, terms, client):
    link.say(client, "hello", {
        "lowest": 1, "highest": 1, "client": client, "incarnation": 1, "layout": terms["layout"], "nonce": client,
        "examples": 1, "newest": 0, "at_work": [], "run": terms["run"]})


def hear(link, seconds, wanted=None):
    """What comes in that time, or until this is among it: (channel, name, fields)."""
    heard, end = [], time.monotonic() + seconds
    while time.monotonic() < end and not any(x[:2] == wanted for x in heard):
        heard += link.hear(50)
    return heard


def is_refusal(name, fields):
    return name == "farewell" and wire.REASONS[fields["reason"]] == "refused"


def let_in(name):
    """A process with a key of this name, and a client of it that is welcome."""
    own = Keys(bytes.fromhex(SERVER))
    assert keys("allow", own.public.hex(), "--name", name, "--numbers", "2").wait() == 0
    process = Process(ADDRESS, 30, prepare=own.prepare)
    terms = process.ask("terms_asked", "terms_given", lowest=1, highest=1)
    first, second = process.ask("places_asked", "places_given", store=process.store, count=2)["clients"]
    say_hello(process.link, terms, first)
    heard = hear(process.link, PATIENCE, (first, "welcome"))  # And maybe what comes right behind it.
    sessions = [fields["session"] for channel, what, fields in heard if (channel, what) == (first, "welcome")]
    assert sessions, f"a good key is not let in: {heard}"
    until_seen('troupe_clients{state="at_work"}', 1)
    return process, terms, first, second, sessions[0]


def beats(name):
    """For how long after somebody types that a key is denied its beats are answered."""
    process, _, client, _, session = let_in(name)
    answered, said, denying, end = [], 0, None, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if denying is None and len(answered) > 100:
            began, denying = time.monotonic(), keys("deny", name)
            end, before = began + DEAF_AT_LAST + 0.5, said
        process.link.say(client, "beat", {"client": client, "session": session})
        said += 1
        answered += [time.monotonic() for _, what, _ in process.link.hear(5) if what == "beat_answered"]
    assert denying is not None and denying.wait() == 0, f"of {said} beats {len(answered)} are answered"
    process.link.close()
    last = max(answered) - began
    print(f"after keys deny beats are heard for {last:.2f} s, and {said - before} are said")
    assert last > 0 and said - before > 100, f"{said - before} beats are said after it"
    until_seen("troupe_connections", 0)
    return last


def main():
    lasted = []
    while sum(x < DEAF_IN for x in lasted) < MOST:
        assert len(lasted) < TRIES, f"who is denied is heard for {lasted} s"
        lasted.append(beats(f"gus{len(lasted)}"))
        assert lasted[-1] < DEAF_AT_LAST, f"who is denied is heard for {lasted} s"
    for i in range(TIMES):
        process, terms, _, second, _ = let_in(f"fay{i}")
        assert keys("deny", f"fay{i}").wait() == 0
        say_hello(process.link, terms, second)
        heard = hear(process.link, HEARD_IN)
        if not any(is_refusal(name, fields) for _, name, fields in heard):
            heard += hear(process.link, PATIENCE, (0, "farewell"))
        assert not any(name in ("welcome", "invited", "line_served") for channel, name, _ in heard
                       if channel == second), f"who is denied is let in: {heard}"
        assert any(channel == 0 and is_refusal(name, fields) for channel, name, fields in heard), \
            f"who is denied does not hear so: {heard}"
        until_seen('troupe_clients{state="at_work"}', 0)
        until_seen("troupe_sessions", 0)
        until_seen("troupe_connections", 0)
        process.link.close()
    assert seen("troupe_joins_total") == TIMES + len(lasted), "who was denied has come"


main()
