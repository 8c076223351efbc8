"""Runs of examples, each made once: what one ended with is kept, and one that was cut off goes on where it stopped.

What a run ended with is also a line of a file under docs/evidence, with the commit that made it and the kernels that it was
computed by. Who has that line makes the run no more, on another machine and of a later tree either, if it is of the same
settings and texts; of each study one such run, by lot of the tree, is made again and has to be the same."""

import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

CURVE = ("clients_perplexity", "perplexity_merged")
TREE = pathlib.Path(__file__).resolve().parents[2]
SCORE_OF_RUN = "clients_perplexity"
ALIKE = 0.02  # Of a run on another processor, whose sums are rounded otherwise.
FORCING = ("OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY")  # Variables that choose kernels in the processor's place.


@dataclass
class Cell:
    """One run: an example, what is changed of it, and its seed."""

    study: str
    row: str
    seed: int
    example: object
    changes: list = field(default_factory=list)

    @property
    def name(self):
        plain = "".join(x if x.isalnum() or x in "._" else "-" for x in self.row)
        return f"{self.study}.{plain}.{self.seed}"

    @property
    def is_looked_into(self):
        """Whether it keeps what it takes to see where tokens go; else it keeps no events."""
        return "events=true" in self.changes


def rows_of(sweep, wanted=None):
    """Of a sweep's table, {row: changes}: its methods, and then its rows. With `wanted` these and no others."""
    table = tomllib.loads(sweep.read_text(encoding="utf-8"))["sweep"]
    found = {x: [f"method={x}"] for x in table.get("methods", [])} | table.get("rows", {})
    missing = [x for x in wanted or [] if x not in found]
    if missing:
        sys.exit(f"{sweep}: there is no row {', '.join(missing)}")
    return {x: found[x] for x in wanted or found}


def curve_in(folder):
    """[version, or round where nothing is merged, and value by name] of each evaluation."""
    with open(f"{folder}/metrics.jsonl", encoding="utf-8") as file:
        lines = [json.loads(x) for x in file]
    return [[x.get("round", x["version"]), {**{k: x[k] for k in CURVE if k in x}, **x.get("method_results", {})}]
            for x in lines if x["kind"] == "evaluation"]


def perplexities_in(said, score=SCORE_OF_RUN):
    """[(version, perplexity)] of a run's looks, in their order; at some nobody may have been scored."""
    return [(v, x[score]) for v, x in said["curve"] if x.get(score)]


