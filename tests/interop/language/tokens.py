#!/usr/bin/env python3
"""Ids of texts as the reference tokenizers say them, for the tests to compare with.

    tokens.py small              small tokenizers that stand in the result, over the awkward lines
    tokens.py pairs              two texts in one row, by templates, whole and cut off
    tokens.py all FOLDER         the tokenizers of FOLDER (of ./dev data language) over 10,000 lines

`small` writes tests/golden/language/small_tokens.json, `pairs` beside it pairs.json, over one of these tokenizers. `all` writes FOLDER/token_lines.bin, as
lines.py does, and tests/golden/language/tokens.json: the digest of these lines, of each tokenizer
four bytes of one of the ids of each line, and in full the awkward lines and one of each 200 others.

What is no UTF-8 no reference tokenizer takes. So a byte that begins no letter stands alone: where
bytes are tokens it is one, with texts before and after it on their own; else it is U+FFFD. A byte
without a token (SmolLM2 has none of 21 bytes) is left out, as the reference leaves out its letter.
"""

import hashlib
import json
import pathlib
import sys

import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from lines import SAMPLE, awkward, lines_of, write_lines

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden" / "language"
DIGITS = 8  # Of a line's digest.
BETWEEN_FULL = 200


def letters(line):
    """[(is a letter, bytes)]: strictly by the rules of UTF-8."""
    at = 0
    while at < len(line):
        for size in (1, 2, 3, 4):
            try:
                line[at:at + size].decode()
            except UnicodeDecodeError:
                continue
            if at + size <= len(line):
                yield True, line[at:at + size]
                at += size
                break
        else:
            yield False, line[at:at + 1]
            at += 1


def byte_letters():
    """GPT-2's letter of each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [x for x in range(256) if x not in plain]
    return {**{x: chr(x) for x in plain}, **{x: chr(256 + i) for i, x in enumerate(others)}}


LETTER = byte_letters()


def ids_of(tokenizer, line, has_bytes):
    if not has_bytes:
        text = b"".join(x if good else "\ufffd".encode() for good, x in letters(line))
        return tokenizer.encode(text.decode(), add_special_tokens=False).ids
    ids, run = [], b""
    for good, x in [*letters(line), (False, b"")]:
        if good:
            run += x
            continue
        if run:
            ids += tokenizer.encode(run.decode(), add_special_tokens=False).ids
        run = b""
        if x and (alone_id := tokenizer.token_to_id(LETTER[x[0]])) is not None:
            ids.append(alone_id)
    return ids


def alone(tokenizer):
    """Special tokens inside of a text are text."""
    tokenizer.encode_special_tokens = True
    return tokenizer


def small_bpe(split):
    x = Tokenizer(models.BPE())
    x.pre_tokenizer = split
    x.decoder = decoders.ByteLevel()
    x.train_from_iterator(SAMPLE.splitlines(True), trainers.BpeTrainer(
        vocab_size=480, special_tokens=["<|endoftext|>"], show_progress=False,
        initial_alphabet=sorted(LETTER.values())))
    return alone(x)


def small_wordpiece(normaliser):
    words = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    pieces = []
    for word in SAMPLE.replace("\n", " ").split(" "):
        for form in (word, word.lower()):
            form = form.strip(".,;:!?¿¡'")
            pieces += [form[:3], form, "##" + form[3:], "##" + form[-1:]]
    pieces += [chr(x) for x in range(33, 127)] + ["##" + chr(x) for x in range(97, 123)] + ["\ufffd", "中", "é"]
    vocabulary = sorted(words) + [x for x in dict.fromkeys(pieces) if x not in words and x not in ("", "##")]
    x = Tokenizer(models.WordPiece({x: i for i, x in enumerate(vocabulary)}, unk_token="[UNK]",
                                   max_input_chars_per_word=100))
    x.normalizer = normaliser
    x.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    x.decoder = decoders.WordPiece()
    x.add_special_tokens(sorted(words))
    return alone(x)


def small_unigram(byte_fallback):
    """By a rule, since a trainer's result may differ by version."""
    counts = {}
    for word in SAMPLE.split():
        word = "▁" + word
        for size in range(1, 7):
            for at in range(len(word) - size + 1):
                counts[word[at:at + size]] = counts.get(word[at:at + size], 0) + size
    chosen = sorted(counts, key=lambda x: (-counts[x], x))[:400]
    known = [("<unk>", 0.0)] + [(x, -12.0 + 0.5 * len(x) + 0.01 * counts[x]) for x in chosen]
    if byte_fallback:
        known += [(f"<0x{x:02X}>", -20.0) for x in range(256)]
    x = Tokenizer(models.Unigram(known, 0, byte_fallback))
    x.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(tokenizers.Regex(" {2,}"), " ")])
    x.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    x.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    x.add_special_tokens(["<unk>"])
    return alone(x)


def small_tokenizers():
    """{name: (tokenizer, whether bytes are tokens)}"""
    bytes_alone = pre_tokenizers.ByteLevel(add_prefix_space=False)
    digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), bytes_alone])
    return {
        "bpe": (small_bpe(bytes_alone), True),
        "bpe of digits": (small_bpe(digits), True),
        "wordpiece, lowered": (small_wordpiece(normalizers.BertNormalizer()), False),
        "wordpiece, cased": (small_wordpiece(normalizers.BertNormalizer(lowercase=False)), False),
        "unigram": (small_unigram(False), False),
        "unigram with bytes": (small_unigram(True), False),
    }


