"""The laws about the tree as a whole, a function each. A law takes {path: text}, and yields
(path, line, what is wrong)."""

import re

import rules
import table
from source import CODE, HEADERS, UNITS, folder_of, includes, room_of, types

# The operating system's own headers; every other one with a dot or a / in it is of others.
SYSTEM = re.compile(r"^((unistd|fcntl|dlfcn|spawn)\.h$|sys/)")


def code(tree, endings=CODE):
    return {path: text for path, text in tree.items() if path.endswith(endings)}


def rooms(tree):
    """Each folder includes what its row in docs/architecture.md says, and needs all of it."""
    said = {x.folder: x for x in table.rows(tree)}
    held = {folder_of(x) for x in code(tree) if room_of(x)}
    for folder in sorted(held - set(said)):
        yield table.PAGE, 1, f"{folder}/ has no row"
    for folder in sorted(set(said) - held):
        yield table.PAGE, said[folder].line, f"there is no {folder}/"
    needed = set()
    for path, text in code(tree).items():
        row = said.get(folder_of(path))
        for line, kind, what in includes(text):
            if kind == '"' and what not in tree:
                yield path, line, f'there is no "{what}": names begin with their room'
            if row is None:
                continue
            named = row.ours if kind == '"' else row.others
            given = [x for x in named if table.covers(x, path, what)]
            needed |= {(row.folder, x) for x in given}
            if kind == '"' and not given and folder_of(what) != row.folder:
                yield path, line, f'{row.folder}/ must not include "{what}"'
            if kind == "<" and not given and re.search("[./]", what) and not SYSTEM.match(what):
                yield path, line, f"<{what}> belongs where {table.PAGE} names it"
    for row in said.values():
        for grant in row.ours + row.others:
            if (row.folder, grant) not in needed:
                yield table.PAGE, row.line, f"nothing in {grant[1]} includes {grant[0]}"


def upward(tree):
    """Libraries include what stands below them. So there are no cycles among them."""
    places = table.libraries(tree)

    def place(folder):
        while folder and folder not in places:
            folder = folder_of(folder)
        return places.get(folder, len(places))

    for path, text in code(tree).items():
        for line, kind, what in includes(text):
            if kind == '"' and place(folder_of(what)) > place(folder_of(path)):
                yield path, line, f'"{what}" stands above'


def used(tree):
    """Somebody includes each header, and not only its own .cpp."""
    by = {}
    for path, text in code(tree).items():
        for _, _, what in includes(text):
            by.setdefault(what, set()).add(path)
    for path in code(tree, HEADERS):
        stem = path.rpartition(".")[0]
        if not by.get(path, set()) - {stem + x for x in UNITS}:
            yield path, 1, "nobody includes this"


def built(tree):
    """CMake builds each source, and all that it names is there."""
    compiled = set()
    for page, line, pattern, compiles in table.built(tree):
        found = {x for x in tree if pattern.fullmatch(x)}
        compiled |= found if compiles else set()
        if not found:
            yield page, line, f"there is no {pattern.pattern}"
    for path in set(code(tree, UNITS)) - compiled:
        yield path, 1, "nobody builds this"


def named_once(tree):
    """A type has its name for itself: of two in one namespace the linker takes one for both."""
    first = {}
    for path, text in sorted(code(tree).items()):
        for line, name, stands_for in types(text) if room_of(path) else ():
            before, other = first.setdefault(name, (path, stands_for))
            if before != path and not (stands_for and stands_for == other):
                yield path, line, f"'{name}' is another type in {before}"


def mirrored(tree):
    """tests/unit has the folders of the tree."""
    held = {folder_of(x) for x in code(tree)}
    for path in code(tree):
        folder = folder_of(path).removeprefix("tests/unit/")
        if folder not in held:
            yield path, 1, f"there is no {folder}/ that this would test"