def git(*words):
    """What git says; nothing where this tree is a copy without a repository."""
    done = subprocess.run(["git", "-C", str(TREE), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def commit_now():
    """What this tree is called: pages and evidence aside, since they change while runs are made."""
    seen = [".", ":!docs", ":!*.md"]
    name = git("rev-parse", "--short=12", "HEAD") or "no repository"
    return name + ("-changed" if git("status", "--porcelain", "--", *seen) else "")


def processor():
    """What the bits of a run depend on beside its program: a processor, and whose kernels run on it."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    of = {x: next(iter(re.findall(rf"^{x}\s*:\s*(.*)$", text, re.MULTILINE)), "") for x in ("model name", "cpu family", "flags")}
    forced = " ".join(f"{x}={os.environ[x]}" for x in FORCING if os.environ.get(x))
    flags = hashlib.sha256(of["flags"].encode()).hexdigest()[:8]
    return f"{of['model name']} {of['cpu family']} {flags}, kernels {forced or 'of its own'}"


def fingerprint_in(folder):
    """Which arithmetic a run was computed by, as it said itself; each, where it went on by another one."""
    said = re.findall("^fingerprint (.*)$", pathlib.Path(folder, "logs/run.log").read_text(encoding="utf-8"), re.MULTILINE)
    return ", then ".join(dict.fromkeys(said))


def routing_in(said):
    """Of what `eval --routing` says all but the tokens themselves."""
    return {"looks": said["looks"],
            "clients": [{x: y for x, y in of.items() if x not in ("layers", "window")} for of in said["clients"]]}


@functools.cache
def digest_of(folder):
    """Of all that is in a folder of texts."""
    found = hashlib.sha256()
    for x in sorted(y for y in folder.rglob("*") if y.is_file()):
        found.update(f"{x.relative_to(folder)} {hashlib.sha256(x.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


class Evidence:
    """What runs ended with, one a line, by name; `texts` is the folder that settings point into."""

    def __init__(self, file, texts):
        self.file, self.texts = file, texts
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self.lines = {x["name"]: x for x in map(json.loads, lines)}

    def made_of(self, cell):
        settings = [x.replace(str(self.texts), "TEXTS") for x in map(str, cell.changes)]
        example = json.dumps(tomllib.loads(cell.example.read_text(encoding="utf-8")), sort_keys=True)
        read = [digest_of(pathlib.Path(x.removeprefix("data.path="))) for x in cell.changes if x.startswith("data.path=")]
        parts = [*(x.encode() for x in [example, *read, *settings, str(cell.seed)])]
        return hashlib.sha256(b"\0".join(hashlib.sha256(x).digest() for x in parts)).hexdigest()[:16]

    def of(self, cell):
        """The line of a run of these very settings, or None."""
        found = self.lines.get(cell.name)
        return found if found and found["made_of"] == self.made_of(cell) else None

    def keep(self, cell, said):
        kept = {x: y for x, y in said.items() if x != "folder"}
        self.lines[cell.name] = {"name": cell.name, "commit": commit_now(), "processor": processor(),
                                 "fingerprint": fingerprint_in(said["folder"]), "made_of": self.made_of(cell), "said": kept}
        part = self.file.with_suffix(".part")
        part.write_text("".join(json.dumps(self.lines[x]) + "\n" for x in sorted(self.lines)), encoding="utf-8")
        part.rename(self.file)


class Maker:
    """Makes cells in a folder, so many at a time."""

    def __init__(self, troupe, folder, at_once, evidence):
        self.troupe, self.folder, self.at_once, self.evidence = troupe, folder, at_once, evidence
        self.lock = threading.Lock()
        for name in ("cells", "runs"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def started(self, cell):
        runs = self.folder / "runs" / cell.name
        begun = sorted(runs.glob("*/config.toml"))
        if begun:
            return [self.troupe, "run", "--resume", begun[-1].parent]
        changes = [*cell.changes, f"seed={cell.seed}", *([] if cell.is_looked_into else ["events=false"]), f"folder={runs}"]
        return [self.troupe, "run", cell.example, *(y for x in changes for y in ("--set", x))]

    def make(self, cell):
        """What a run ended with, which was made here, or elsewhere and before, or is made now."""
        kept = self.folder / "cells" / f"{cell.name}.json"
        if kept.exists():
            return json.loads(kept.read_text(encoding="utf-8"))
        before = self.evidence.of(cell)
        return before["said"] if before else self.make_here(cell, kept)

    def make_here(self, cell, kept):
        for is_last in (False, True):
            command = [str(x) for x in [*self.started(cell), "--format", "json"]]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
            if is_last or "--resume" not in command:
                sys.exit(f"{cell.name}: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            shutil.rmtree(self.folder / "runs" / cell.name)  # Cut off before there was anything to go on with.
        said = json.loads(done.stdout)
        said["curve"] = curve_in(said["folder"])
        if cell.is_looked_into:
            said["routing"] = self.routing(said["folder"])
        kept.with_suffix(".part").write_text(json.dumps(said), encoding="utf-8")
        kept.with_suffix(".part").rename(kept)
        with self.lock:
            if not self.evidence.of(cell):
                self.evidence.keep(cell, said)
        print(f"{cell.name}: {said['wall_seconds']:.0f} s", file=sys.stderr, flush=True)
        return said

    def is_made(self, cell):
        return (self.folder / "cells" / f"{cell.name}.json").exists() or self.evidence.of(cell) is not None

    def routing(self, folder):
        command = [str(x) for x in (self.troupe, "eval", folder, "--routing", "--format", "json")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return routing_in(json.loads(done.stdout))

    def make_all(self, cells):
        """{row: what each of its seeds said}."""
        self.prove(cells)
        with ThreadPoolExecutor(self.at_once) as pool:
            said = list(pool.map(self.make, cells))
        out = {}
        for cell, x in zip(cells, said):
            out.setdefault(cell.row, []).append(x)
        return out

    def prove(self, cells):
        """Of what was not made in this folder one run, by lot, is made again: red where it is another one."""
        before = [x for x in cells if self.evidence.of(x) and not (self.folder / "cells" / f"{x.name}.json").exists()]
        if not before:
            return
        tree = git("rev-parse", "HEAD^{tree}")
        cell = min(before, key=lambda x: hashlib.sha256(f"{tree} {x.name}".encode()).digest())
        line = self.evidence.of(cell)
        said = self.make_here(cell, self.folder / "cells" / f"{cell.name}.json")
        of = [value(x, SCORE_OF_RUN) or value(x, "per_client.mean") for x in (said, line["said"])]
        # A digest is of what is merged, so of who merges nothing the score says it.
        same = said["digest"] == line["said"]["digest"] and of[0] == of[1]
        what = f"{cell.name}: of {line['commit']} {of[1]:.6g} and digest {line['said']['digest'][:12]}, made again {of[0]:.6g} and " \
               f"{said['digest'][:12]}"
        if not same and (line["processor"] == processor() or abs(of[0] / of[1] - 1) > ALIKE):
            sys.exit(f"{what}: not the same, so {self.evidence.file} is of another program; without that file all is made again")
        print(f"{what}: {'the same' if same else 'alike, on another processor'}; {len(before)} of {len(cells)} runs of this study "
              "are of before", flush=True)


def value(said, path):
    """What a run said, of a dotted key, or of its method; None: nothing."""
    at = said
    for key in path.split("."):
        at = at.get(key) if isinstance(at, dict) else None
    return said["method_results"].get(path) if at is None else at


def mean(rows, name, path):
    """Of all seeds of a row, and their deviation."""
    found = [value(x, path) for x in rows[name]]
    if None in found:
        sys.exit(f"{name}: {found.count(None)} of {len(found)} runs have no {path}")
    return statistics.mean(found), statistics.stdev(found) if len(found) > 1 else None


class Bounds:
    def __init__(self):
        self.wrong = 0

    def hold(self, what, true):
        print(("holds  " if true else "FAILS  ") + what, flush=True)
        self.wrong += not true
