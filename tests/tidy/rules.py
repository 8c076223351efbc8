"""The laws of STYLE.md about one source file, a function each. A rule takes a path and the
text of that file, and yields (line, what is wrong). It knows no exceptions: AT_HOME does."""

import re

from source import CODE, HEADERS, functions, includes, room_of, without

# Where a rule does not hold, by the beginnings of paths; tree.exceptions asks whether each is
# still needed.
AT_HOME = {
    "world": ("core/clock.", "core/random."),
    "torch_room": ("models/torch/", "node/task/torch_model."),
    "actors_meet_transport": (
        "actors/gateway/", "actors/client/", "actors/reception/", "actors/caf/messages.",
    ),
    "chance": ("core/clock.", "core/random.", "tests/"),
    "method_names": ("policies/methods/",),
    "spawning": ("actors/wiring.",),
    "personal": ("core/values.", "models/", "actors/record/snapshot.", "actors/client_store/"),
    "handles": ("models/methods/adapter_report.",),
    "scripts": ("tests/e2e/common.sh",),
    "manners": ("tests/tidy/rules.py",),  # It names what it looks for.
}

WORLD = re.compile(
    r"^(thread|mutex|shared_mutex|condition_variable|future|atomic|semaphore|latch|barrier"
    r"|stop_token|fstream|filesystem|iostream|chrono|ctime|random|unistd\.h|sys/.*)$"
)


def world(path, text):
    """What should happen is decided without looking at the world."""
    if room_of(path) not in ("core", "policies"):
        return
    for line, _, what in includes(text):
        if WORLD.match(what):
            yield line, f"{room_of(path)}/ must not include <{what}>"


def torch_room(path, text):
    """Only the file that loads torch's module knows the room of torch."""
    if room_of(path) is None:
        return
    for line, _, what in includes(text):
        if what.startswith("models/torch/"):
            yield line, f'"{what}" belongs into {" or ".join(AT_HOME["torch_room"])}'


def actors_meet_transport(path, text):
    """CAF meets transport where frames come in and go out, and where it learns our messages."""
    if room_of(path) not in ("actors", "node"):
        return
    names = [(line, what) for line, _, what in includes(text)]
    caf = any(what.startswith("caf/") for _, what in names)
    for line, what in names:
        if caf and what.startswith("actors/transport/"):
            yield line, f"CAF meets transport in {' and '.join(AT_HOME['actors_meet_transport'])}"


CHANCE = re.compile(
    r"\w+_clock\b|\b(?:s?rand|time|clock)\s*\("
    r"|\b(?:clock_gettime|gettimeofday|mt19937\w*|minstd_rand\w*|random_device"
    r"|default_random_engine|getrandom|getentropy|randombytes\w*|\w+_distribution)\b"
)
OWN_WORDS = {"speed_distribution", "actor_clock"}


def chance(path, text):
    """No clock but core/clock.hpp, no randomness but core/random.hpp."""
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
                     r"|fedem|fedrep|hetlora|homlora|flexlora|fedmix|per_fedavg\w*|local_adaptor)\b", re.I)


def method_names(path, text):
    """A method is a recipe: the runtime knows none by name. Comments may."""
    if room_of(path) is None:
        return
    for number, line in enumerate(without(text, strings=False).split("\n"), 1):
        for found in METHODS.finditer(line):
            yield number, f"'{found.group()}' is named outside of the recipes"


def spawning(path, text):
    """Only the composition root spawns."""
    if room_of(path) not in ("actors", "node"):
        return
    for number, line in enumerate(without(text).split("\n"), 1):
        if re.search(r"\bspawn(_\w+)?\s*(<[^;]*>)?\s*\(", line):
            yield number, "only actors/wiring spawns"


def sizes(path, text):
    """A file is at most 400 lines, a function 60."""
    lines = text.count("\n")
    if lines > 400:
        yield 401, f"the file has {lines} lines, 400 would do"
    if path.endswith(CODE):
        for line, length in functions(text):
            if length > 60:
                yield line, f"the function has {length} lines, 60 would do"


def manners(path, text):
    """Small rules of STYLE.md that a machine can keep."""
    code = without(text) if path.endswith(CODE) else text
    if path.endswith(HEADERS) and not text.startswith("#pragma once\n"):
        yield 1, "a header begins with #pragma once"
    if path.endswith(HEADERS):
        for number, line in enumerate(code.split("\n"), 1):
            if re.match(r"\s*using namespace\b", line):
                yield number, "no 'using namespace' in a header"
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\bTODO\b", line):
            yield number, "no TODO: file an issue"
        if re.search(r"\bFIXME\b(?!: .*#\d)", line):
            yield number, "a FIXME names an issue: 'FIXME: … #12'"


