"""Reads C++ well enough for rules about it: code without comments and strings, and
where functions begin and end. Line numbers stay what they are in the file."""

import re

ROOMS = ("core", "policies", "kernels", "models", "actors", "node")
HEADERS = (".hpp", ".cuh")
UNITS = (".cpp", ".cu")
CODE = HEADERS + UNITS


def folder_of(path):
    return path.rpartition("/")[0]


def room_of(path):
    first = path.split("/")[0]
    return first if first in ROOMS else None


# A raw string, a line comment, a block comment, a string, a character.
SKIPPED = re.compile(
    r'R"(?P<d>[^()\\ ]{0,16})\((?:.|\n)*?\)(?P=d)"'
    r"|//[^\n]*|/\*(?:.|\n)*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"
)


def without(text, strings=True):
    """The code alone; strings become "" unless they are to stay."""

    def blank(found):
        piece = found.group()
        comment = piece.startswith("/")
        if not comment and not strings:
            return piece
        return ("" if comment else '""') + "\n" * piece.count("\n")

    return SKIPPED.sub(blank, text)


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def includes(text):
    """(line, "<" or '"', what) of each include."""
    return [
        (text.count("\n", 0, m.start()) + 1, m.group(1), m.group(2))
        for m in INCLUDE.finditer(text)
    ]


def plain(text):
    """The code alone, without lines of the preprocessor: their braces need not match."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda m: "\n" * m.group().count("\n"),
                  without(text), flags=re.M)


NAMESPACE = re.compile(r"\s*(?:inline\s+)?namespace\s+(\w[\w:]*)\s*$")
TYPE = re.compile(r"\s*(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+"
                  r"(?:(?:\[\[[^\]]*\]\]|alignas\([^)]*\))\s*)*"
                  r"(\w+(?:::\w+)*)\s*(?:final\s*)?(?::(?!:)[^()]*)?()$")
ALIAS = re.compile(r"\s*using\s+(\w+)\s*=\s*(.+)$", re.S)


def types(text):
    """(line, name with its namespaces, of an alias what it stands for) of each class, enum and alias
    of a namespace. Templates, what is only declared, and what is of a namespace without a name are
    none of them."""
    code = plain(text)
    spaces, start = [], 0  # None: a brace of something else.
    for found in re.finditer("[{};]", code):
        begin, start = start, found.end()
        if found.group() == "}":
            del spaces[-1:]
            continue
        head = code[begin : found.start()]
        named = (TYPE if found.group() == "{" else ALIAS).match(head) if None not in spaces else None
        if named:
            line = code.count("\n", 0, begin + named.start(1)) + 1
            yield line, "::".join([*spaces, named[1]]), " ".join(named[2].split())
        if found.group() == "{":
            space = NAMESPACE.match(head)
            spaces.append(space and space[1])


TRANSPARENT = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()=;]*$")


def functions(text):
    """(first line, number of lines) of each function definition."""
    code = plain(text)
    found, stack, start, inside = [], [], 0, None
    for at, c in enumerate(code):
        if inside is None and c in ";}":
            start = at + 1
        if c == "{":
            head = code[start:at]
            if inside is None:
                if TRANSPARENT.search(head):
                    start = at + 1
                elif "(" in head:
                    lead = len(head) - len(head.lstrip())
                    inside = (len(stack), code.count("\n", 0, start + lead) + 1)
                else:
                    inside = (len(stack), None)  # An initialiser.
            stack.append(at)
        elif c == "}" and stack:
            stack.pop()
            if inside is not None and len(stack) == inside[0]:
                if code[at + 1 :].lstrip()[:1] in (",", "{"):
                    inside = None  # x_{1} before a constructor's body.
                    continue
                if inside[1] is not None:
                    found.append((inside[1], code.count("\n", 0, at) + 2 - inside[1]))
                inside = None
                start = at + 1
    return found
