#!/usr/bin/env python3
"""Folders that `troupe export` writes, as others read them: exported.py EXECUTABLE FOLDER [--ask].

A model of each kind whose weights follow a rule goes through a run that moves no weight and comes out of `export`, as a block
or merged with its adapter. Without --ask, which needs Python alone: its files have the digests that are stored in
tests/golden/language/exported.json, and `troupe eval` says of it the loss that is stored there. With --ask the reference reads
each folder, and has to find all of its weights in it, none beside them, and to the bit the logits of the one that it was made
from; then what stands in that file is written. That needs what requirements.txt beside this names."""

import argparse
import array
import hashlib
import json
import math
import pathlib
import subprocess
import sys

from rule import values_of

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden/language/exported.json"
IDS = 257  # As bytes have.
CONTEXT = 24
GPT2 = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": IDS, "n_positions": CONTEXT, "n_ctx": CONTEXT,
        "n_embd": 8, "n_layer": 2, "n_head": 2, "n_inner": None, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
        "tie_word_embeddings": True}
LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": IDS, "max_position_embeddings": CONTEXT,
         "hidden_size": 16, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 100.0, "rope_scaling": None, "attention_bias": False,
         "mlp_bias": False, "tie_word_embeddings": False}
BERT = {"architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": IDS, "max_position_embeddings": CONTEXT,
        "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "hidden_act": "gelu",
        "layer_norm_eps": 1e-12, "type_vocab_size": 2, "position_embedding_type": "absolute", "pad_token_id": 0,
        "tie_word_embeddings": True}
CASES = {  # The model, and the method whose run it goes through.
    "gpt2": (GPT2, "fedavg"), "gpt2 merged": (GPT2, "homlora"), "llama": (LLAMA, "fedavg"), "llama merged": (LLAMA, "homlora"),
    "bert": (BERT, "fedavg"),
}
TEXT = "The daemon reads its configuration, und der Dienst die Größe: 2 + 2 = 4.\n" * 3
APART = 1e-5  # As a part of a loss.


def linear(name, rows, columns):
    return {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}


def turned(name, inputs, outputs):
    return {f"{name}.weight": (inputs, outputs), f"{name}.bias": (outputs,)}


def norm(name, width):
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def gpt2_tensors(x):
    width = x["n_embd"]
    out = {"transformer.wte.weight": (IDS, width), "transformer.wpe.weight": (CONTEXT, width)}
    for layer in (f"transformer.h.{i}." for i in range(x["n_layer"])):
        out |= norm(layer + "ln_1", width) | turned(layer + "attn.c_attn", width, 3 * width)
        out |= turned(layer + "attn.c_proj", width, width) | norm(layer + "ln_2", width)
        out |= turned(layer + "mlp.c_fc", width, 4 * width) | turned(layer + "mlp.c_proj", 4 * width, width)
    return out | norm("transformer.ln_f", width)


def llama_tensors(x):
    width, inner = x["hidden_size"], x["intermediate_size"]
    keys = width // x["num_attention_heads"] * x["num_key_value_heads"]
    out = {"model.embed_tokens.weight": (IDS, width), "model.norm.weight": (width,), "lm_head.weight": (IDS, width)}
    for layer in (f"model.layers.{i}." for i in range(x["num_hidden_layers"])):
        out |= {layer + "input_layernorm.weight": (width,), layer + "post_attention_layernorm.weight": (width,)}
        out |= {f"{layer}self_attn.{name}_proj.weight": (rows, width)
                for name, rows in (("q", width), ("k", keys), ("v", keys), ("o", width))}
        out |= {f"{layer}mlp.{name}_proj.weight": shape
                for name, shape in (("gate", (inner, width)), ("up", (inner, width)), ("down", (width, inner)))}
    return out


def bert_tensors(x):
    width, inner, first = x["hidden_size"], x["intermediate_size"], "bert.embeddings."
    out = {f"{first}{name}_embeddings.weight": (rows, width)
           for name, rows in (("word", IDS), ("position", CONTEXT), ("token_type", x["type_vocab_size"]))}
    out |= norm(first + "LayerNorm", width)
    for layer in (f"bert.encoder.layer.{i}." for i in range(x["num_hidden_layers"])):
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            out |= linear(f"{layer}attention.{name}", width, width)
        out |= norm(layer + "attention.output.LayerNorm", width) | linear(layer + "intermediate.dense", inner, width)
        out |= linear(layer + "output.dense", width, inner) | norm(layer + "output.LayerNorm", width)
    head = "cls.predictions."
    return out | linear(head + "transform.dense", width, width) | norm(head + "transform.LayerNorm", width) | {head + "bias": (IDS,)}


TENSORS = {"gpt2": gpt2_tensors, "llama": llama_tensors, "bert": bert_tensors}


