"""Reads two lists of the rooms: the table in docs/architecture.md, which says who may include
what, and CMake's, which says what is built, and in which order libraries stand above each
other. A tree is {path: text}."""

import re

from source import UNITS

PAGE = "docs/architecture.md"
ROW = re.compile(r"^\| `([\w/]+)` \|[^|]*\|([^|]*)\|([^|]*)\|$")


class row:
    def __init__(self, folder, line, ours, others):
        self.folder, self.line = folder, line
        self.ours, self.others = list(grants(ours, folder)), list(grants(others, folder))


def grants(cell, folder):
    """(name, where it may be included) of 'core; `a/b.hpp` in `c.cpp`'."""
    for piece in re.sub("[`\\s]+", " ", cell).split(";"):
        names, _, files = piece.partition(" in ")
        for name in re.findall(r"[^ ,]+", names):
            for file in re.findall(r"[^ ,]+", files) or [""]:
                if name != "nothing":
                    yield name, f"{folder}/{file}"


def covers(grant, path, what):
    """A name that ends in / means all below it, any other one file or one folder alone."""
    name, where = grant
    if not (path == where or where.endswith("/")):
        return False
    return what.startswith(name) if name.endswith("/") else name in (what, what.rpartition("/")[0])


def rows(tree):
    """The rows of the section 'Rooms'."""
    inside = False
    for number, line in enumerate(tree.get(PAGE, "").split("\n"), 1):
        inside = line == "## Rooms" if line.startswith("## ") else inside
        found = inside and ROW.match(line)
        if found:
            yield row(found[1], number, found[2], found[3])


def calls(tree, pages):
    """(page, line, command, words) of each call in files of CMake."""
    for page in pages:
        text = re.sub("#.*", "", tree[page])
        for found in re.finditer(r"(\w+)\s*\(([^()]*)\)", text):
            words = re.findall(r'[^\s"]+', found[2])
            yield page, text.count("\n", 0, found.start()) + 1, found[1], words


def folders(words):
    """What follows FOLDERS, up to the next keyword."""
    after = words[words.index("FOLDERS") + 1:] if "FOLDERS" in words else []
    return after[:next((n for n, x in enumerate(after) if x.isupper()), len(after))]


def libraries(tree):
    """{folder: place}; a library may only use what has a lower place, or its own."""
    places = {}
    pages = ["CMakeLists.txt"] if "CMakeLists.txt" in tree else []
    for _, _, command, words in calls(tree, pages):
        inner = f"cmake/{words[0]}.cmake" if command == "include" else None
        here = calls(tree, [inner]) if inner in tree else [("", 0, command, words)]
        for _, _, command, words in here:
            if command == "troupe_room":
                places |= dict.fromkeys(folders(words), len(places))
    return places


def built(tree):
    """(page, line, pattern, whether it is compiled) of each source that CMake is told of."""
    pages = [x for x in tree if x.endswith(("CMakeLists.txt", ".cmake"))]
    for page, line, command, words in calls(tree, pages):
        home = page.removesuffix("CMakeLists.txt") if page.endswith("CMakeLists.txt") else ""
        for folder in folders(words):
            yield page, line, re.compile(re.escape(folder) + r"/[^/]+\.[ch]pp"), True
        for word in words:
            path = re.sub(r"^\$\{CMAKE_SOURCE_DIR\}/", "", word)
            path = path if path != word else home + word.replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")
            if path.endswith(UNITS) and "$" not in path:
                below = "(?:.*/)?" if "GLOB_RECURSE" in words else ""
                pattern = re.escape(path).replace(r"\*", below + "[^/]*", 1)
                yield page, line, re.compile(pattern), command != "set_source_files_properties"
