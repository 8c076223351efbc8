"""In what the small scale of language is varied, one thing at a time, and the table of each.

Cosines last as long as a run, so a run of 800 steps is at its 200th not where one of 200 ends. Routers have a burst after
every thirty steps of however many, and CoMiGS's their own rate, which stays. Half and a quarter of the validation rows are cut
from the same texts. More of them leave fewer tokens to learn from, so twice as many stand beside as many as ever of the same
texts. A base has its own pretraining, of the same texts and steps. Methods are those by which the missed claims are decided: FedAvg
and 2G are 75 above Local and 2S in the small scale, with seed 1."""

import shlex
import subprocess
from dataclasses import dataclass

from cells import Cell, perplexities_in, value

DEFAULT = "as in small"
FIRST = ["comigs", "local_lora", "pfedmoe", "comigs_2s"]  # What says most.
WATCHERS = ["comigs", "comigs_2s"]  # Whose routers learn from validation rows. Others look at none in training.
MORE_TO_WATCH = ["validation_share=0.4", "data.tokens=97000"]
FEWER, TWICE = "of 97,000 tokens: 40,000", "of 97,000 tokens: 80,000"


@dataclass
class Setting:
    """One thing changed: of the runs, or of the base that they adapt."""

    changes: list
    base: tuple = ()
    like: str = ""  # The setting that all but WATCHERS have the same runs of.


THINGS = {
    "steps": {"400": Setting(["rounds=40", "own_steps=400"]), "800": Setting(["rounds=80", "own_steps=800"])},
    "rate": {"x 0.3": Setting(["learning_rate=0.0006"]), "x 3": Setting(["learning_rate=0.006"])},
    "rank": {"4": Setting(["options.rank=4"]), "16": Setting(["options.rank=16"])},
    "validation": {
        "20,000": Setting(["validation_tokens=20000"], like=DEFAULT),
        "10,000": Setting(["validation_tokens=10000"], like=DEFAULT),
        FEWER: Setting(MORE_TO_WATCH),
        TWICE: Setting([*MORE_TO_WATCH, "validation_tokens=80000"], like=FEWER),
    },
    "base": {"width 64": Setting([], base=("embedding=64",)), "width 256": Setting([], base=("embedding=256",))},
}


def methods_of(setting):
    return [x for x in FIRST if not setting.like or x in WATCHERS]


def cells_of(thing, example, here, model_of):
    """Of all its settings, what says most first, and the longest. @param model_of the folder of a base, by what is changed of it"""
    return [Cell(thing, f"{method}, {name}", 1, example, [f"model.path={model_of(x.base)}", *here, f"method={method}", *x.changes])
            for method in FIRST for name, x in reversed(THINGS[thing].items()) if method in methods_of(x)]


def settings_in(thing, rows, defaults):
    """{setting: {method: what its seeds said}}, the small scale's own first."""
    out = {DEFAULT: {x: defaults[x] for x in FIRST}}
    for name, x in THINGS[thing].items():
        out[name] = {m: rows[f"{m}, {name}"] if m in methods_of(x) else out[x.like][m] for m in FIRST}
    return out


def perplexity_in(said):
    """Where it ended, and the least on the way where that is less."""
    end, least = value(said, "clients_perplexity"), min(x for _, x in perplexities_in(said))
    return f"{end:.3f}" + (f" ({least:.3f})" if least < end - 0.0005 else "")


def show(thing, settings, relations):
    """A row for each setting, and its claims in numbers. @param relations language.relations"""
    claims = {name: relations(rows) for name, rows in settings.items()}
    heads = [thing, *FIRST, *(what.partition(":")[0] for what, _ in claims[DEFAULT])]
    print(f"\nSmall, `languages`, one seed, {thing} varied; in brackets the least on the way\n\n| " + " | ".join(heads) + " |\n"
          + "| --- " * len(heads) + "|")
    for name, rows in settings.items():
        cells = [perplexity_in(rows[x][0]) for x in FIRST] + ["is so" if true else "is not" for _, true in claims[name]]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()
    for name in THINGS[thing]:
        for what, true in claims[name]:
            print(f"{'is so   ' if true else 'is not  '}{thing} {name}: {what}")
    print(flush=True)


def checked(*command):
    """What `check-config` says of what would be run."""
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    return "usable" if done.returncode == 0 else f"NOT USABLE: {done.stdout}{done.stderr}".strip()


def show_plan(maker, cells, model_of_default):
    """Each cell: whether it is made, or would be and is usable, with its command. @return how many are not usable"""
    wrong = 0
    for cell in cells:
        command = [str(x) for x in maker.started(cell)]
        if maker.is_made(cell):
            state = "made"
        elif "--resume" in command:
            state = "begun"
        else:
            base = cell.changes[0].removeprefix("model.path=")
            there = [x.replace(base, str(model_of_default)) if cell.study == "base" else x for x in command[2:]]
            state = checked(maker.troupe, "check-config", *there)
            wrong += state != "usable"
        print(f"{cell.name}: {state}\n    {shlex.join(command)}")
    return wrong
