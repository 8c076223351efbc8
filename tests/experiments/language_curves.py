#!/usr/bin/env python3
"""Perplexity over steps as a figure, of the lines in docs/evidence/runs: language_curves.py small | users | vary TO.svg

A line is what the first seed of a row scored, over the steps that a client had made: rounds of so many steps each or, of
buffered rows, whose clients do not go in step, their mean. A method has one colour everywhere and is dashed where it is
buffered; what is no method has a colour and a dash that nothing else in its panel has. What learns nothing is a note and
no line, since it would press all others together."""

import argparse
import itertools
import json
import math
import pathlib
import sys
import tomllib
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

import language_vary
from cells import SCORE_OF_RUN, TREE, Cell, perplexities_in, rows_of

EXAMPLES, EVIDENCE = TREE / "deploy/examples/comigs", TREE / "docs/evidence/runs"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000", "#56b4e9", "#999999")
DASHES = ("", "6 3", "2 2", "9 3 2 3")
OF_METHODS = dict(zip(("local_lora", "fedavg_lora", "pfedmoe", "comigs_2s", "comigs_2g", "comigs"), COLOURS))
BUFFERED, STILL = ", buffered", "pretrained"
LEFT, RIGHT, ABOVE, BELOW, LINE = 44, 14, 36, 34, 14  # Of a panel's plot, and the height of a line of words.
LEGEND_STEP = 120  # From one name to the next, where they are beside each other.
X_TITLE, Y_TITLE = "steps of a client", "perplexity, mean of clients"
X_TITLE_BUFFERED = "steps of a client; of buffered rows (dashed) the mean of clients"

SPECIALISTS = {"1 specialist": "much text: 1 specialist", "3": "much text: 3 specialists", "7": "much text: 7 specialists"}
EXPERTS = {"2 experts": "much text: 1 specialist", "4": "little text: 4 experts", "8": "little text: 8 experts"}
PARTNERS = {f"others have {n}": f"little text: the generalist alone, others {n}" for n in (2, 4, 8)}
STUDIES = [("German", 1, "all of the text", SPECIALISTS), ("French", 2, "all of the text", SPECIALISTS),
           ("Italian", 3, "little text", EXPERTS), ("Dutch", 4, "little text", EXPERTS),
           ("Italian", 3, "the generalist alone", PARTNERS), ("Dutch", 4, "the generalist alone", PARTNERS)]


@dataclass
class Panel:
    title: str
    lines: dict  # {row: [(steps, perplexity)]}
    notes: list = field(default_factory=list)

    def __post_init__(self):
        self.notes += [f"{x} {self.lines.pop(x)[-1][1]:.1f} is not drawn" for x in [STILL] if x in self.lines]


@dataclass
class Figure:
    rows: list  # Of panels.
    wide: int = 430
    high: int = 230  # Of a panel's plot, with what is around it.
    scores: str = Y_TITLE
    one_legend: bool = False  # Of all panels, above them; else each has its own, with what lines end at.

    @property
    def across(self):
        return max(map(len, self.rows))


def styles(rows):
    """{row: (colour, dash)}, no two of them the same."""
    out = {}
    for x in rows:
        method = x.removesuffix(BUFFERED)
        if method in OF_METHODS:
            out[x] = (OF_METHODS[method], DASHES[method != x])
    free = (x for x in ((colour, dash) for dash, colour in itertools.product(DASHES, COLOURS)) if x not in out.values())
    for x in rows:
        if x not in out:
            out[x] = next(free)
    return out


def ticks(least, most, count=4):
    """Round numbers between the two."""
    rough = max(most - least, 1e-9) / count
    power = 10 ** math.floor(math.log10(rough))
    step = next(x * power for x in (1, 2, 2.5, 5, 10) if x * power >= rough)
    return [k * step for k in range(math.ceil(least / step), math.floor(most / step) + 1)]


