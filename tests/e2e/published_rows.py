"""Rows of sweeps as published, each as a line of settings: published_rows.py [--all] FILE…

Without --all a row is one that has something which none before has: a key, or a word as its value."""

import re
import sys
import tomllib

NUMBER = re.compile(r"[-0-9._\[\],]+|true|false")


def rows_of(path):
    with open(path, "rb") as file:
        sweep = tomllib.load(file)["sweep"]
    settings = sweep.get("settings", {"": []})
    for method in sweep.get("methods", []):
        for name, changes in settings.items():
            yield f"{method} {name}", [f"method={method}", *changes]
    yield from sweep["rows"].items()


def what_it_has(changes):
    return {key if NUMBER.fullmatch(value) else f"{key}={value}" for key, value in (x.split("=", 1) for x in changes)}


def main(paths, has_all):
    for path in paths:
        known = set()
        for name, changes in rows_of(path):
            if has_all or not what_it_has(changes) <= known:
                print(path, name, " ".join(f"--set {x}" for x in changes), sep="\t")
            known |= what_it_has(changes)


if __name__ == "__main__":
    words = sys.argv[1:]
    main([x for x in words if x != "--all"], "--all" in words)
