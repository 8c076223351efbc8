#!/usr/bin/env python3
"""Holds every rule against every source file of the tree: check.py [ROOT]."""

import pathlib
import re
import sys

from rules import findings

ENDINGS = {".hpp", ".cpp", ".cu", ".py", ".sh", ".cmake"}
FOLDERS = ["core", "policies", "kernels", "models", "actors", "tests", "cmake"]


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in ENDINGS and "golden" not in path.parts:
                yield path
    yield from (x for x in [root / "dev", root / ".ci/run", root / ".ci/long"] if x.exists())


def commands_of(root):
    """What ./dev and troupe know, read from where they say it."""
    dev = (root / "dev").read_text()
    own = set(re.findall(r"^  (\w+)[ |)]", dev[dev.index("case $command in"):], re.M))
    troupe = set()
    for name in ["main.cpp", "command.cpp"]:
        troupe |= set(re.findall(r'\{"([a-z-]+)", "', (root / "actors/node" / name).read_text()))
    return {"./dev": own | {""}, "troupe": troupe | {""}}


def documented(root, path):
    """Each command in a code block of a document exists; tests/e2e/documented.sh runs those of troupe."""
    known = commands_of(root)
    inside = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("```"):
            inside = not inside
        code = inside or line.startswith("    ")
        found = re.match(r"\s*(?:\$ )?(?:build/release/)?(\./dev|troupe)(?: ([a-z-]+))?", line)
        if code and found and (found.group(2) or "") not in known[found.group(1)]:
            name = path.relative_to(root).as_posix()
            yield f"{name}:{number}: there is no '{found.group(0).strip()}' [documented]"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../../..").resolve()
    documents = [x for x in [root / "README.md"] if x.exists()] + sorted(root.glob("docs/*.md"))
    wrong = [line for path in documents for line in documented(root, path)]
    count = 0
    for path in sources(root):
        count += 1
        wrong += findings(path.relative_to(root).as_posix(), path.read_text())
    for line in wrong:
        print(line)
    if count < 50:
        wrong.append("")
        print(f"only {count} files below {root}: is this the tree?")
    print(f"{count} files, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
