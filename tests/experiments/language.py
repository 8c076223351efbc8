#!/usr/bin/env python3
"""CoMiGS and PF2LoRA on texts, beside what they are compared with; prints tables for docs/methods.md.

  language.py EXECUTABLE FOLDER TEXTS small | vary | real | ddome
  language.py EXECUTABLE FOLDER TEXTS vary --dry-run    says which runs there are, and checks what is not made yet

TEXTS is what `./dev data language` made. FOLDER keeps each run's end, so one that was cut off goes on where it stopped; for
another program take another folder. docs/evidence/runs keeps it for other machines and later trees (cells.py). Each is hours
of two cores (docs/methods.md has calculated how many), and say at the end what holds.

  small   a model of 1.3 million weights, which is pretrained here and kept in TEXTS: CoMiGS on languages, three seeds, with the
          bounds R1, R2, R4 and R5 of its publication; kinds and sections, unequal experts and texts, and what generalists are
          worth out of distribution, one seed, reported
  vary    the same on languages with one thing changed at a time (language_vary.py): steps, rate, rank, rows for validation and
          the base. One seed, reported
  real    SmolLM2 (134 million) on languages, one seed; MiniLM (22 million) under PF2LoRA, more and more sorted. All reported
  ddome   the sweep of deploy/examples/ddome/sections.toml, one seed, reported"""

import argparse
import hashlib
import itertools
import json
import pathlib
import statistics
import subprocess
import sys

import language_curves
import language_vary
from cells import TREE, Bounds, Cell, Evidence, Maker, digest_of, mean, perplexities_in, rows_of, value

EXAMPLES, EVIDENCE = TREE / "deploy/examples", TREE / "docs/evidence/runs"
METHODS = ["local_lora", "fedavg_lora", "pfedmoe", "comigs_2s", "comigs_2g", "comigs"]
BUFFERED = [f"{x}, buffered" for x in ("fedavg_lora", "pfedmoe", "comigs_2g", "comigs")]  # The others send nothing.
SEEDS = (1, 2, 3)
PRETRAINING_SECONDS_MAX = 20 * 60
FRACTIONS = ("0.3", "0.6", "0.9", "1.0")
MERGED, LEFT = "per_client.mean", "accuracy_left"  # Accuracies of what is merged, and of what each client left.
SIZES = ("tokens", "validation_tokens", "test_tokens")
SHIFTED, AT_HOME = "out of distribution", "in distribution"
ROUTED = {SHIFTED: ["events=true"], AT_HOME: ["events=true", "mixed=false"]}
GATED = {"zero_shot.mean": ("zero-shot, %", 100), "zero_shot.worst": ("worst", 100), "majority_accuracy": ("majority, %", 100),
         "experts_used": ("experts in use", 1), "gate_entropy": ("gate's entropy", 1), "bytes_up": ("MiB up", 1 / 2**20),
         "bytes_down": ("MiB down", 1 / 2**20), "wall_seconds": ("seconds", 1)}


def ran(*command):
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def base_in(texts, changes=()):
    """Where the small model is, by what it is made of: another text or another example makes another one."""
    made_of = (EXAMPLES / "comigs/pretrain.toml").read_bytes() + digest_of(texts / "languages").encode()
    made_of += "".join(f"\0{x}" for x in changes).encode()
    return texts / "models" / f"small-{hashlib.sha256(made_of).hexdigest()[:12]}"


def pretrained(troupe, texts, bounds, changes=()):
    """The small model, or another one where something is changed of its example. Of the small one its seconds have a bound."""
    to = base_in(texts, changes)
    if (to / "config.json").exists():
        return to
    words = to.with_name(to.name + "-tokens")
    ran(troupe, "data", "tokenizer", texts / "languages/en", "--size", 4096, "--to", words)
    changed = [y for x in changes for y in ("--set", x)]
    said = json.loads(ran(
        troupe, "run", EXAMPLES / "comigs/pretrain.toml", "--format", "json", "--folder", to.with_name(to.name + "-runs"),
        "--set", f"tokenizer={words}", "--set", f"data.path={texts / 'languages'}", "--set", f"cache={texts / 'cache'}",
        "--set", "events=false", *changed))
    ran(troupe, "export", said["folder"], "--block", "model", "--to", to)
    what = f"pretrained to perplexity {said['perplexity']:.2f} in {said['wall_seconds']:.0f} s"
    if changes:
        print(f"{', '.join(changes)}: {what}", flush=True)
    else:
        bounds.hold(f"{what}, at most {PRETRAINING_SECONDS_MAX} wanted", said["wall_seconds"] <= PRETRAINING_SECONDS_MAX)
    return to


