"""A language model of Llama's shape (Touvron et al. 2023): what turns queries and keys by their place, a
norm that keeps the mean, a gate in each feed-forward block, heads that share keys, and a tied head."""

import numpy as np

from planted import wrong
from transformer import EPSILON, LAYERS, VOCABULARY, WIDTH, Transformer, attend, layer_norm, product

HEADS, KEY_HEADS, HEAD_WIDTH, INNER, BASE = 4, 2, 4, 24, 100.0
LAYER = "layers.{}."


def turned(x):
    """[.. x tokens x width of a head]: of pairs, each half a head apart, the faster the earlier."""
    tokens, half = x.shape[-2], HEAD_WIDTH // 2
    angles = np.outer(np.arange(tokens), BASE**(-np.arange(half) / half))
    if wrong("neighbours_turn"):
        other, sign = [1, 0, 3, 2], [-1, 1, -1, 1]
        angles = np.repeat(angles, 2, axis=1)
    else:
        other, sign = [2, 3, 0, 1], [-1, -1, 1, 1]
        angles = np.tile(angles, 2)
    return x * np.cos(angles) + x[..., other] * (np.sin(angles) * sign)


class Llama(Transformer):
    around, embedding = "model.", "embed_tokens"
    norms = (LAYER + "input_layernorm", LAYER + "post_attention_layernorm", "norm")
    queries = (".q_proj", ".v_proj")
    attention = (".q_proj", ".k_proj", ".v_proj", ".o_proj")
    blocks = (".gate_proj", ".up_proj", ".down_proj")
    inputs_first = False

    def tensors(self):
        all_of_them, groups = [("embed_tokens", (VOCABULARY, WIDTH))], KEY_HEADS * HEAD_WIDTH
        for i in range(LAYERS):
            all_of_them += [(LAYER.format(i) + name, shape) for name, shape in (
                ("input_layernorm", (WIDTH,)),
                ("self_attn.q_proj", (HEADS * HEAD_WIDTH, WIDTH)),
                ("self_attn.k_proj", (groups, WIDTH)), ("self_attn.v_proj", (groups, WIDTH)),
                ("self_attn.o_proj", (WIDTH, HEADS * HEAD_WIDTH)),
                ("post_attention_layernorm", (WIDTH,)),
                ("mlp.gate_proj", (INNER, WIDTH)), ("mlp.up_proj", (INNER, WIDTH)),
                ("mlp.down_proj", (WIDTH, INNER)))]
        return [(name + ".weight", shape) for name, shape in [*all_of_them, ("norm", (WIDTH,))]]

    def described(self):
        return {"model_type": "llama", "architectures": ["LlamaForCausalLM"],
                "vocab_size": VOCABULARY, "max_position_embeddings": self.context,
                "hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS,
                "num_attention_heads": HEADS, "num_key_value_heads": KEY_HEADS,
                "hidden_act": "silu", "rms_norm_eps": EPSILON, "rope_theta": BASE,
                "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True}

    def embedded(self, of, ids):
        return of["embed_tokens.weight"][ids]

    def norm(self, of, name, x):
        if wrong("norms_take_the_mean_away"):
            return layer_norm(x, of[name + ".weight"], 0.0)
        return x * ((x * x).mean(-1) + EPSILON)**-0.5 * of[name + ".weight"]

    def feed_forward(self, of, i, x, by):
        def adapted(name, x):
            name = LAYER.format(i) + "mlp." + name
            return by(name, x, product(of, name, x))

        gate, up = adapted("gate_proj", x), adapted("up_proj", x)
        if wrong("gate_for_up"):
            gate, up = up, gate
        return adapted("down_proj", gate * ((gate * -1.0).exp() + 1.0)**-1.0 * up)

    def attended(self, of, i, x, by, shape):
        def adapted(name, x):
            name = LAYER.format(i) + "self_attn." + name
            return by(name, x, product(of, name, x))

        # [rows x heads of keys x heads of queries that share one x tokens x width]
        shared = HEADS // KEY_HEADS
        in_turn = wrong("heads_share_in_turn")
        heads = (shared, KEY_HEADS) if in_turn else (KEY_HEADS, shared)
        query = adapted("q_proj", x).reshape(*shape, *heads, HEAD_WIDTH)
        query = (query.swap(2, 3) if in_turn else query).swap(1, 2).swap(2, 3)
        key, value = (adapted(name, x).reshape(*shape, KEY_HEADS, 1, HEAD_WIDTH).swap(1, 2).swap(2, 3)
                      for name in ("k_proj", "v_proj"))
        heads = attend(turned(query), turned(key), value).swap(2, 3).swap(1, 2)
        if in_turn:
            heads = heads.swap(2, 3)
        return adapted("o_proj", heads.reshape(-1, HEADS * HEAD_WIDTH))
