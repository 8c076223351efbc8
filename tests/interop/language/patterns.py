#!/usr/bin/env python3
"""What the reference cuts by patterns that Oniguruma and PCRE2 read differently, and by some that both read alike.

    patterns.py

Writes tests/golden/language/patterns.json: the texts, and of each pattern the bytes of the pieces of each text. `patterns` are
those of tokenizers that people use and single forms; `classes` cut a text of many letters, all of which were in Unicode 3.2,
so that releases of libraries agree about them. Needs `tokenizers` alone.
"""

import json
import pathlib
import random
import unicodedata

import tokenizers
from tokenizers import Regex, pre_tokenizers

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden" / "language" / "patterns.json"
OF_EACH_KIND, OF_ALL = 8, 100

TEXTS = [
    "", "\n", "a\nb\n", "a\r\nb  \n\n c \n", "\n\nx\n\n", "It's WE'LL don'T 'S we've", "12 1234567 3.14 1,000 a12b345", "aaa aaaaa aab b",
    "abc ABC a-c_d [x] {2} a{,} ^$ a&&b", "ß ẞ ss SS ﬁ ﬆ st ſt ﬀ ſ K k", "x² ½ ¼cup m³ ¹", "a\u0301e\u0323 q\u0307\u0323 नमस्ते \u0301x",
    "中文。かな、カナ 한국어 ไทย", "deadBEEF 0xfg h\tv\x0bv\x0c", "l’eau L'Eau aujourd’hui D’où", "…。，、 (a|b) [c],[d]!?", "x\u2028y\u0085z\u00a0w\u180ev",
    "foo_bar42 BazQux a1_b2", "Été Über ÀÉ éa éé", "AbcDef中Gh ІЇ", "aBa Ba ab C c aC", "aa abab aabb cdcd",
]

PATTERNS = [
    # Of tokenizers.
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+|\p{Han}+|\p{N}{1,3}|\s+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+", r"\s?\p{L}+|\s+$", r"[一-龥぀-ゟ゠-ヿ]+", r"\w+|[^\w\s]+",
    r"(?i: ?(?:[ldj]['’]|aujourd['’]hui))| ?\p{L}+|\s+",
    r"[\u4E00-\u9FFF\u3040-\u30ff]+", r"[ \u00A0]|\x1F|\x{e9}", r"\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)|\G\p{Nd}{3}", r"\d{1,3}(?=(?:\d{3})*\b)",
    # Lines.
    "^", "$", "^.", ".$", r"^\s*$", r"(?<=^)b", r"a\Z", r"\Aa|b\z", "(?m).", "(?m:a.)b|.", r"(?-m:.)+",
    # Repeats.
    "a{1,2}+", "a{1,2}+a", "a{2}+", "a{2}+b", "a{2}+?b", "a{1,2}++a", "a{1,2}+?b", "a{2}?", "a{2,2}?", "a{2}??b", "a{,2}b", "a{2,}+b", "a{0,1}+b", "(?:ab){1,2}+",
    "(ab|a){2}+", "[a-c]{1,2}+a", r"\p{N}{1,3}+,", "a{,}", "a{", "{", "a++ab", "a*+b?",
    # Sets.
    "[a-c&&[^b]]+", "[a[bc]]", "[^a[bc]]", "[a[^b]]", "[^[^a]]", "[^a-c&&b-d]", "[a-z&&b-d&&[^c]]+", "[a-z&&[^b]x]", r"[\w&&[^\d_]]+", r"[^\W\d_]+", r"[\W_]",
    "[]a]", "[^]a]", "[a[]b]]", "[-a]", "[a-]", "[a-c-]", "[a-c-e]", r"[\w-]+", "[+--]", r"[\--0]", r"[\[-\]]", "[a&b]", r"[\b]|[\s\S]",
    "[[:alpha:]]+", "[^[:digit:][:space:]]+",
    # (?i).
    "(?i:s)", "(?i:k)", "(?i:[a-f]+)", "(?i:[^a])", "a(?i)b|c", "(?:a(?i)b|c)a?", "(?i)a(?-i)b|c", "(?i:[s]s)", r"(?i:[\s\d]a)",
    # What a backslash begins.
    r"\w+", r"\W+", r"\b", r"\B", r"\b\w", r"\h+", r"\H+", r"\v", r"[\h_]+", r"\u0041|\u00e9", r"\p{^L}+", r"\P{^L}+", r"\P{Han}+", r"\P{L}+\P{N}",
    r"\/\-\_\ |\.", r"(a|b)\1", r"(.)(.)\1\2",
    # Around.
    "(?=b)", "(?<=a|bc)d", "(?<!a)b", "(?>a|ab)b", "x*",
]

CLASSES = [
    r"\w", r"\W", r"[\w]", r"[^\w]", r"[\W]", r"\d", r"\s", r"\S", r"\h", r"\b", ".", r"\p{L}", r"\p{N}", r"\p{P}", r"\p{S}", r"\p{M}", r"\p{Z}", r"\p{Lu}",
    r"\p{Ll}", r"\p{Lo}", r"\p{Han}", r"\p{Greek}", r"\p{Arabic}", r"\P{Latin}", r"\p{White_Space}", "[[:alpha:]]", "[[:alnum:]]", "[[:upper:]]", "[[:lower:]]",
    "(?i:[a-z])", "(?i:[^a-z])", "(?i:[—–’])",
]


def many_letters():
    old = unicodedata.ucd_3_2_0
    known = [chr(x) for x in range(0x110000) if old.category(chr(x)) not in ("Cn", "Cs", "Co")]
    draw = random.Random(39)
    kinds = {}
    for x in known:
        kinds.setdefault(old.category(x), []).append(x)
    letters = [x for x in known if ord(x) < 0x180] + draw.sample(known, OF_ALL)
    for kind in sorted(kinds):
        letters += draw.sample(kinds[kind], min(OF_EACH_KIND, len(kinds[kind])))
    draw.shuffle(letters)
    # Whether such a mark is a letter Unicode 16 says otherwise.
    return "".join(x for x in letters if not "\u0363" <= x <= "\u036f")


def pieces(pattern, text):
    """Their bytes, which say where they are."""
    if not text:
        return []
    cut = pre_tokenizers.Split(Regex(pattern), "isolated").pre_tokenize_str(text)
    assert "".join(x for x, _ in cut) == text
    return [len(x.encode()) for x, _ in cut if x]


def main():
    letters = many_letters()
    made = {
        "versions": {"tokenizers": tokenizers.__version__}, "texts": TEXTS, "letters": letters,
        "patterns": [{"pattern": x, "pieces": [pieces(x, text) for text in TEXTS]} for x in PATTERNS],
        "classes": [{"pattern": x, "pieces": pieces(x, letters)} for x in CLASSES],
    }
    GOLDEN.write_text(json.dumps(made, ensure_ascii=True, separators=(",", ":")) + "\n")
    print(f"{GOLDEN}: {GOLDEN.stat().st_size} bytes")


if __name__ == "__main__":
    main()
