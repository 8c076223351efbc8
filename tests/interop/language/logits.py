#!/usr/bin/env python3
"""What the reference makes of models whose weights stand in a rule: logits.py writes
tests/golden/language/logits.json, which vectors_test.cpp holds the networks to: of each row what
the head says of its last token, the mean loss where each token foretells the next, and the mean of
hidden states, of length one, where there is no head. logits.py pairs writes pair_logits.json beside
it: the same of models with types of tokens, of two texts in a row as the reference's own tokenizer
makes one of them. With FILE behind it either goes there. Needs what requirements.txt beside this
names. rule.py has the rule."""

import json
import pathlib
import sys

import torch
import transformers
from transformers.pytorch_utils import Conv1D

from rule import values_of

SIZES = dict(vocab_size=40, tie_word_embeddings=True)
GPT2 = dict(SIZES, architectures=["GPT2LMHeadModel"], model_type="gpt2", n_positions=24, n_ctx=24,
            n_embd=32, n_layer=2, n_head=4, n_inner=None, activation_function="gelu_new",
            layer_norm_epsilon=1e-5)
LLAMA = dict(SIZES, architectures=["LlamaForCausalLM"], model_type="llama",
             max_position_embeddings=24, hidden_size=32, intermediate_size=48,
             num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, hidden_act="silu",
             rms_norm_eps=1e-5, rope_theta=10000.0, rope_scaling=None, attention_bias=False,
             mlp_bias=False)
BERT = dict(SIZES, architectures=["BertForMaskedLM"], model_type="bert",
            max_position_embeddings=24, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
            num_attention_heads=4, hidden_act="gelu", layer_norm_eps=1e-12, type_vocab_size=2,
            position_embedding_type="absolute", pad_token_id=0)
ROBERTA = dict(BERT, architectures=["RobertaForMaskedLM"], model_type="roberta",
               max_position_embeddings=26, layer_norm_eps=1e-5, type_vocab_size=1, pad_token_id=1)
DEBERTA = dict(BERT, architectures=["DebertaV2ForMaskedLM"], model_type="deberta-v2",
               layer_norm_eps=1e-7, type_vocab_size=0, relative_attention=True,
               position_buckets=8, max_relative_positions=-1, norm_rel_ebd="layer_norm",
               share_att_key=True, pos_att_type="p2c|c2p", position_biased_input=False)
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=8)
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=8, beta_fast=2.0,
            beta_slow=0.25)

CASES = {
    "gpt2": GPT2,
    "gpt2 with a narrow block": dict(GPT2, n_inner=24),
    "gpt2 with exact gelu": dict(GPT2, activation_function="gelu"),
    "gpt2 with relu": dict(GPT2, activation_function="relu"),
    "gpt2 with silu": dict(GPT2, activation_function="silu"),
    "gpt2 with a head of its own": dict(GPT2, tie_word_embeddings=False),
    "llama": LLAMA,
    "llama with grouped heads": dict(LLAMA, num_key_value_heads=2),
    "llama with wide heads": dict(LLAMA, head_dim=12),
    "llama with another base": dict(LLAMA, rope_theta=500.0),
    "llama with linear scaling": dict(LLAMA, rope_scaling=dict(rope_type="linear", factor=2.0)),
    "llama with scaling of llama 3": dict(LLAMA, rope_scaling=LLAMA3),
    "llama with yarn": dict(LLAMA, head_dim=12, rope_scaling=YARN),
    "llama with yarn between pairs": dict(LLAMA, head_dim=12,
                                          rope_scaling=dict(YARN, truncate=False, mscale=2.0, mscale_all_dim=0.5)),
    "llama with yarn of a length": dict(LLAMA, rope_scaling=dict(YARN, attention_factor=0.75)),
    "llama with biases of attention": dict(LLAMA, attention_bias=True),
    "llama with a head of its own": dict(LLAMA, tie_word_embeddings=False),
    "llama with gelu": dict(LLAMA, hidden_act="gelu"),
    "llama of newer files": dict({key: x for key, x in LLAMA.items() if "rope" not in key},
                                 rope_parameters=dict(LLAMA3, rope_theta=500.0)),
    "bert": BERT,
    "bert without a head": dict(BERT, architectures=["BertModel"]),
    "bert with the other gelu": dict(BERT, hidden_act="gelu_new"),
    "bert with a head of its own": dict(BERT, tie_word_embeddings=False),
    "roberta": ROBERTA,
    "roberta without a head": dict(ROBERTA, architectures=["RobertaModel"]),
    "roberta with a head of its own": dict(ROBERTA, tie_word_embeddings=False),
    "roberta with relu": dict(ROBERTA, hidden_act="relu"),
    "deberta": DEBERTA,
    "deberta without a head": dict(DEBERTA, architectures=["DebertaV2Model"]),
    "deberta without buckets": dict(DEBERTA, position_buckets=-1),
    "deberta that tells near places alone": dict(DEBERTA, position_buckets=-1,
                                                 max_relative_positions=6),
    "deberta with few buckets": dict(DEBERTA, position_buckets=4, max_relative_positions=8),
    "deberta with types": dict(DEBERTA, type_vocab_size=2),
}
LENGTHS = (12, 7)
# Of two texts: a word for each id, texts for two rows, and the models that are asked.
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "the", "one", "two", "dog", "cat", "bark",
         "run", "sleep", "##s", "##ing", "##er", "is", "are", "and", "or", "loud", "quiet", "more",
         "than", "word", "of", "not", "here", "there", ".", ",", "!", "?", "'", "in", "house", "small",
         "large", "it"]