def write_small():
    lines = awkward() + SAMPLE.encode().splitlines(True)
    known = []
    for name, (tokenizer, has_bytes) in small_tokenizers().items():
        all_ids = [ids_of(tokenizer, x, has_bytes) for x in lines]
        known.append({"name": name, "tokenizer": json.loads(tokenizer.to_str()),
                      "lines": [{"hex": x.hex(), "ids": ids} for x, ids in zip(lines, all_ids)]})
    write("small_tokens.json", {"versions": {"tokenizers": tokenizers.__version__}, "tokenizers": known})


PAIRS = [("The dog barks.", "A dog is loud."), ("One", "Two words, and more of them than one"),
         ("Many more words stand in the first one", "few"), ("Equal words", "equal words"), ("", "alone"), ("alone", "")]
CONTEXTS = [5, 8, 9, 12, 64]


def templates(first, last):
    def by(pair):
        return processors.TemplateProcessing(single=f"{first[0]} $A {last[0]}", pair=pair, special_tokens=[first, last])
    return {
        "as BERT": processors.BertProcessing(last, first),
        "as RoBERTa": processors.RobertaProcessing(last, first),
        "a template of two types": by("[CLS] $A [SEP] [SEP]:1 $B:1 [SEP]:1"),
        "a template that begins twice": by("[CLS] $A [CLS]:1 $B:1"),
        "a template of one type": by("$A [SEP] $B [SEP]"),
    }


def write_pairs():
    name = "wordpiece, lowered"
    tokenizer = small_tokenizers()[name][0]
    first, last = ((x, tokenizer.token_to_id(x)) for x in ("[CLS]", "[SEP]"))
    known = []
    for how, processor in templates(first, last).items():
        tokenizer.post_processor = processor
        rows = []
        for a, b in PAIRS:
            for context in CONTEXTS:
                tokenizer.enable_truncation(context, strategy="longest_first")
                x = tokenizer.encode(a, b)
                rows.append({"first": a, "second": b, "context": context, "ids": x.ids, "types": x.type_ids})
        known.append({"name": how, "rows": rows, "post_processor": json.loads(tokenizer.to_str())["post_processor"]})
    write("pairs.json", {"versions": {"tokenizers": tokenizers.__version__}, "tokenizer": name, "templates": known})


def digest_of(text):
    return hashlib.blake2b(text, digest_size=32).hexdigest()


def write(name, what):
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / name).write_text(json.dumps(what, ensure_ascii=True, separators=(",", ":")) + "\n")
    print(f"{GOLDEN / name}: {(GOLDEN / name).stat().st_size} bytes")


def from_gguf(path):
    """SmolLM2's: each digit alone, then GPT-2's split."""
    import gguf
    fields = gguf.GGUFReader(path).fields

    def texts(key):
        x = fields[key]
        return [bytes(x.parts[i]).decode() for i in x.data]

    split = fields["tokenizer.ggml.pre"]
    if bytes(split.parts[split.data[0]]) != b"smollm":
        sys.exit(f"{path}: its tokenizer is not split as SmolLM2's")
    vocabulary = {x: i for i, x in enumerate(texts("tokenizer.ggml.tokens"))}
    merges = [tuple(x.split(" ")) for x in texts("tokenizer.ggml.merges")]
    x = Tokenizer(models.BPE(vocabulary, merges))
    x.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False)])
    x.decoder = decoders.ByteLevel()
    return alone(x)


def from_folder(path):
    if (path / "tokenizer.json").exists():
        x = Tokenizer.from_file(str(path / "tokenizer.json"))
        x.no_truncation()
        x.no_padding()
        return alone(x)
    x = Tokenizer(models.WordPiece.from_file(str(path / "vocab.txt"), unk_token="[UNK]", max_input_chars_per_word=100))
    x.normalizer = normalizers.BertNormalizer()
    x.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return alone(x)


def write_all(folder):
    packed = write_lines(folder)
    lines = lines_of(folder)
    in_full = [*range(len(awkward())), *range(len(awkward()), len(lines), BETWEEN_FULL)]
    known = []
    for path in sorted(folder.rglob("*.gguf")) + sorted(x.parent for x in folder.rglob("vocab.txt")):
        is_gguf = path.suffix == ".gguf"
        tokenizer = from_gguf(path) if is_gguf else from_folder(path)
        all_ids = [ids_of(tokenizer, x, is_gguf) for x in lines]
        digests = "".join(digest_of(" ".join(map(str, x)).encode())[:DIGITS] for x in all_ids)
        known.append({"path": path.relative_to(folder).as_posix(), "digests": digests,
                      "ids": [all_ids[i] for i in in_full]})
    write("tokens.json", {"versions": {"tokenizers": tokenizers.__version__}, "lines": len(lines),
                          "digest": digest_of(packed),
                          "full": [lines[i].hex() for i in in_full], "tokenizers": known})


def main():
    if sys.argv[1:] == ["small"]:
        write_small()
    elif sys.argv[1:] == ["pairs"]:
        write_pairs()
    elif len(sys.argv) == 3 and sys.argv[1] == "all":
        write_all(pathlib.Path(sys.argv[2]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
