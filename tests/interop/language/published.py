#!/usr/bin/env python3
"""What the reference makes of published models: published.py FOLDER [FILE], of FOLDER that
./dev data language fills, writes tests/golden/language/published.json, which published_test.cpp
holds ours to: logits of SmolLM2 with its weights dequantised, what a page is worth to it, and
embeddings by MiniLM. Texts stand in the file, so a test needs the models alone. Needs what
requirements.txt beside this names."""

import json
import math
import pathlib
import sys

import torch
import transformers

from tokens import from_folder, from_gguf

CAUSAL = "models/SmolLM2-135M-Instruct.Q4_1.gguf"
ENCODER = "models/all-MiniLM-L6-v2"
PROMPT = "The daemon listens on port 8080. Der Dienst liest seine Einstellungen:\n\n  2 + 2 = 4, and the capital of France is"
APART = 768  # Of so many logits one is kept.
CONTEXT = 256
PAGE = 1800  # Letters.
TEXTS = [
    "A small tool that prints the current date and time.",
    "library for reading archives (runtime)",
    "Größe und Maß are in bytes; naïve cafés cost 3.50 €. " * 8,
]


@torch.no_grad()
def logits(model, ids):
    return model(input_ids=torch.tensor([ids])).logits[0]


def said_of(model, ids):
    """Of some places a part of what the head says."""
    said = logits(model, ids)
    places = [0, len(ids) // 2, len(ids) - 1]
    return [{"place": x, "values": short(said[x, ::APART].tolist())} for x in places]


def worth_of(model, ids):
    """The mean loss of each token but the first, in windows without overlap, in nats."""
    total = 0
    for first in range(0, len(ids) - 1, CONTEXT):
        window = ids[first:first + CONTEXT + 1]
        said, meant = logits(model, window[:-1]).double(), torch.tensor(window[1:])
        total += torch.nn.functional.cross_entropy(said, meant, reduction="sum").item()
    return total / (len(ids) - 1)


def short(values):
    return [float(f"{x:.8g}") for x in values]


def causal(folder):
    file = folder / CAUSAL
    tokenizer = from_gguf(file)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32).eval()
    ids = tokenizer.encode(PROMPT, add_special_tokens=False).ids
    with (folder / "kinds/bible.jsonl").open(encoding="utf-8") as chapters:
        page = json.loads(chapters.readline())["text"][:PAGE]
    of_page = tokenizer.encode(page, add_special_tokens=False).ids
    loss = worth_of(model, of_page)
    return {"path": CAUSAL, "text": PROMPT, "ids": ids, "logits": said_of(model, ids), "apart": APART,
            "page": {"text": page, "tokens": len(of_page), "context": CONTEXT, "loss": loss,
                     "perplexity": math.exp(loss)}}


@torch.no_grad()
def encoder(folder):
    tokenizer = from_folder(folder / ENCODER)
    model = transformers.AutoModel.from_pretrained(folder / ENCODER, dtype=torch.float32).eval()
    rows = [tokenizer.encode(x).ids for x in TEXTS]
    most = max(map(len, rows))
    there = torch.tensor([[1] * len(x) + [0] * (most - len(x)) for x in rows])
    ids = torch.tensor([x + [0] * (most - len(x)) for x in rows])
    hidden = model(input_ids=ids, attention_mask=there).last_hidden_state
    means = (hidden * there.unsqueeze(2)).sum(1) / there.sum(1, keepdim=True)
    found = torch.nn.functional.normalize(means, dim=1)
    return {"path": ENCODER, "rows": [{"text": text, "ids": row, "embedding": short(x.tolist())}
                                      for text, row, x in zip(TEXTS, rows, found)]}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    here = pathlib.Path(__file__).resolve().parents[2]
    to = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else here / "golden/language/published.json")
    torch.set_num_threads(1)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    made = {"versions": versions, "causal": causal(folder), "encoder": encoder(folder)}
    to.write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{to}: {to.stat().st_size} bytes")


if __name__ == "__main__":
    main()