def personal(path, text):
    """Values that stay with a client are copied out where nothing is sent."""
    if room_of(path) is None:
        return
    for number, line in enumerate(without(text).split("\n"), 1):
        if re.search(r"\bown_view\s*\(", line):
            yield number, "personal values are read in models/ and kept by the client's file alone"


def handles(path, text):
    """A method says what is done to values; how, and where they lie, is the backend's."""
    if not path.startswith("models/methods/"):
        return
    for number, line in enumerate(without(text).split("\n"), 1):
        if re.search(r"\bfor \(std::size_t j\b|\[j\]|\.host\(\)|\baligned_floats\b", line):
            yield number, "values are handles here: visit::move, copy and step say what is done"


NO_TEMPORARY = re.compile(r"(?:^|[;{}):]|\b(?:else|do|try|const|noexcept|mutable)|->[\w\s:<>,*&]+)\s*$")
CAPTURES = re.compile(r"\[[^\][]+\]\s*\([^()]*\)[^{;()]*->\s*(?:\w+::)*task<")


def around(text, at):
    """The brackets that are open at a place, innermost first, and where they stand."""
    depth = 0
    while at > 0:
        at -= 1
        if text[at] in ")}]":
            depth += 1
        elif text[at] in "({[":
            if depth == 0:
                yield text[at], at
            else:
                depth -= 1


def awaits(path, text):
    """g++ 12 miscompiles what is awaited within ?: or a braced temporary; and what a lambda
    captured is gone when it goes on."""
    if room_of(path) is None:
        return
    text = without(text)
    for found in re.finditer(r"(?<!operator )\bco_await\b", text):
        at, line = found.start(), text.count("\n", 0, found.start()) + 1
        begin = max(text.rfind(c, 0, at) for c in ";{}") + 1
        end = text.find(";", at)
        if re.search(r"\?[^?]*:(?!:)", text[begin:end]):
            yield line, "no co_await within ?: (g++ 12); give its value a name first"
        for bracket, where in around(text, at):
            if bracket == "{":
                if not NO_TEMPORARY.search(text[:where]):
                    yield line, "no co_await within a braced list (g++ 12); name its value first"
                break
    for found in CAPTURES.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield line, "a lambda that captures is no coroutine: its captures are gone when it goes on"


BESIDE = re.compile(r"(?<!&)&\s*$|\$!|^\s*trap\b|\b(?:pkill|pgrep|killall)\b")
CUT_SHORT = re.compile(r"\$troupe\b.*(?<!\|)\|\s*(?:grep -q|grep -m|head)\b")


def scripts(path, text):
    """What runs beside a script of tests/e2e/ is started and ended by common.sh: who waits for a word finds none
    of an earlier process, and a signal meets that process. And nobody stops listening to troupe, which ends that."""
    if not path.startswith("tests/e2e/") or not path.endswith(".sh"):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith("#"):
            if BESIDE.search(line):
                yield number, "common.sh starts what runs beside a script, and ends it: start, tell"
            if CUT_SHORT.search(line):
                yield number, "who reads less than all that troupe says ends it: grep … >/dev/null"


SUBRANGES = re.compile(
    r"\bviews::|\branges::(?:unique|equal_range|(?:stable_)?partition|remove(?:_if)?|rotate|search|find_end)\s*\(")


def subranges(path, text):
    """Views, and what gives back one, cannot be compiled by the clang that fuzzers are built with (14, with GCC 12's library)."""
    if room_of(path) is None:
        return
    for number, line in enumerate(without(text).split("\n"), 1):
        for found in SUBRANGES.finditer(line):
            yield number, f"'{found.group()}…' is of views, which fuzzers cannot be built with: use std:: of iterators"


RULES = [world, torch_room, actors_meet_transport, chance, unordered, subranges, method_names, spawning,
         sizes, personal, handles, awaits, scripts, manners]


def findings(path, text):
    for rule in RULES:
        if not path.startswith(AT_HOME.get(rule.__name__, ())):
            for line, what in rule(path, text):
                yield f"{path}:{line}: {what} [{rule.__name__}]"
