#!/usr/bin/env python3
"""What reference scorers say of pairs of texts: scorers.py [FILE] writes tests/golden/language/scorers.json,
which scores_test.cpp holds ours to. Needs what requirements.txt beside this names."""

import json
import pathlib
import random
import sys
from importlib import metadata

import sacrebleu
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score
from nltk.translate.nist_score import corpus_nist
from pycocoevalcap.cider.cider_scorer import CiderScorer
from rouge_score import rouge_scorer
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

PACKAGES = ("sacrebleu", "rouge_score", "nltk", "pycocoevalcap")

DESCRIPTIONS = [
    ("a small tool that prints the current date and time",
     ["small program printing date and time", "a tool that prints the date and the time"]),
    ("The Mill is a cheap pub near the river.",
     ["The Mill is a cheap pub by the river.", "By the river there is a cheap pub, The Mill."]),
    ("library for reading archives (runtime)", ["shared library for reading and writing archives"]),
    ("documentation of the compiler, version 12.2", ["documentation for version 12.2 of the compiler"]),
    ("fonts fonts fonts fonts", ["fonts for many languages"]),
    ("it maintains maintained maintaining connections",
     ["connected programs are maintained", "maintenance of a connection"]),
]

AWKWARD = [
    ("", ["nothing was said"]),
    ("one", ["one"]),
    ("Prices rose by 3,5 - or 3.5 % - to $1,200.00, \"so far\".",
     ["Prices rose 3,5 or 3.5% to $1,200.00 \"so far\"."]),
    ("a &quot;quoted&quot; &amp; escaped &lt;text&gt; with well-\nbroken lines\nand <skipped> parts",
     ["a \"quoted\" & escaped <text> with wellbroken lines and parts"]),
    ("Größe und Maß: 12-15 Äpfel… für 4€", ["GRÖSSE UND MASS: 12 - 15 äpfel für 4 €",
                                            "größe und maß: 12-15 äpfel… für 4€"]),
    ("naïve\u00a0café\u2003au lait \u3000 fin", ["naïve café au lait fin"]),
    ("日本語 のテキスト。 です", ["日本語 テキスト です。"]),
    ("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]),
    ("b c d e a", ["a b c d e"]),
    ("g h i d e f a b c", ["a b c d e f g h i"]),
    ("snake_case [and] {braces} ~tilde~ `ticks` ^up^ a/b c:d e@f #1 50%", ["snake case and braces tilde"]),
    ("...,,,.1.2,3,.4. 5-6--7 -8", ["1.2 , 3 .4 5 6 7 8"]),
]

SQUARE = "a the cat sat on mat with red hat and ran runs running home , .".split()


def drawn(seed, count, longest, shuffled):
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        meant = [[draw.choice(SQUARE) for _ in range(draw.randint(1, longest))]
                 for _ in range(draw.randint(1, 3))]
        said = list(draw.choice(meant))
        for _ in range(draw.randint(0, longest // 3 + 1)):
            at = draw.randrange(len(said) + 1)
            what = draw.random()
            if what < 0.3:
                said.insert(at, draw.choice(SQUARE))
            elif what < 0.6 and said:
                said.pop(min(at, len(said) - 1))
            elif what < 0.8 and said:
                said[min(at, len(said) - 1)] = draw.choice(SQUARE)
            else:
                first, end = sorted(draw.randrange(len(said) + 1) for _ in range(2))
                run = said[first:end]
                del said[first:end]
                to = draw.randrange(len(said) + 1)
                said[to:to] = run
        if shuffled:
            draw.shuffle(said)
        pairs.append((" ".join(said), [" ".join(x) for x in meant]))
    return pairs


CASES = {
    "descriptions": DESCRIPTIONS,
    "awkward": AWKWARD,
    "one text": DESCRIPTIONS[:1],
    "nothing right": [("x y z v w", ["a b c d e"])],
    "drawn": drawn(1, 40, 12, False),
    "drawn long": drawn(2, 8, 60, False),
    "shuffled": drawn(3, 25, 14, True),
    "unequal": [("a b c", [" ".join(["a b c d e f"] * 25)]),
                (" ".join(["q r s t"] * 30), ["t s r q"])],
}

WORDS = """caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized
hopping tanned falling hissing fizzed failing filing happy sky enjoy spy relational conditional rational valenci
hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization predication operator
feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize
electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible
irritant replacement adjustment dependent adoption homologou communism activate angulariti homologous effective
bowdlerize probate rate cease controll roll skies dying lying news innings outing cannings howe proceed exceed
succeed died dies flies tied yy yyyy by toy syzygy theology geology demagogy apology yogi carefully fully basically
generally added sees eed bed bing at it hop hoped was has is ß größen naïvely Äpfel connection connected
maintenance maintained maintains usefulness used using user s ss sss ing ed ies ied""".split()


def lowered(text):
    return Tokenizer13a()(text.lower().rstrip()).split()


class no_synonyms:
    @staticmethod
    def synsets(_):
        return []


def mean(xs):
    return sum(xs) / len(xs)


def scores(pairs):
    said = [x for x, _ in pairs]
    most = max(len(x) for _, x in pairs)
    streams = [[x[i] if i < len(x) else None for _, x in pairs] for i in range(most)]
    rouge = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    cider = CiderScorer(n=4, sigma=6.0)
    for x, meant in pairs:
        cider += (" ".join(lowered(x)), [" ".join(lowered(y)) for y in meant])
    try:
        nist = corpus_nist([[lowered(y) for y in meant] for _, meant in pairs],
                           [lowered(x) for x in said])
    except ZeroDivisionError:  # Not so long a run was said at all.
        nist = None
    return {
        "bleu": sacrebleu.BLEU().corpus_score(said, streams).score,
        "ter": sacrebleu.TER().corpus_score(said, streams).score,
        "nist": nist,
        "rouge_l": mean([rouge.score_multi(meant, x)["rougeL"].fmeasure for x, meant in pairs]),
        "meteor": mean([max(single_meteor_score(lowered(y), lowered(x), wordnet=no_synonyms)
                            for y in meant) for x, meant in pairs]),
        "cider": float(cider.compute_score()[0]),
    }


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    to = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "golden/language/scorers.json"
    stem = PorterStemmer().stem
    texts = [x for pairs in (AWKWARD, DESCRIPTIONS) for said, meant in pairs for x in (said, *meant)]
    cases = [{"name": name, "pairs": [{"said": x, "meant": y} for x, y in pairs], **scores(pairs)}
             for name, pairs in CASES.items()]
    made = {
        "versions": {x: metadata.version(x) for x in PACKAGES},
        "words": [{"text": x, "words": Tokenizer13a()(x.rstrip()).split()} for x in texts],
        "stems": [[x, stem(x)] for x in WORDS],
        "cases": cases,
    }
    to.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
