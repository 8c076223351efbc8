#!/usr/bin/env python3
"""What docs/security.md says is linked is what is: linked.py EXECUTABLE MODULE. The table's versions
are Debian 12's; elsewhere only the names are compared."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The compiler's own and the C library.
OF_THE_SYSTEM = re.compile(r"^(libc|libm|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so")


def said():
    """{file's name without its version: (package, version)} of the table."""
    text = (ROOT / "docs/security.md").read_text()
    part = text[text.index("## What is linked"):]
    rows = re.findall(r"^\| `(lib[^`]+)` \| `([^`]+)` ([^ |]+) \|", part, re.M)
    return {name: (package, version) for name, package, version in rows}


def needed(path):
    text = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"NEEDED\s+(\S+)", text)
    return {x.split(".so")[0] for x in names if not OF_THE_SYSTEM.match(x)}


def main():
    table = said()
    linked = set().union(*(needed(x) for x in sys.argv[1:])) - {"libtroupe_torch"}
    wrong = [f"{x} is linked, and not in the table" for x in sorted(linked - set(table))]
    wrong += [f"{x} is in the table, and not linked" for x in sorted(set(table) - linked)]
    release = pathlib.Path("/etc/os-release").read_text()
    if 'VERSION_ID="12"' in release:
        for package, version in sorted(set(table.values())):
            found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                                   capture_output=True, text=True).stdout
            if found != version:
                wrong.append(f"{package}: the table says {version}, installed is {found or 'nothing'}:"
                             " look for what has become known since, and change the table")
    for line in wrong:
        print(line)
    print(f"{len(table)} libraries, {len(wrong)} differences")
    return 1 if wrong or not table else 0


if __name__ == "__main__":
    sys.exit(main())