def write_model(config, to):
    """A folder as others write it."""
    to.mkdir(parents=True)
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, shape in TENSORS[config["model_type"]](config).items():
        values = array.array("f", values_of(name, math.prod(shape)))
        if sys.byteorder == "big":
            values.byteswap()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += values.tobytes()
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    (to / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    (to / "config.json").write_text(json.dumps(config))


def write_texts(to):
    for user in ("a", "b"):
        lines = [{"text": f"{user}{i}: {TEXT}", "label": i % 2, "source": f"{user}{i}"} for i in range(40)]
        (to / f"{user}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")


def ran(*command):
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout) if "json" in command else None


def export(troupe, folder, name):
    """Through a run whose steps are too small for any weight; returns the folder of its own and the exported one."""
    config, method = CASES[name]
    at = folder / name.replace(" ", "_")
    at.mkdir()
    write_model(config, at / "base")
    task = "classify" if config["model_type"] == "bert" else "language"
    (at / "run.toml").write_text(f"""name = "exported"
method = "{method}"
rounds = 1
[data]
kind = "language"
task = "{task}"
path = "{folder / 'texts'}"
tokenizer = "bytes"
context = 16
validation_share = 0.0
test_share = 0.3
[clients]
clients = 2
clients_per_round = 2
[model]
kind = "language"
path = "{at / 'base'}"
[training]
local_steps = 1
batch_size = 1
learning_rate = 1e-30
""")
    said = ran(troupe, "run", at / "run.toml", "--folder", at / "runs", "--set", "ledger=memory", "--set", "events=false",
               "--set", "workers=1", "--format", "json")
    what = ["--merged"] if method == "homlora" else ["--block", "model"]
    ran(troupe, "export", said["folder"], *what, "--to", at / "exported")
    return at / "base", at / "exported"


def digests_of(folder):
    return {x.name: hashlib.sha256(x.read_bytes()).hexdigest() for x in sorted(folder.iterdir())}


def loss_of(troupe, folder, model):
    text = folder / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    return ran(troupe, "eval", "--model", model, "--text", text, "--tokenizer", "bytes", "--context", CONTEXT, "--format", "json")["loss"]


def read_by_reference(config, folder):
    """What it makes of a folder."""
    import transformers  # pylint: disable=import-outside-toplevel
    kind = getattr(transformers, config["architectures"][0])
    model, about = kind.from_pretrained(folder, output_loading_info=True, attn_implementation="eager")
    wrong = {key: x for key, x in about.items() if x}
    if wrong:
        sys.exit(f"{folder}: {wrong}")
    return model.eval()


def asked(config, base, exported):
    """Its loss of the text, in windows without overlap; nothing of a model that foretells no next token."""
    import torch  # pylint: disable=import-outside-toplevel
    torch.set_num_threads(1)
    models = [read_by_reference(config, x) for x in (base, exported)]
    ids, total = list(TEXT.encode()), 0.0
    with torch.no_grad():
        for first in range(0, len(ids) - 1, CONTEXT):
            window = torch.tensor(ids[first:first + CONTEXT + 1])
            said = [x(input_ids=window[None, :-1]).logits[0] for x in models]
            if not torch.equal(*said):
                sys.exit(f"{exported}: logits are {(said[0] - said[1]).abs().max()} from those of {base}")
            total += torch.nn.functional.cross_entropy(said[1].double(), window[1:], reduction="sum").item()
    return None if config["model_type"] == "bert" else total / (len(ids) - 1)


def check(troupe, folder, name, exported, stored):
    found = digests_of(exported)
    if found != stored["files"]:
        sys.exit(f"{name}: exported are {found}, and the reference has read {stored['files']}")
    if stored["loss"] is not None:
        loss = loss_of(troupe, folder, exported)
        if abs(loss - stored["loss"]) > APART * stored["loss"]:
            sys.exit(f"{name}: the loss of what is exported is {loss}, and the reference says {stored['loss']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("troupe", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ask", action="store_true")
    x = parser.parse_args()
    troupe, folder = x.troupe.resolve(), x.folder.resolve()
    (folder / "texts").mkdir(parents=True)
    write_texts(folder / "texts")
    made = {name: export(troupe, folder, name) for name in CASES}
    if x.ask:
        import transformers  # pylint: disable=import-outside-toplevel
        cases = {name: {"files": digests_of(to), "loss": asked(CASES[name][0], base, to)} for name, (base, to) in made.items()}
        GOLDEN.write_text(json.dumps({"versions": {"transformers": transformers.__version__}, "cases": cases}, indent=1) + "\n",
                          encoding="utf-8")
    stored = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    for name, (_, exported) in made.items():
        check(troupe, folder, name, exported, stored[name])
    print(f"{len(made)} folders are what the reference reads")


if __name__ == "__main__":
    main()
