"""A manual page as plain text: words and headings stay, requests go. No typesetter: what tables and drawings say is left out."""

import re

LETTERS = {
    "aq": "'", "dq": '"', "co": "©", "rg": "®", "tm": "™", "bu": "•", "em": "—", "en": "–", "hy": "-", "lq": "“", "rq": "”",
    "oq": "‘", "cq": "’", "ha": "^", "ti": "~", "rs": "\\", "ga": "`", "aa": "´", "->": "→", "<-": "←", "de": "°", "mu": "×",
    "+-": "±", "ss": "ß", "Fo": "«", "Fc": "»", "Po": "£", "Eu": "€", "mi": "-", "pl": "+", "at": "@", "sh": "#", "lB": "[",
    "rB": "]", "lC": "{", "rC": "}", "bv": "|", "or": "|", "sl": "/", "ct": "¢", "sc": "§", "12": "½", "14": "¼", "34": "¾",
}
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", "~": "\u0303", ",": "\u0327"}
ESCAPE = re.compile(
    r'\\(?:"(?P<comment>.*)|f(?:\(..|\[[^\]]*\]|.)|s[+-]?\d{0,2}|\*?(?:\((?P<two>..)|\[(?P<long>[^\]]*)\])'
    r"|[hvwldbop]'[^']*'|n(?:\(..|\[[^\]]*\]|.)|\*.|[mMkgF](?:\[[^\]]*\]|\(..|.)|(?P<one>.)|$)", re.S)
ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s"])(?:\\.|\S)*)')
BREAKS = {"PP", "P", "LP", "sp", "TP", "IP", "HP", "TQ", "br", "RS", "RE", "nf", "fi", "EX", "EE", "YS", "SY"}
FONTS = {"B", "I", "R", "SM", "SB"}  # Arguments are words.
TURNS = {"BR", "BI", "IR", "IB", "RB", "RI"}  # Arguments are parts of a word.


def letter(found):
    """What an escape stands for."""
    if found["comment"] is not None:
        return ""
    name = found["two"] or found["long"]
    if name:
        code = re.fullmatch(r"u([0-9A-Fa-f]{4,6})", name)
        if code and int(code[1], 16) < 0x110000:
            return chr(int(code[1], 16))
        if len(name) == 2 and name[0] in ACCENTS and name[1].isalpha():
            return name[1] + ACCENTS[name[0]]
        return LETTERS.get(name, "")
    return {"-": "-", "e": "\\", "\\": "\\", "'": "'", "`": "`", ".": ".", " ": " ", "~": " ", "0": " ", "t": "\t"}.get(found["one"], "")


def plain(text):
    return ESCAPE.sub(letter, text)


def arguments(rest):
    """Words, and quoted ones as one."""
    return [x[2] or (x[1] or "").replace('""', '"') for x in ARGUMENT.finditer(rest)]


def is_page(source):
    """In the requests that are read here, and no mere link to another page."""
    return re.search(r"^\.\s*SH\b", source, re.M) is not None and not re.search(r"^\.\s*(?:Dd|so)\b", source, re.M)


def request(name, rest):
    """The text of a request; None: it has none."""
    words = [plain(x) for x in arguments(rest)]
    if name in ("SH", "SS"):
        return "\n\n" + " ".join(words) + "\n" if words else None
    if name == "IP":
        return "\n\n" + (words[0] if words else "")
    if name in BREAKS:
        return "\n" if name in ("br", "nf", "fi", "EX", "EE") else "\n\n"
    if name in FONTS:
        return " ".join(words)
    if name in TURNS:
        return "".join(words)
    return words[0] if name in ("UR", "MT") and words else None


def text_of(source):
    """All of a page."""
    out, until = [], None
    for line in source.split("\n"):
        found = re.match(r"[.']\s*(\\\"|[A-Za-z]+|\.)?[ \t]*(.*)", line)
        if until:  # Within a table, a macro or what is ignored.
            until = None if line.strip() == until else until
        elif not found:
            out.append(plain(line))
        elif found[1] in ("TS", "PS", "EQ"):
            until = f".{found[1][0]}E" if found[1] != "EQ" else ".EN"
        elif found[1] in ("de", "ig", "am"):
            until = ".."
        elif found[1] and found[1] not in ('\\"', "."):
            text = request(found[1], found[2])
            if text is not None:
                out.append(text)
    text = "\n".join(x.rstrip() for x in "\n".join(out).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