def words(x, y, what, colour="#000", anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{more}>{escape(what)}</text>'


def line(points, colour, dash="", thick=1.6):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" '
            f'stroke-width="{thick}"{dashed}/>')


def entry(x, y, row, style, ending=""):
    """Of a legend: how a row's line looks, and its name."""
    return [line([(x, y - 4), (x + 24, y - 4)], *style), words(x + 30, y, row + ending)]


def plot(panel, at, top, figure):
    """A panel's axes, lines and, if it has one of its own, legend: of who ends highest first, as lines do."""
    last = max(x for points in panel.lines.values() for x, _ in points)
    values = [y for points in panel.lines.values() for _, y in points]
    room = 0.04 * (max(values) - min(values))
    least, most = min(values) - room, max(values) + room
    low, end = top + figure.high - BELOW, at + figure.wide - RIGHT
    x_of = lambda x: at + LEFT + (end - at - LEFT) * x / last
    y_of = lambda y: low - (low - top - ABOVE) * (y - least) / max(most - least, 1e-9)
    out = [words(at + LEFT, top + 14, panel.title, more=' font-weight="bold"'), words(at + LEFT, top + 28, figure.scores if figure.one_legend else f"{figure.scores}; in brackets at the end", "#555")]
    for y in ticks(least, most):
        out += [line([(at + LEFT, y_of(y)), (end, y_of(y))], "#ddd", thick=1), words(at + LEFT - 4, y_of(y) + 4, f"{y:g}", anchor="end")]
    for x in ticks(0, last):
        out += [line([(x_of(x), low), (x_of(x), low + 4)], "#555", thick=1), words(x_of(x), low + 15, f"{x:g}", anchor="middle")]
    is_buffered = any(x.endswith(BUFFERED) for x in panel.lines)
    out += [line([(at + LEFT, low), (end, low)], "#555", thick=1),
            words((at + LEFT + end) / 2, low + 29, X_TITLE_BUFFERED if is_buffered else X_TITLE, "#555", "middle")]
    style = styles(panel.lines)
    for row, points in panel.lines.items():
        out.append(line([(x_of(x), y_of(y)) for x, y in points], *style[row]))
    below = top + figure.high + LINE
    if not figure.one_legend:
        for row, points in sorted(panel.lines.items(), key=lambda x: -x[1][-1][1]):
            out += entry(at + LEFT, below, row, style[row], f" ({points[-1][1]:.1f})")
            below += LINE
    return out + [words(at + LEFT, below + LINE * i, x, "#555") for i, x in enumerate(panel.notes)]


def draw(figure, path):
    lines_of = lambda panel: len(panel.notes) + (0 if figure.one_legend else len(panel.lines))
    out, top = [], 4
    if figure.one_legend:
        names = dict.fromkeys(x for row in figure.rows for panel in row for x in panel.lines)
        for i, (row, style) in enumerate(styles(names).items()):
            out += entry(LEFT + LEGEND_STEP * i, 18, row, style)
        top = 28
    for row in figure.rows:
        for k, panel in enumerate(row):
            out += plot(panel, figure.wide * k, top, figure)
        top += figure.high + LINE * (max(map(lines_of, row)) + 1)
    size = figure.wide * figure.across, top
    path.write_text("\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" font-size="11">',
        f'<rect width="{size[0]}" height="{size[1]}" fill="#fff"/>', *out, "</svg>"]) + "\n", encoding="utf-8")


def steps_of(said, example, score=SCORE_OF_RUN):
    """[(steps that a client has made, perplexity)] of a run: one that is scored twice at its end has its end once."""
    table = tomllib.loads((EXAMPLES / f"{example}.toml").read_text(encoding="utf-8"))
    curve = dict(perplexities_in(said, score))
    end = said["visits"] * table["training"]["local_steps"] / len(table["data"]["users"])
    return [(v * end / max(curve), y) for v, y in sorted(curve.items())]