def exceptions(tree):
    """An exception to a rule of rules.py is there, and would break the rule."""
    for rule in rules.RULES:
        for home in rules.AT_HOME.get(rule.__name__, ()):
            broken = (x for path in tree if path.startswith(home) for x in rule(path, tree[path]))
            if next(broken, None) is None:
                yield "tests/tidy/rules.py", 1, f"'{home}' needs no exception to '{rule.__name__}'"
    for word in sorted(rules.OWN_WORDS):
        if not any(word in rules.CHANCE.findall(text) for text in code(tree).values()):
            yield "tests/tidy/rules.py", 1, f"'{word}' needs no exception to 'chance'"


def documented(tree):
    """Each command in a code block exists; tests/e2e/documented.sh runs those of troupe."""
    dev, said = tree["dev"], tree["node/main.cpp"] + tree["node/commands/command.cpp"]
    known = {"./dev": set(re.findall(r"^  (\w+)[ |)]", dev[dev.index("case $command in"):], re.M)),
             "troupe": set(re.findall(r'\{"([a-z-]+)", "', said))}
    for path, text in tree.items():
        inside = False
        for number, line in enumerate(text.split("\n") if path.endswith(".md") else [], 1):
            inside ^= line.startswith("```")
            found = re.match(r"\s*(?:\$ )?(?:build/release/)?(\./dev|troupe)(?: ([a-z-]+))?", line)
            if found and (inside or line.startswith("    ")):
                if found[2] and found[2] not in known[found[1]]:
                    yield path, number, f"there is no '{found[0].strip()}'"


def computed_twice(tree):
    """The gate has a run of each method for the oracle, or a line that says why not."""
    listed, cases = "policies/methods/methods.hpp", "tests/oracle/cases.py"
    said = tree[cases] + tree["tests/oracle/language_cases.py"]
    method_of = dict(re.findall(r'\(\s*"([^"]+)", "(\w+)"', said))
    quick, without = (re.search(rf"^{name} = [({{](.*?)^[)}}]", said, re.M | re.S)[1]
                      for name in ("QUICK", "WITHOUT"))
    run = {method_of.get(x) for x in re.findall(r'"([^"]+)"', quick)}
    left_out = set(re.findall(r'^ *"(\w+)": "', without, re.M))
    methods = set(re.findall(r"^ +METHOD\((\w+)\)", tree[listed], re.M))
    for name in sorted(methods - run - left_out):
        yield listed, 1, f"no run of the gate computes '{name}' again, and WITHOUT in {cases} does not say why"
    for name in sorted(left_out - (methods - run)):
        yield cases, 1, f"'{name}' needs no line in WITHOUT"


def planted(tree):
    """docs/testing.md lists each planted bug by its name, and no other."""
    page, title = "docs/testing.md", "## Planted bugs\n"
    before, _, rest = tree.get(page, "").partition(title)
    listed = {name: number
              for number, line in enumerate(rest.partition("\n## ")[0].split("\n"), before.count("\n") + 2)
              if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    there = {path.rpartition("/")[2].removesuffix(".patch"): path for path in tree if path.endswith(".patch")}
    for name in sorted(set(there) - set(listed)):
        yield there[name], 1, f"'{name}' stands in no list of {page}"
    for name in sorted(set(listed) - set(there)):
        yield page, listed[name], f"there is no tests/mutants/{name}.patch"


def points(tree):
    """A table of what holds a publication's points has a row for each point."""
    page, before = "docs/testing.md", None
    for number, line in enumerate(tree.get(page, "").split("\n"), 1):
        point = re.match(r"\| (\S+)", line)
        if not point:
            before = None
        elif line.startswith("| point |"):
            before = set()
        elif before is not None:
            if point[1].isdigit() and point[1] in before:
                yield page, number, f"point {point[1]} stands here twice"
            before.add(point[1])


LAWS = [rooms, upward, used, built, named_once, mirrored, exceptions, documented, computed_twice, planted, points]


def findings(tree):
    for law in LAWS:
        for path, line, what in law(tree):
            yield f"{path}:{line}: {what} [{law.__name__}]"