TEXTS = [("The dog barks.", "A dog is louder than two cats!"), ("Sleeping", "it is not here")]
PAIRED = ("bert", "bert without a head", "deberta with types")


@torch.no_grad()
def fill(model):
    turned = {name + ".weight" for name, x in model.named_modules() if isinstance(x, Conv1D)}
    for name, tensor in model.named_parameters():
        shape = tensor.shape[::-1] if name in turned else tensor.shape
        values = torch.tensor(values_of(name, tensor.numel())).reshape(shape)
        tensor.copy_(values.t() if name in turned else values)


def made(config):
    named = {key: x for key, x in config.items() if key not in ("architectures", "model_type")}
    settings = transformers.AutoConfig.for_model(config["model_type"], **named)
    settings._attn_implementation = "eager"
    kind = getattr(transformers, config["architectures"][0])
    has_pooling = config["architectures"][0] in ("BertModel", "RobertaModel")
    more = {"add_pooling_layer": False} if has_pooling else {}
    model = kind(settings, **more).eval()
    fill(model)
    return model


def has_head(config):
    return config["architectures"][0] not in ("BertModel", "RobertaModel", "DebertaV2Model")


def is_causal(config):
    return config["model_type"] in ("gpt2", "llama")


def mean_loss(logits, rows):
    """Of all targets of all rows, in nats."""
    said = torch.cat([logits[row, :len(ids) - 1] for row, ids in enumerate(rows)])
    meant = torch.tensor([x for ids in rows for x in ids[1:]])
    return torch.nn.functional.cross_entropy(said.double(), meant).item()


def embedding(hidden, size):
    """Of one row."""
    return torch.nn.functional.normalize(hidden[:size].mean(0), dim=0)


def short(values):
    """As many digits as a float has."""
    return [float(f"{x:.9g}") for x in values]


def filled(rows, padding):
    most = max(map(len, rows))
    return torch.tensor([x + [padding] * (most - len(x)) for x in rows])


@torch.no_grad()
def case(name, config, rows, **types):
    """Of each row the last token, and of that the first values: 64 in all."""
    said = made(config)(input_ids=filled(rows, config.get("pad_token_id", 0)),
                        attention_mask=filled([[1] * len(x) for x in rows], 0), **types)
    said = said.logits if has_head(config) else said.last_hidden_state
    values = [x for row, ids in enumerate(rows) for x in said[row, len(ids) - 1, :32].tolist()]
    found = {"name": name, "config": config, "head": has_head(config), "ids": rows,
             "values": short(values)}
    if is_causal(config):
        found["loss"] = mean_loss(said, rows)
    if not has_head(config):
        found["embeddings"] = [short(embedding(said[row], len(ids)).tolist())
                               for row, ids in enumerate(rows)]
    return found


def of_rows():
    rows = [[3 + (3 * i * i + 5 * row) % 37 for i in range(n)] for row, n in enumerate(LENGTHS)]
    return {}, [case(name, config, rows) for name, config in CASES.items()]


def of_pairs():
    """The tokenizer, what it makes of each two texts, and what models make of that."""
    by = transformers.BertTokenizer(vocab={x: i for i, x in enumerate(WORDS)})
    made_rows = [by(*x) for x in TEXTS]
    ids, types = ([x[key] for x in made_rows] for key in ("input_ids", "token_type_ids"))
    more = {"tokenizer": json.loads(by.backend_tokenizer.to_str()), "texts": TEXTS, "types": types}
    return more, [case(x, CASES[x], ids, token_type_ids=filled(types, 0)) for x in PAIRED]


def main():
    said = sys.argv[1:]
    of_two = said[:1] == ["pairs"]
    name = "pair_logits.json" if of_two else "logits.json"
    here = pathlib.Path(__file__).resolve().parents[2]
    to = pathlib.Path(said[-1] if len(said) > of_two else here / "golden/language" / name)
    torch.manual_seed(0)
    more, cases = of_pairs() if of_two else of_rows()
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    to.parent.mkdir(parents=True, exist_ok=True)
    head = json.dumps({"versions": versions, **more}).removesuffix("}")
    lines = ",\n".join(json.dumps(x) for x in cases)
    to.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')
    print(f"{len(cases)} cases in {to}")


if __name__ == "__main__":
    main()