def check_users_are_equal(said, what):
    """Of what `data inspect` says: perplexities of users are compared, so they have as much to learn from and to be asked."""
    of = {x["user"]: tuple(x[size] for size in SIZES) for x in said["clients"]}
    if len(set(of.values())) != 1:
        sys.exit(f"language.py: users of {what} differ in {', '.join(SIZES)}: {of}; fewer tokens for all would do")


def check_equal(troupe, example, changes, seeds):
    """Of each seed: another one deals other documents into the parts, and so other numbers of tokens."""
    for seed in seeds:
        sets = [y for x in [*changes, f"seed={seed}"] for y in ("--set", x)]
        said = json.loads(ran(troupe, "data", "inspect", example, *sets, "--format", "json"))
        check_users_are_equal(said, f"{example} of seed {seed}")


def cells_of(study, example, rows, seeds, changes):
    return [Cell(study, row, seed, example, [*changes, *more]) for row, more in rows.items() for seed in seeds]


def best(said):
    """Of a run's curve the least, and by how much its end is above it."""
    found = [x for _, x in perplexities_in(said)]
    return min(found), found[-1] / min(found) - 1


def show_perplexities(title, rows):
    print(f"\n{title}\n\n| | seeds | perplexity, mean of clients | ± | as merged | least on the way | end above it, % | MiB up "
          "| seconds |\n" + "| --- " * 9 + "|")
    for name, said in rows.items():
        middle, spread = mean(rows, name, "clients_perplexity")
        merged = [value(x, "perplexity_merged") for x in said]
        ends = [best(x) for x in said]
        cells = [str(len(said)), f"{middle:.3f}", f"{spread:.3f}" if spread is not None else "",
                 f"{statistics.mean(merged):.3f}" if None not in merged else "", f"{statistics.mean(x[0] for x in ends):.3f}",
                 f"{100 * statistics.mean(x[1] for x in ends):.2f}",
                 f"{statistics.mean(x['bytes_up'] for x in said) / 2**20:.2f}",
                 f"{statistics.mean(x['wall_seconds'] for x in said):.0f}"]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(flush=True)


def relations(rows, kind=""):
    """Of the publication's claims, (what, whether it is so), by those methods that there are rows of: {kind} of who sends, as in
    ', buffered'."""
    name = {x: x + (kind if x + kind in rows else "") for x in METHODS}
    of = {x: mean(rows, name[x], "clients_perplexity")[0] for x in METHODS if name[x] in rows}
    plain, kinds = ([x for x in those if x in of] for those in (("local_lora", "fedavg_lora"), ("comigs_2s", "comigs_2g")))
    better = min(of[x] for x in kinds)
    said = lambda *those: ", ".join(f"{name[x]} {of[x]:.3f}" for x in those)
    return [*((f"R4: {said(ours, theirs)}", of[ours] < of[theirs]) for ours, theirs in zip(kinds, plain)),
            (f"R5: {said('comigs', 'pfedmoe')}", of["comigs"] < of["pfedmoe"]),
            (f"R1: {said('comigs', *plain)}", of["comigs"] < min(of[x] for x in plain)),
            (f"R2: comigs{kind} {100 * (of['comigs'] / better - 1):+.2f} % from {'the better of 2S and 2G' if kinds[1:] else name[kinds[0]]}, "
             "at most 8 wanted", of["comigs"] <= 1.08 * better)]


