"""Who is denied says hello before the server has looked at its keys again: denied.py TROUPE KEYS ADDRESS SERVER PAGES.

KEYS is the folder of the server's keys, SERVER its public one. The run begins with one client, and has
a place for two of each key that is tried.
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
HEARD_IN = 3.0  # Seconds in which who is denied knows of it.


def keys(*arguments):
    subprocess.run([TROUPE, "keys", *arguments, "--keys", FOLDER], check=True, stdout=subprocess.DEVNULL)


def seen(name):
    with urllib.request.urlopen(PAGES, timeout=10) as page:
        return int(re.search(rf"^{re.escape(name)} (\d+)$", page.read().decode(), re.M)[1])


def until_seen(name, wanted):
    """The page is made twice a second."""
    for _ in range(60):
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


def main():
    for i in range(TIMES):
        own = Keys(bytes.fromhex(SERVER))
        keys("allow", own.public.hex(), "--name", f"fay{i}", "--numbers", "2")
        process = Process(ADDRESS, 30, prepare=own.prepare)
        terms = process.ask("terms_asked", "terms_given", lowest=1, highest=1)
        first, second = process.ask("places_asked", "places_given", store=process.store, count=2)["clients"]
        say_hello(process.link, terms, first)
        assert hear(process.link, 10, (first, "welcome"))[-1][:2] == (first, "welcome"), "a good key is not let in"
        until_seen('troupe_clients{state="at_work"}', 1)
        keys("deny", f"fay{i}")
        say_hello(process.link, terms, second)
        heard = hear(process.link, HEARD_IN)
        assert not any(name in ("welcome", "invited", "line_served") for channel, name, _ in heard
                       if channel == second), f"who is denied is let in: {heard}"
        assert any(channel == 0 and is_refusal(name, fields) for channel, name, fields in heard), \
            f"who is denied does not hear so: {heard}"
        until_seen('troupe_clients{state="at_work"}', 0)
        until_seen("troupe_sessions", 0)
        until_seen("troupe_connections", 0)
        process.link.close()
    assert seen("troupe_joins_total") == TIMES, "who was denied has come"


main()
