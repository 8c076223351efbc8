"""What tests/experiments/language.py varies, its plan and its tables, and what language_curves.py draws, of lines that are made
up: language_figures.py SCRATCH."""

import contextlib
import io
import pathlib
import re
import sys
import tomllib

sys.path.insert(0, "tests/experiments")
import language
import language_curves
import language_vary
from cells import Cell, Evidence, Maker, processor

EXAMPLE = language.EXAMPLES / "comigs/languages.toml"


def check(found, meant, what):
    if found != meant:
        sys.exit(f"{what}: {found} and not {meant}")


def cells(thing):
    return language_vary.cells_of(thing, EXAMPLE, ["cache=c"], lambda changes: "-".join(("base", *changes)))


def ended(perplexity, visits=80, curve=None):
    curve = curve or [[5, perplexity + 1], [20, perplexity], [20, perplexity]]
    return {"clients_perplexity": perplexity, "visits": visits, "method_results": {},
            "curve": [[v, {"clients_perplexity": x}] for v, x in curve]}


def check_cells():
    """What says most comes first, and one thing alone is another one than in the small scale."""
    check([x.name for x in cells("steps")][:4],
          ["steps.comigs--800.1", "steps.comigs--400.1", "steps.local_lora--800.1", "steps.local_lora--400.1"], "the first runs")
    check([x.row for x in cells("base")][-1], "comigs_2s, width 64", "the last run")
    check([x.changes for x in cells("rate") if x.row == "pfedmoe, x 3"],
          [["model.path=base", "cache=c", "method=pfedmoe", "learning_rate=0.006"]], "a rate")
    check([x.changes for x in cells("base") if x.row == "comigs, width 64"],
          [["model.path=base-embedding=64", "cache=c", "method=comigs"]], "another base")
    steps = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))["training"]["local_steps"]
    for name, x in language_vary.THINGS["steps"].items():
        check(x.changes, [f"rounds={int(name) // steps}", f"own_steps={name}"], "a schedule as long as its run")
    # Whose routers are of validation rows is run for each number of them; others where texts are other ones.
    rows = [x.row for x in cells("validation")]
    check([sum(x.startswith(f"{m},") for x in rows) for m in ("comigs", "local_lora")], [4, 1], "runs of rows for validation")


def check_settings():
    """Who looks at no validation rows is shown with what it came to of the same texts."""
    defaults = {m: [ended(x)] for x, m in enumerate(language.METHODS, 300)}
    rows = {x.row: [ended(400 + i)] for i, x in enumerate(cells("validation"))}
    of = language_vary.settings_in("validation", rows, defaults)
    check(list(of), ["as in small", "20,000", "10,000", language_vary.FEWER, language_vary.TWICE], "settings")
    for name, meant in (("20,000", defaults["pfedmoe"]), (language_vary.TWICE, rows[f"pfedmoe, {language_vary.FEWER}"])):
        check(of[name]["pfedmoe"], meant, f"pfedmoe beside {name}")
    check(of[language_vary.TWICE]["comigs"], rows[f"comigs, {language_vary.TWICE}"], "comigs of twice as many rows")


def check_table():
    ends = {"local_lora": 320, "fedavg_lora": 322, "pfedmoe": 319, "comigs_2s": 318, "comigs_2g": 321, "comigs": 318.5}
    rows = {f"{m}, 800": [ended(x)] for m, x in ends.items()} | {f"{m}, 400": [ended(x)] for m, x in ends.items()}
    rows["comigs, 400"] = [ended(400, curve=[[5, 399.5], [40, 400]])]
    rows["comigs, 400"][0]["curve"].insert(1, [20, {"perplexity_merged": 390}])  # Where no client was scored.
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        settings = language_vary.settings_in("steps", rows, {m: [ended(x)] for m, x in ends.items()})
        language_vary.show("steps", settings, language.relations)
    lines = said.getvalue().splitlines()
    check([x for x in lines if x.startswith("| 400 |")],
          ["| 400 | 400.000 (399.500) | 320.000 | 319.000 | 318.000 | is so | is not | is not | is not |"],
          "a row of a table")
    check([x for x in lines if "steps 800: R5" in x], ["is so   steps 800: R5: comigs 318.500, pfedmoe 319.000"], "a claim")


