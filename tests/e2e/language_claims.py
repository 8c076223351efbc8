"""What tests/experiments/language.py compares and claims, of numbers that are made up: language_claims.py."""

import json
import sys

sys.path.insert(0, "tests/experiments")
import language


def check(found, meant, what):
    if found != meant:
        sys.exit(f"{what}: {found} and not {meant}")


def refusal(call, *arguments):
    """The words that it ends with; empty: it goes on."""
    try:
        call(*arguments)
    except SystemExit as why:
        return str(why)
    return ""


def user(name, tokens):
    return {"user": name, "tokens": tokens, "validation_tokens": 2, "test_tokens": 1}


def check_users():
    """Users whose perplexities are compared have as much text each."""
    language.check_users_are_equal({"clients": [user("de", 9), user("nl", 9)]}, "x")
    if "users of x differ in tokens" not in refusal(language.check_users_are_equal, {"clients": [user("de", 9), user("nl", 7)]}, "x"):
        sys.exit("users that differ are compared")
    # Of each seed, which deals texts otherwise: here the third leaves too few.
    language.ran = lambda *command: json.dumps({"clients": [user("de", 9), user("nl", 7 if "seed=3" in command else 9)]})
    language.check_equal("troupe", "x", ["data.tokens=9"], language.SEEDS[:2])
    said = refusal(language.check_equal, "troupe", "x", ["data.tokens=9"], language.SEEDS)
    if "users of x of seed 3 differ in tokens" not in said:
        sys.exit("users of the third seed are not looked at")


def check_rows():
    """What is asked of sweeps is there."""
    for kind in ("languages", "kinds", "sections"):
        language.rows_of(language.EXAMPLES / f"comigs/sweep_{kind}.toml", [*language.METHODS, *language.BUFFERED])
        # What stands for two tables of CoMiGS: a balance where it moves something, and routers of training rows under each kind.
        four = [f"comigs (2,2,4,4){x}" for x in ("", ", uniform balance", ", no balance")]
        trained = [f"{x}, routers from training rows" for x in ("comigs", "comigs_2s", "comigs_2g")]
        rows = language.rows_of(language.EXAMPLES / f"comigs/sweep_{kind}.toml", [*four, *trained])
        if not all("training.experts=[2,2,4,4]" in rows[x] for x in four):
            sys.exit(f"{kind}: the balance of two experts is none")
        if not all("options.router_data=training" in rows[x] for x in trained):
            sys.exit(f"{kind}: routers learn from validation rows")
    language.rows_of(language.EXAMPLES / "pf2lora/sweep_sections.toml",
                     [f"{m}, {h}{x}" for m in ("homlora", "homlora of rank 12", "pf2lora") for h in language.FRACTIONS
                      for x in ("", ", buffered")])


PERPLEXITIES = {"local_lora": 20, "fedavg_lora": 22, "pfedmoe": 19, "comigs_2s": 18, "comigs_2g": 21, "comigs": 18.5}


def related(changed, kind=""):
    """Of R4 twice, R5, R1 and R2: whether each is so."""
    rows = {name: [{"clients_perplexity": x - 1, "method_results": {}}, {"clients_perplexity": x + 1, "method_results": {}}]
            for name, x in (PERPLEXITIES | changed).items()}
    return language.relations(rows, kind)


def check_relations():
    for changed, so in (({}, [1, 1, 1, 1, 1]), ({"comigs_2s": 20}, [0, 1, 1, 1, 1]), ({"comigs_2g": 22}, [1, 0, 1, 1, 1]),
                        ({"pfedmoe": 18.5}, [1, 1, 0, 1, 1]), ({"local_lora": 18.5}, [1, 1, 1, 0, 1]),
                        ({"fedavg_lora": 18.4, "comigs_2g": 18.3}, [1, 1, 1, 0, 1]),
                        ({"comigs": 19.4, "pfedmoe": 23}, [1, 1, 1, 1, 1]), ({"comigs": 19.5, "pfedmoe": 23}, [1, 1, 1, 1, 0]),
                        ({"comigs_2g": 17}, [1, 1, 1, 1, 0])):
        check([true for _, true in related(changed)], [x == 1 for x in so], f"relations of {changed}")
    sent = {f"{x}, buffered": PERPLEXITIES[x] + 4 for x in ("fedavg_lora", "pfedmoe", "comigs_2g", "comigs")}
    check(related(sent, ", buffered"), [
        ("R4: comigs_2s 18.000, local_lora 20.000", True),
        ("R4: comigs_2g, buffered 25.000, fedavg_lora, buffered 26.000", True),
        ("R5: comigs, buffered 22.500, pfedmoe, buffered 23.000", True),
        ("R1: comigs, buffered 22.500, local_lora 20.000, fedavg_lora, buffered 26.000", False),
        ("R2: comigs, buffered +25.00 % from the better of 2S and 2G, at most 8 wanted", False),
    ], "relations of who sends when it is done")


ACCURACIES = {"pf2lora": (0.90, 0.90, 0.89, 0.86), "homlora": (0.88, 0.87, 0.80, 0.70), "homlora of rank 12": (0.89, 0.88, 0.8, 0.7)}


def gaps(changed, kind="", score=language.MERGED):
    return language.gaps_of({f"{method}, {h}{kind}": [{"per_client": {"mean": x}, "method_results": {"accuracy_left": 1 - x}}]
                             for method, all_of_it in (ACCURACIES | changed).items()
                             for h, x in zip(language.FRACTIONS, all_of_it)}, kind, score=score)


def check_gaps():
    for changed, so in (({}, [1, 1, 1]), ({"homlora": (0.88, 0.87, 0.885, 0.70)}, [0, 1, 1]),
                        ({"pf2lora": (0.90, 0.90, 0.89, 0.84)}, [1, 0, 1]), ({"homlora of rank 12": (0.89, 0.88, 0.8, 0.86)}, [1, 1, 0])):
        check([true for _, true in gaps(changed, ", buffered")], [x == 1 for x in so], f"gaps of {changed}")
    check(gaps({})[0][0], "the gap to HOMLoRA grows with the fraction: +2.00, +3.00, +9.00, +16.00", "gaps")
    check(gaps({}, score=language.LEFT)[0], ("the gap to HOMLoRA grows with the fraction: -2.00, -3.00, -9.00, -16.00", False), "gaps as clients left it")


if __name__ == "__main__":
    check_users()
    check_rows()
    check_relations()
    check_gaps()
