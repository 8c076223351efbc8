"""The laws of DESIGN 3 about the source, one function each. A rule takes a path and the
text of that file, and yields (line, what is wrong)."""

import re

from source import functions, includes, without

ROOMS = ("core", "policies", "kernels", "models", "actors")

# What a room may include of ours; a name that ends in / means all below it.
OURS = {
    "core": ["core/"],
    "policies": ["core/", "policies/"],
    "kernels": ["core/", "kernels/"],
    "models": ["core/", "policies/", "kernels/backend.hpp", "kernels/grid.hpp", "models/"],
    "actors": ["core/", "policies/", "kernels/", "models/", "actors/"],
}

# Headers of others, and the only folders where they may stand.
OTHERS = [
    (re.compile(r"^(torch|ATen|c10|caffe2)/"), ("models/torch/",)),
    (re.compile(r"^caf/"), ("actors/",)),
    (re.compile(r"^zmq"), ("actors/transport/zmq/",)),
    (re.compile(r"^prometheus/"), ("actors/metrics/",)),
    (re.compile(r"^(cuda|cublas|curand|cub/|thrust/)"), ("kernels/cuda/",)),
    (re.compile(r"^(sqlite3\.h|toml\+\+/|CLI/)"), ("actors/", "models/")),
]

# "What should happen" is decided without looking at the world.
WORLD = re.compile(
    r"^(thread|mutex|shared_mutex|condition_variable|future|atomic|semaphore|latch|barrier"
    r"|stop_token|fstream|filesystem|iostream|chrono|ctime|random|unistd\.h|sys/.*)$"
)


def room_of(path):
    first = path.split("/")[0]
    return first if first in ROOMS else None


def allowed(what, places):
    return any(what == x or (x.endswith("/") and what.startswith(x)) for x in places)


def rooms(path, text):
    """Who includes what: the table of DESIGN 3. Nothing looks upward."""
    room = room_of(path)
    if room is None:
        return
    for line, kind, what in includes(text):
        if kind == '"' and room_of(what) and not allowed(what, OURS[room]):
            yield line, f'{room}/ must not include "{what}"'
        if kind == '"' and not room_of(what):
            yield line, f'"{what}" is not named by its room'
        if kind == "<":
            for header, places in OTHERS:
                if header.match(what) and not path.startswith(places):
                    yield line, f"<{what}> belongs into {' or '.join(places)}"
            if room in ("core", "policies") and WORLD.match(what):
                if not (room == "core" and path.startswith(("core/clock.", "core/assert.", "core/random."))):
                    yield line, f"{room}/ must not include <{what}>"


def torch_room(path, text):
    """Only the composition root knows the room of torch."""
    if path.startswith(("models/torch/", "actors/node/")) or room_of(path) is None:
        return
    for line, _, what in includes(text):
        if what.startswith("models/torch/"):
            yield line, f'"{what}" belongs into models/torch/ or actors/node/'


def actors_meet_transport(path, text):
    """CAF meets transport in gateway/ and client/ alone."""
    meeting = ("actors/gateway/", "actors/client/", "actors/node/")
    if path.startswith(meeting) or not path.startswith("actors/"):
        return
    names = [(line, what) for line, _, what in includes(text)]
    caf = any(what.startswith("caf/") for _, what in names)
    for line, what in names:
        if caf and what.startswith("actors/transport/"):
            yield line, "CAF meets transport in gateway/ and client/ alone"


CHANCE = re.compile(
    r"\w+_clock\b|\b(?:s?rand|time|clock)\s*\(|\b(?:clock_gettime|gettimeofday|mt19937\w*|minstd_rand\w*"
    r"|random_device|default_random_engine|getrandom|randombytes\w*|\w+_distribution)\b"
)
OWN_WORDS = {"speed_distribution", "steady_now", "virtual_clock", "wall_clock", "run_clock",
             "recorded_clock", "test_clock", "actor_clock"}
CHANCE_AT_HOME = ("core/clock.", "core/random.")


def chance(path, text):
    """No clock but core/clock.hpp, no randomness but core/random.hpp."""
    if path.startswith(CHANCE_AT_HOME + ("tests/", "bench/")):
        return
    for number, line in enumerate(without(text).split("\n"), 1):
        for found in CHANCE.finditer(line):
            word = found.group()
            before = line[: found.start()].rstrip()
            if word in OWN_WORDS or before.endswith((".", "->", "actors::", "policies::")):
                continue
            # A function of ours that is called like one of the C library.
            if word.endswith("(") and re.search(r"[\w>&*\]]$", before) and not before.endswith("return"):
                continue
            yield number, f"'{word}' belongs into core/clock or core/random"


def unordered(path, text):
    """Iteration over these has an order that nobody chose."""
    if room_of(path) is None:
        return
    for number, line in enumerate(without(text).split("\n"), 1):
        if re.search(r"\bunordered_(multi)?(map|set)\b", line):
            yield number, "unordered containers have an order that nobody chose: use std::map"


METHODS = re.compile(r"\b(fedavg|fedprox|scaffold|ditto|floral|ddome|comigs|pf2lora|ifca|pfedme"
                     r"|fedem|hetlora|flexlora|fedmix)\b", re.I)
METHODS_AT_HOME = ("policies/", "models/methods/")


def method_names(path, text):
    """A method is a recipe: the runtime knows none by name. Comments may."""
    if room_of(path) is None or path.startswith(METHODS_AT_HOME):
        return
    for number, line in enumerate(without(text, strings=False).split("\n"), 1):
        for found in METHODS.finditer(line):
            yield number, f"'{found.group()}' is named outside of the recipes"


def spawning(path, text):
    """Only the composition root spawns."""
    if not path.startswith("actors/") or path.startswith("actors/wiring"):
        return
    for number, line in enumerate(without(text).split("\n"), 1):
        if re.search(r"\bspawn(_\w+)?\s*(<[^;]*>)?\s*\(", line):
            yield number, "only actors/wiring spawns"


def sizes(path, text):
    """A file is at most 400 lines, a function 60."""
    lines = text.count("\n")
    if lines > 400:
        yield 401, f"the file has {lines} lines, 400 would do"
    if path.endswith((".hpp", ".cpp", ".cu")):
        for line, length in functions(text):
            if length > 60:
                yield line, f"the function has {length} lines, 60 would do"


def manners(path, text):
    """Small rules of STYLE.md that a machine can keep."""
    code = without(text) if path.endswith((".hpp", ".cpp", ".cu")) else text
    if path.endswith(".hpp") and not text.startswith("#pragma once\n"):
        yield 1, "a header begins with #pragma once"
    if path.endswith(".hpp"):
        for number, line in enumerate(code.split("\n"), 1):
            if re.match(r"\s*using namespace\b", line):
                yield number, "no 'using namespace' in a header"
    if path.endswith("tests/tidy/rules.py"):
        return  # It names what it looks for.
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\bTODO\b", line):
            yield number, "no TODO: file an issue"
        if re.search(r"\bFIXME\b(?!: .*#\d)", line) and not path.endswith(".md"):
            yield number, "a FIXME names an issue: 'FIXME: … #12'"


RULES = [rooms, torch_room, actors_meet_transport, chance, unordered, method_names, spawning,
         sizes, manners]


def findings(path, text):
    for rule in RULES:
        for line, what in rule(path, text):
            yield f"{path}:{line}: {what} [{rule.__name__}]"