def generalist_of(said):
    """Of a run that was looked into: what the generalist is worth to each client's routers at the end, the mean of layers."""
    return {x["client"]: statistics.mean(x["scores"]) for x in said["routing"]["clients"]}


def shift(rows):
    """Of both runs of ROUTED (what, whether it is so): the mean over users, and how many of them lean on the generalist more."""
    shifted, home = (generalist_of(rows[x][0]) for x in (SHIFTED, AT_HOME))
    if shifted.keys() != home.keys():
        sys.exit(f"language.py: users {sorted(shifted)} and {sorted(home)} are not the same")
    of = [statistics.mean(x.values()) for x in (shifted, home)]
    more = sum(shifted[x] > home[x] for x in home)
    return [(f"the generalist's mean score is {of[0]:.4f} {SHIFTED} and {of[1]:.4f} {AT_HOME}", of[0] > of[1]),
            (f"it is more of {more} of {len(home)} users: "
             + ", ".join(f"{shifted[x]:.4f} and {home[x]:.4f}" for x in sorted(home)), more == len(home))]


def report(claims):
    for what, true in claims:
        print(("is so   " if true else "is not  ") + what, flush=True)


def show_figure(figure, to):
    language_curves.draw(figure, to)
    print(f"curves are in {to}", flush=True)


def small(troupe, folder, texts):
    bounds = Bounds()
    model = pretrained(troupe, texts, bounds)
    maker = Maker(troupe, folder, 2, Evidence(EVIDENCE / "language_small.jsonl", texts))
    here = [f"model.path={model}", f"cache={texts / 'cache'}", "workers=1"]
    of = lambda kind: [*here, f"data.path={texts / kind}"]
    sweep = lambda kind, wanted=None: rows_of(EXAMPLES / f"comigs/sweep_{kind}.toml", wanted)
    example = lambda kind: EXAMPLES / f"comigs/{kind}.toml"
    for kind, seeds in {"languages": SEEDS, "kinds": (1,), "sections": (1,)}.items():
        check_equal(troupe, example(kind), of(kind), seeds)
    rows = maker.make_all([*cells_of("languages", example("languages"), sweep("languages", METHODS), SEEDS, of("languages")),
                           *cells_of("languages", example("languages"), sweep("languages", ["pretrained", *BUFFERED]), (1,),
                                     of("languages"))])
    show_perplexities("Small, `languages`: de, fr, it, nl", rows)
    for what, true in relations(rows):
        bounds.hold(what, true)
    first = {x: said[:1] for x, said in rows.items()}
    print("\nThe same of the first seed, buffered where anything is sent:")
    report(relations(first, ", buffered"))
    for kind in ("kinds", "sections"):
        rows = maker.make_all(cells_of(kind, example(kind), sweep(kind, METHODS + BUFFERED), (1,), of(kind)))
        show_perplexities(f"Small, `{kind}`, one seed", rows)
        winner = min(("comigs_2s", "comigs_2g"), key=lambda x, rows=rows: mean(rows, x, "clients_perplexity")[0])
        print(f"R3: of 2S and 2G {winner} is better on {kind}")
        report(relations(rows))
        print("\nThe same, buffered where anything is sent:")
        report(relations(rows, ", buffered"))
    for changes in ROUTED.values():
        check_equal(troupe, example("sections"), [*of("sections"), *changes], (1,))
    rows = maker.make_all(cells_of("routing", example("sections"), ROUTED, (1,), of("sections")))
    show_perplexities("Small, `comigs` on `sections`: tests of all users' texts, and of each user's own", rows)
    report(shift(rows))
    rows = maker.make_all(cells_of("experts", example("languages"), sweep("experts"), (1,), of("languages")))
    show_perplexities("Small, `languages`: unequal experts and texts, one seed", rows)
    show_figure(language_curves.small(maker.evidence.lines), folder / "curves.svg")
    return bounds.wrong