def found(lines, study, rows, example):
    """Of the rows that there are lines of, {row: curve}."""
    names = {x: Cell(study, x, 1, None).name for x in rows}
    return {x: steps_of(lines[name]["said"], example) for x, name in names.items() if name in lines}


def small(lines):
    """Studies of the small scale. Rows of unequal experts with all of some users' texts have a panel of their own."""
    panels = []
    for kind in ("languages", "kinds", "sections"):
        panels.append((kind, found(lines, kind, rows_of(EXAMPLES / f"sweep_{kind}.toml"), kind)))
    experts = found(lines, "experts", rows_of(EXAMPLES / "sweep_experts.toml"), "languages")
    for is_text, title in ((False, "languages: unequal experts"), (True, "languages: all German and French texts")):
        panels.append((title, {x: y for x, y in experts.items() if ("text" in x) == is_text}))
    made = [x for x in (Panel(f"{title}, seed 1", of) for title, of in panels) if x.lines]  # One may have a note alone.
    return Figure([made[i:i + 2] for i in range(0, len(made), 2)])


def users(lines):
    """Of unequal experts, user by user: who has much text and more specialists, who has little and more experts, and who has the
    generalist alone while others have more. Earlier runs kept a user's own perplexity of models as they were merged alone."""
    studied = [Cell("experts", row, 1, None).name for *_, names in STUDIES for row in names.values()]
    is_kept = all(perplexities_in(lines[x]["said"], f"{SCORE_OF_RUN}.1") for x in studied if x in lines)
    score, rows = SCORE_OF_RUN if is_kept else "perplexity_merged", []
    for who, one, title, names in STUDIES:
        made = {}
        for name, row in names.items():
            of = lines.get(Cell("experts", row, 1, None).name)
            if of:
                made[name] = steps_of(of["said"], "languages", f"{score}.{one}")
        rows.append(Panel(f"{who}: {title}", made))
    rows = [x for x in rows if x.lines]
    return Figure([rows[i:i + 2] for i in range(0, len(rows), 2)], wide=360, scores="perplexity" if is_kept else "perplexity as merged")


def vary(lines, defaults):
    """Of each thing that there are lines of the small scale's own panel, and then one for each setting: three in a row."""
    order = [x for x in OF_METHODS if x in language_vary.FIRST]
    home, rows = found(defaults, "languages", order, "languages"), []
    for thing, settings in language_vary.THINGS.items():
        drawn = {language_vary.DEFAULT: home}
        for name, x in settings.items():
            of = {f"{m}, {name}": m for m in language_vary.methods_of(x)}
            made = {of[row]: curve for row, curve in found(lines, thing, of, "languages").items()}
            if made:
                lent = {m: curve for m, curve in drawn.get(x.like, {}).items() if m not in language_vary.WATCHERS}
                drawn[name] = {m: (lent | made)[m] for m in order if m in lent | made}
        made = [Panel(f"{thing}: {name}", curves) for name, curves in drawn.items() if curves]
        if len(drawn) > 1:
            rows += [made[i:i + 3] for i in range(0, len(made), 3)]
    return Figure(rows, wide=290, high=210, one_legend=True)


def lines_in(file):
    found_in = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {x["name"]: x for x in map(json.loads, found_in)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=["small", "users", "vary"])
    parser.add_argument("to", type=pathlib.Path)
    x = parser.parse_args()
    of_small = lines_in(EVIDENCE / "language_small.jsonl")
    of_others = lines_in(EVIDENCE / "language_vary.jsonl")
    figure = {"small": lambda: small(of_small), "users": lambda: users(of_small), "vary": lambda: vary(of_others, of_small)}[x.which]()
    if not figure.rows:
        sys.exit(f"{EVIDENCE}: there is no line of {x.which} yet")
    draw(figure, x.to)
    return 0


if __name__ == "__main__":
    sys.exit(main())