def check_relations():
    """Of all six methods the publication's bounds are the better of two, each way."""
    ends = {"local_lora": 320, "fedavg_lora": 322, "pfedmoe": 319, "comigs_2s": 290, "comigs_2g": 321, "comigs": 321}
    for swap in ({}, {"local_lora": 322, "fedavg_lora": 320, "comigs_2s": 321, "comigs_2g": 290}):
        said = language.relations({m: [ended(x)] for m, x in (ends | swap).items()})
        check([x for _, x in said], [True, True, False, False, False], "relations")
        check("+10.69 %" in said[-1][0], True, f"R2 of the better: {said[-1][0]}")


def check_plan(scratch):
    """Each run by its command; what `check-config` refuses counts, and what is made is not asked for."""
    troupe = scratch / "troupe"
    troupe.write_text('#!/bin/sh\ncase "$*" in check-config*rank=16*) echo "too much"; exit 1;; esac\n', encoding="utf-8")
    troupe.chmod(0o755)
    maker = Maker(troupe, scratch / "plan", 1, Evidence(scratch / "none.jsonl", scratch))
    (scratch / "plan/cells/rank.comigs--4.1.json").write_text("{}", encoding="utf-8")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        wrong = language_vary.show_plan(maker, cells("rank")[:4], "base")
    check(wrong, 2, "runs that are not usable")
    plan = re.findall(r"^(rank\S+): (.*)\n    \S+ run .*--set method=(\S+) --set options.rank=(\d+)", said.getvalue(), re.MULTILINE)
    check(plan, [("rank.comigs--16.1", "NOT USABLE: too much", "comigs", "16"), ("rank.comigs--4.1", "made", "comigs", "4"),
                 ("rank.local_lora--16.1", "NOT USABLE: too much", "local_lora", "16"),
                 ("rank.local_lora--4.1", "usable", "local_lora", "4")], "a plan")


def proof(scratch, before, now, here):
    """What is said of a run whose line is of before: the words that it ends with, or none."""
    cell = Cell("proof", "local_lora", 1, EXAMPLE)
    evidence = Evidence(scratch / "proof.jsonl", scratch)
    line = {"name": cell.name, "commit": "c", "made_of": evidence.made_of(cell), "said": before,
            "processor": processor() if here else "another"}
    evidence.lines[cell.name] = line
    maker = Maker("troupe", scratch / "proof", 1, evidence)
    maker.make_here = lambda cell, kept: now
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            maker.prove([cell])
    except SystemExit as why:
        return str(why)
    return ""


def check_proof(scratch):
    """Who merges nothing has one digest whatever it comes to; on another processor sums are rounded otherwise."""
    of = lambda perplexity, digest="d": ended(perplexity) | {"digest": digest}
    for before, now, here, meant in ((of(300), of(300), True, False), (of(300), of(301), True, True), (of(300), of(301), False, False),
                                     (of(300), of(320), False, True), (of(300), of(300, "e"), True, True)):
        check("not the same" in proof(scratch, before, now, here), meant, f"a run made again that is another one: {now} of {before}")


def check_kernels(scratch):
    """A line says by which kernels its run was computed, as the run itself said, also where it went on by others."""
    cell, evidence = Cell("kernels", "local_lora", 1, EXAMPLE), Evidence(scratch / "kernels.jsonl", scratch)
    (scratch / "kernels/logs").mkdir(parents=True)
    (scratch / "kernels/logs/run.log").write_text("fingerprint blas A\nfingerprint blas A\ncut off\nfingerprint blas B\n",
                                                  encoding="utf-8")
    evidence.keep(cell, ended(300) | {"folder": str(scratch / "kernels")})
    check(Evidence(evidence.file, scratch).of(cell).get("fingerprint"), "blas A, then blas B", "kernels of a line")


def check_bases(scratch):
    (scratch / "languages").mkdir()
    names = {language.base_in(scratch, x) for x in ((), ("embedding=64",), ("embedding=256",))}
    check(len(names), 3, "bases that are told apart")


def check_styles():
    rows = [f"row {k}" for k in range(20)]
    of = language_curves.styles([*rows, *language.METHODS, *language.BUFFERED])
    check(len(set(of.values())), len(of), "lines of a panel that can be told apart")
    solid = {x: of[x][0] for x in language.METHODS}
    for x in language.BUFFERED:
        check((of[x][0], bool(of[x][1])), (solid[x.removesuffix(", buffered")], True), f"the colour of {x}, and dashed")


def drawn(panel):
    return panel.title, list(panel.lines)