def vary(troupe, folder, texts, is_dry=False):
    """Of each thing the runs, then its table. Defaults are those of `small`, one of which by lot is made again in the end."""
    bounds, example = Bounds(), EXAMPLES / "comigs/languages.toml"
    here = [f"cache={texts / 'cache'}", "workers=1", f"data.path={texts / 'languages'}"]
    first = base_in(texts) if is_dry else pretrained(troupe, texts, bounds)
    of_small = Maker(troupe, folder, 2, Evidence(EVIDENCE / "language_small.jsonl", texts))
    maker = Maker(troupe, folder, 2, Evidence(EVIDENCE / "language_vary.jsonl", texts))
    defaults = cells_of("languages", example, rows_of(EXAMPLES / "comigs/sweep_languages.toml", language_vary.FIRST), (1,),
                        [f"model.path={first}", *here])
    model_of = lambda changes: base_in(texts, changes) if is_dry else pretrained(troupe, texts, bounds, changes)
    if is_dry:
        plans = [(of_small, defaults), *((maker, language_vary.cells_of(x, example, here, model_of)) for x in language_vary.THINGS)]
        return sum(language_vary.show_plan(who, cells, first) for who, cells in plans)
    for thing, settings in language_vary.THINGS.items():
        cells = language_vary.cells_of(thing, example, here, model_of)
        for x in settings.values():
            check_equal(troupe, example, [f"model.path={model_of(x.base)}", *here, *x.changes], (1,))
        rows, known = maker.make_all(cells), {x.row: [of_small.make(x)] for x in defaults}
        language_vary.show(thing, language_vary.settings_in(thing, rows, known), relations)
    show_figure(language_curves.vary(maker.evidence.lines, of_small.evidence.lines), folder / "vary.svg")
    of_small.prove(defaults)
    return bounds.wrong


def show_accuracies(rows):
    print("\nReal, MiniLM over sections, 8 clients\n\n| | accuracy, mean of clients, % | as they left it, % | majority, % | seconds |\n" + "| --- " * 5 + "|")
    for name in rows:
        accuracy, left, majority = (100 * mean(rows, name, x)[0] for x in (MERGED, LEFT, "majority_accuracy"))
        print(f"| {name} | {accuracy:.2f} | {left:.2f} | {majority:.2f} | {mean(rows, name, 'wall_seconds')[0]:.0f} |")
    print(flush=True)


def gaps_of(said, kind="", ours="pf2lora", score=MERGED):
    """Of PF2LoRA's claims, (what, whether it is so): {kind} of who sends, as in ', buffered', and {ours} of its rows."""
    of = lambda method, h: 100 * mean(said, f"{method}, {h}{kind}", score)[0]
    gaps = [of(ours, h) - of("homlora", h) for h in FRACTIONS]
    return [("the gap to HOMLoRA grows with the fraction: " + ", ".join(f"{x:+.2f}" for x in gaps), gaps == sorted(gaps)),
            ("PF2LoRA stays within 5 points of its value at 0.3",
             all(of(ours, h) >= of(ours, "0.3") - 5 for h in FRACTIONS)),
            ("HOMLoRA of rank 12 is below PF2LoRA", all(of("homlora of rank 12", h) < of(ours, h) for h in FRACTIONS))]


def in_updates(rows, updates, versions):
    """Buffered rows for a run of other length, which is scored at its end."""
    return {name: [*more, f"updates={updates}", f"evaluate_every={versions}"] for name, more in rows.items()}


def of_sorted(sweep):
    """One thing changed at a time where all rows are sorted."""
    rows = rows_of(sweep, ["pf2lora, 1.0", "homlora, 1.0"])
    own = {f"{name}, heads of their own": [*more, "options.head=private"] for name, more in rows.items()}
    return {"pf2lora at 0.01, 1.0": [*rows["pf2lora, 1.0"], "options.inner_rate=0.01"], **own}


