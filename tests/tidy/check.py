#!/usr/bin/env python3
"""Holds every rule against every source file, and every law against the tree: check.py [ROOT]."""

import pathlib
import sys

import rules
import tree
from source import CODE, ROOMS

ENDINGS = CODE + (".py", ".sh", ".cmake", ".md", ".patch", "CMakeLists.txt")
FOLDERS = ROOMS + ("tests", "cmake", "docs")
SINGLE = ("dev", ".ci/run", ".ci/long", "CMakeLists.txt", "README.md")


def read(root):
    """{path: text} of all that there are rules about."""
    paths = [x for folder in FOLDERS for x in sorted((root / folder).rglob("*"))
             if x.name.endswith(ENDINGS) and x.is_file() and "golden" not in x.parts]
    paths += [root / x for x in SINGLE if (root / x).exists()]
    return {x.relative_to(root).as_posix(): x.read_text() for x in paths}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../../..").resolve()
    files = read(root)
    wrong = list(tree.findings(files))
    for path, text in files.items():
        if not path.endswith((".md", ".patch")):
            wrong += rules.findings(path, text)
    for line in wrong:
        print(line)
    if len(files) < 50:
        wrong.append("")
        print(f"only {len(files)} files below {root}: is this the tree?")
    print(f"{len(files)} files, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