def check_small(scratch):
    """Buffered rows, which go by versions, are over the steps that their clients have made in the mean."""
    lines = {Cell(study, row, 1, None).name: {"said": said} for study, row, said in (
        ("languages", "pretrained", ended(984)), ("languages", "comigs", ended(328)), ("kinds", "comigs", ended(292)),
        ("languages", "comigs, buffered", ended(333, curve=[[5, 450], [10, 400], [40, 333], [40, 333]])),
        ("experts", "2,2,4,4", ended(323)), ("experts", "little text alone", ended(303)))}
    figure = language_curves.small(lines)
    check([drawn(x) for row in figure.rows for x in row], [
        ("languages, seed 1", ["comigs", "comigs, buffered"]), ("kinds, seed 1", ["comigs"]),
        ("languages: unequal experts, seed 1", ["2,2,4,4"]), ("languages: all German and French texts, seed 1", ["little text alone"]),
    ], "panels of the small scale")
    first = figure.rows[0][0]
    check(first.lines, {"comigs": [(50, 329), (200, 328)], "comigs, buffered": [(25, 450), (50, 400), (200, 333)]}, "steps of clients")
    check(first.notes, ["pretrained 984.0 is not drawn"], "a row that learns nothing")
    check(language_curves.small({"languages.pretrained.1": {"said": ended(984)}}).rows, [], "panels of what learns nothing")
    language_curves.draw(figure, scratch / "small.svg")
    text = (scratch / "small.svg").read_text(encoding="utf-8")
    titles = [text.count(f">{x}</text>") for x in (language_curves.X_TITLE, language_curves.X_TITLE_BUFFERED)]
    check(titles, [3, 1], "titles of axes")
    check(">comigs, buffered (333.0)</text>" in text, True, "a legend with ends")


def check_users():
    """What is drawn of a user is that user's own, and a study without lines has no panel."""
    curve = [[v, {"clients_perplexity": 1, "perplexity_merged.1": 10 + v, "perplexity_merged.4": 40 + v}] for v in (5, 20)]
    lines = {Cell("experts", "much text: 1 specialist", 1, None).name: {"said": ended(1) | {"curve": curve}}}
    figure = language_curves.users(lines)
    check([(x.title, x.lines) for row in figure.rows for x in row if x.title[:2] in ("Ge", "Du")],
          [("German: all of the text", {"1 specialist": [(50, 15), (200, 30)]}),
           ("Dutch: little text", {"2 experts": [(50, 45), (200, 60)]})], "panels of users")
    check(figure.scores, "perplexity as merged", "scores of runs that kept no others")
    for v, of in curve:
        of["clients_perplexity.1"] = 70 + v
    figure = language_curves.users(lines)
    check([x.lines for row in figure.rows for x in row][0], {"1 specialist": [(50, 75), (200, 90)]}, "what users use themselves")
    check(figure.scores, "perplexity", "scores of what users use themselves")


def check_varied(scratch):
    """A setting without lines has no panel, and its thing none either."""
    defaults = {f"languages.{m}.1": {"said": ended(300)} for m in language.METHODS}
    of = lambda thing, row, said: {Cell(thing, row, 1, None).name: {"said": said}}
    longer = ended(310, visits=320, curve=[[40, 320], [80, 310]])
    lines = of("steps", "comigs, 800", longer) | of("validation", "comigs, 10,000", ended(305))
    figure = language_curves.vary(lines, defaults)
    varied = [x for x in language.METHODS if x in language_vary.FIRST]
    check([[drawn(x) for x in row] for row in figure.rows], [
        [("steps: as in small", varied), ("steps: 800", ["comigs"])],
        [("validation: as in small", varied), ("validation: 10,000", ["local_lora", "pfedmoe", "comigs"])]], "panels of what is varied")
    check(figure.rows[0][1].lines["comigs"], [(400, 320), (800, 310)], "steps of a longer run")
    language_curves.draw(figure, scratch / "vary.svg")
    check((scratch / "vary.svg").read_text(encoding="utf-8").count(">comigs</text>"), 1, "legends for all panels")
    check(language_curves.vary({}, defaults).rows, [], "panels of nothing")


if __name__ == "__main__":
    at = pathlib.Path(sys.argv[1])
    at.mkdir()
    check_cells()
    check_settings()
    check_table()
    check_relations()
    check_plan(at)
    check_proof(at)
    check_kernels(at)
    check_bases(at)
    check_styles()
    check_small(at)
    check_users()
    check_varied(at)
