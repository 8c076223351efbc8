"""Stand-ins for what publications have and nobody here: published_models.py FOLDER, in which a small
Llama is already.

Models of random weights whose files are as those that people publish: a RoBERTa with tokens of bytes, and a DeBERTa-v3 with a
Unigram, each with its own templates. Corpora of labels, of pairs of sentences (as MNLI, QQP and QNLI), of questions about
texts, some of which no window holds and some of which have no answer, and of descriptions."""

import array
import json
import math
import pathlib
import random
import sys

from small_language import Tongue

WIDTH, INNER, HEADS, CONTEXT = 16, 24, 2, 512
DRAW = random.Random(6)
TONGUES = [Tongue(f"published {i}") for i in range(4)]
ROWS = 160


def encoder(first, ids, places):
    """Shapes by name of one layer, and of what stands before it."""
    def norm(name):
        return {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}

    def linear(name, inputs=WIDTH, outputs=WIDTH):
        return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}

    projected = "" if places else "_proj"
    layer = first + "encoder.layer.0."
    out = {first + "embeddings.word_embeddings.weight": (ids, WIDTH)} | norm(first + "embeddings.LayerNorm")
    for name in ("query", "key", "value"):
        out |= linear(f"{layer}attention.self.{name}{projected}")
    out |= linear(layer + "attention.output.dense") | norm(layer + "attention.output.LayerNorm")
    out |= linear(layer + "intermediate.dense", WIDTH, INNER) | linear(layer + "output.dense", INNER, WIDTH)
    return out | norm(layer + "output.LayerNorm") | places_of(first, places, norm)


def places_of(first, places, norm):
    if not places:  # As far as 8 either way, in the same table for all layers.
        return {first + "encoder.rel_embeddings.weight": (16, WIDTH)} | norm(first + "encoder.LayerNorm")
    return {first + "embeddings.position_embeddings.weight": (places, WIDTH),
            first + "embeddings.token_type_embeddings.weight": (1, WIDTH)}


def write_model(to, config, shapes, tokenizer):
    """A folder as others write it."""
    to.mkdir(parents=True)
    header, data = {}, b""
    for name, shape in shapes.items():
        about = 1.0 if "LayerNorm.weight" in name else 0.0
        values = array.array("f", (DRAW.gauss(about, 0.1) for _ in range(math.prod(shape))))
        if sys.byteorder == "big":
            values.byteswap()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += values.tobytes()
    head = json.dumps(header).encode()
    (to / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    (to / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (to / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")


def config_of(kind, ids, **more):
    return {"model_type": kind, "vocab_size": ids, "hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": 1,
            "num_attention_heads": HEADS, "hidden_act": "gelu", **more}


def tokenizer_of(special, normalizer, pre_tokenizer, post_processor, model):
    added = [{"id": i, "content": x, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i, x in enumerate(special)]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer, "post_processor": post_processor, "decoder": pre_tokenizer, "model": model}


def write_roberta(to):
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(x) for x in plain] + [chr(256 + i) for i in range(256 - len(plain))]
    pairs = [(x[0], x[1]) for x in ("ba", "de", "fi", "go", "ku", "la", "me", "ni")]
    tokens = [*special, *letters, *("".join(x) for x in pairs)]
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
             "fuse_unk": False, "vocab": {x: i for i, x in enumerate(tokens)}, "merges": pairs}
    cut = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    around = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False}
    config = config_of("roberta", len(tokens), max_position_embeddings=CONTEXT + 2, layer_norm_eps=1e-5, type_vocab_size=1,
                       bos_token_id=0, eos_token_id=2, pad_token_id=1)
    write_model(to, config, encoder("roberta.", len(tokens), CONTEXT + 2), tokenizer_of(special, None, cut, around, model))


def write_deberta(to):
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    words = sorted({x for tongue in TONGUES for x in tongue.words})
    pieces = ["▁", *("▁" + x for x in words), *(chr(x) for x in range(33, 127))]
    known = [[x, 0.0] for x in special] + [[x, -4.0 - 1.0 / (i + 1)] for i, x in enumerate(pieces)]
    cut = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    token = lambda name, kind: {"SpecialToken": {"id": name, "type_id": kind}}
    text = lambda name, kind: {"Sequence": {"id": name, "type_id": kind}}
    single = [token("[CLS]", 0), text("A", 0), token("[SEP]", 0)]
    around = {"type": "TemplateProcessing", "single": single, "pair": [*single, text("B", 1), token("[SEP]", 1)],
              "special_tokens": {x: {"id": x, "ids": [i], "tokens": [x]} for i, x in enumerate(special) if x in ("[CLS]", "[SEP]")}}
    config = config_of("deberta-v2", len(known), max_position_embeddings=CONTEXT, layer_norm_eps=1e-7, type_vocab_size=0,
                       relative_attention=True, position_buckets=8, max_relative_positions=-1, norm_rel_ebd="layer_norm",
                       share_att_key=True, pos_att_type="p2c|c2p", position_biased_input=False, pad_token_id=0)
    write_model(to, config, encoder("deberta.", len(known), 0),
                tokenizer_of(special, {"type": "NFKC"}, cut, around, {"type": "Unigram", "unk_id": 3, "vocab": known}))


def stretch(config):
    """Of the model in that file, as Llama 3.2 does."""
    said = json.loads(config.read_text(encoding="utf-8"))
    said["rope_scaling"] = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                            "original_max_position_embeddings": 8192}
    config.write_text(json.dumps(said), encoding="utf-8")


def lines(path, of):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(x) + "\n" for x in of), encoding="utf-8")


def classified(labels, is_pair):
    for i in range(ROWS):
        tongue = TONGUES[i % labels]
        second = {"second": tongue.said(12)} if is_pair else {}
        yield {"text": tongue.said(12), **second, "label": i % labels}


def asked(has_all_answers):
    """Of four titles; some texts are longer than a window."""
    for i in range(ROWS):
        tongue = TONGUES[i % 4]
        text = tongue.said(400 if i % 40 < 4 else 40)
        answer = " ".join(text.split(" ")[:2])
        found = {"answer": answer} if has_all_answers or i % 3 else {}
        yield {"text": text, "question": "how does it begin", **found, "title": f"title {i % 4}", "source": f"text {i}"}


def described(user):
    """Two texts of each thing."""
    for i in range(ROWS):
        tongue = TONGUES[user % 4]
        yield {"before": f"name: {i // 2}\n", "text": tongue.said(5) + "\n", "source": f"{user} {i // 2}"}


def main(to):
    write_roberta(to / "models/roberta-base")
    write_deberta(to / "models/deberta-v3-base")
    stretch(to / "models/Llama-3.2-1B/config.json")
    for name, labels, is_pair in (("cola", 2, False), ("sst2", 2, False), ("mnli", 3, True), ("qqp", 2, True), ("qnli", 2, True)):
        lines(to / f"corpora/{name}/train.jsonl", classified(labels, is_pair))
    for name in ("squad_v1", "squad_v2"):
        lines(to / f"corpora/{name}/train.jsonl", asked(name == "squad_v1"))
    for name in ("webnlg", "e2e"):
        for user in range(8):
            lines(to / f"corpora/{name}/{user}.jsonl", described(user))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