def real(troupe, folder, texts):
    maker = Maker(troupe, folder, 1, Evidence(EVIDENCE / "language_real.jsonl", texts))
    example, sweep = EXAMPLES / "comigs/languages.toml", EXAMPLES / "comigs/sweep_languages.toml"
    changes = [f"model.path={texts / 'models/SmolLM2-135M-Instruct.Q4_1.gguf'}", "storage=as_stored", "batch_size=4", "rounds=6",
               "evaluate_every=6", "own_steps=60", "data.tokens=110000", "validation_tokens=10240", "test_tokens=5121",
               f"data.path={texts / 'languages'}", f"cache={texts / 'cache'}", "workers=2"]
    check_equal(troupe, example, changes, (1,))
    rows = rows_of(sweep, ["pretrained", *METHODS]) | in_updates(rows_of(sweep, BUFFERED), 24, 12)
    said = maker.make_all(cells_of("real", example, rows, (1,), changes))
    show_perplexities("Real, SmolLM2-135M on `languages`, 4 x 128, 60 steps", said)
    report(relations(said))
    print("\nThe same, buffered where anything is sent:")
    report(relations(said, ", buffered"))
    example, sweep = EXAMPLES / "pf2lora/sections.toml", EXAMPLES / "pf2lora/sweep_sections.toml"
    names = [f"{m}, {h}" for h in FRACTIONS for m in ("homlora", "homlora of rank 12", "pf2lora")]
    rows = rows_of(sweep, names) | in_updates(rows_of(sweep, [f"{x}, buffered" for x in names]), 80, 20)
    changes = [f"model.path={texts / 'models/all-MiniLM-L6-v2'}", f"data.path={texts / 'sections'}", "rounds=10",
               "evaluate_every=10", "workers=2"]
    steeper = {name.replace("pf2lora", "pf2lora at 0.1"): [*more, "options.inner_rate=0.1"]
               for name, more in rows.items() if name.startswith("pf2lora")}
    said = maker.make_all(cells_of("real", example, rows | steeper | of_sorted(sweep), (1,), changes))
    show_accuracies(said)
    for ours, kind, score in itertools.product(("pf2lora", "pf2lora at 0.1"), ("", ", buffered"), (MERGED, LEFT)):
        print(f"\n{ours}{kind}, {'as merged' if score == MERGED else 'as clients left it'}:")
        report(gaps_of(said, kind, ours, score))
    return 0


def gated_row(rows, name):
    """Of a row of DDOME's sweep, the cells of its table: what its method does not say is left empty."""
    cells = []
    for path, (_, factor) in GATED.items():
        is_said = all(value(x, path) is not None for x in rows[name])
        cells.append(f"{factor * mean(rows, name, path)[0]:.2f}" if is_said else "")
    return cells


def rows_over(rows, texts):
    """What a sweep's rows name of build/language is there in TEXTS."""
    return {name: [x.replace("build/language", str(texts)) for x in changes] for name, changes in rows.items()}


def ddome(troupe, folder, texts):
    maker = Maker(troupe, folder, 2, Evidence(EVIDENCE / "language_ddome.jsonl", texts))
    encoder = texts / "models/all-MiniLM-L6-v2"
    changes = [f"data.path={texts / 'sections'}", f"data.tokenizer={encoder}", f"common_model.path={encoder}", "workers=1"]
    sweep = rows_over(rows_of(EXAMPLES / "ddome/sweep_sections.toml"), texts)
    rows = maker.make_all(cells_of("ddome", EXAMPLES / "ddome/sections.toml", sweep, (1,), changes))
    print("\nDDOME on `sections`\n\n| | " + " | ".join(x[0] for x in GATED.values()) + " |\n" + "| --- " * (len(GATED) + 1) + "|")
    for name in rows:
        print(f"| {name} | " + " | ".join(gated_row(rows, name)) + " |")
    print(flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("troupe", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path)
    parser.add_argument("which", choices=["small", "vary", "real", "ddome"])
    parser.add_argument("--dry-run", action="store_true")
    x = parser.parse_args()
    if x.dry_run and x.which != "vary":
        parser.error("--dry-run is of vary")
    x.folder.mkdir(parents=True, exist_ok=True)
    EVIDENCE.mkdir(parents=True, exist_ok=True)
    where = (x.troupe.resolve(), x.folder.resolve(), x.texts.resolve())
    wrong = vary(*where, x.dry_run) if x.which == "vary" else {"small": small, "real": real, "ddome": ddome}[x.which](*where)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
