"""A language model of GPT-2's shape in double precision, with factors of low rank beside its products
and several experts in the place of each feed-forward block: comigs.md, 2.3, 2.4 and 3."""

import json
import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from draws import Stream, derive_seed, single
from planted import wrong
from tape import Node, log_softmax, slopes, softmax

LAYERS, WIDTH, HEADS, VOCABULARY = 2, 16, 2, 257
INNER, EPSILON, DEVIATION = 4 * WIDTH, 1e-5, 0.02


def layer_norm(x, weight, bias):
    away = x - x.mean(-1)
    return away * ((away * away).mean(-1) + EPSILON)**-0.5 * weight + bias


def gelu(x):
    """By tanh, as GPT-2 has it."""
    if wrong("gelu_by_sigmoid"):
        return x * ((x * -1.702).exp() + 1.0)**-1.0
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * (inner.tanh() + 1.0) * 0.5


@dataclass
class Expert:
    """What stands beside the products of a block."""
    terms: dict  # Layer's name: its factors u and v.
    scale: float = 1.0

    def __call__(self, name, x, y):
        if name not in self.terms:
            return y
        u, v = self.terms[name]
        return y + x @ v.swap(0, 1) @ u * self.scale


@dataclass
class Beside:
    """Of a whole model. Without routers all experts count the same."""
    attention: Expert = field(default_factory=lambda: Expert({}))
    experts: list = field(default_factory=lambda: [Expert({})])
    routers: list = ()       # Of each layer, experts x width; of noisy gates this and experts x experts.
    seed: int | None = None  # Of what is drawn in training; none: nothing is.
    first_row: int = 0       # Of a batch that goes forward in parts.
    printed: bool = False    # The scale of the load balance.
    favoured: float = 0.5    # What it wants for the first expert; 0: as much as for others.
    narrowest: float = np.inf  # Between a logit that was kept and one that was not.


def top_two(logits):
    """Of each token the two largest, of equals the first; and how near the next one ever came."""
    order = np.argsort(-logits.real, axis=-1, kind="stable")
    chosen = np.zeros(logits.shape, dtype=bool)
    np.put_along_axis(chosen, order[:, :2], True, axis=-1)
    if logits.shape[-1] < 3:
        return chosen, np.inf
    in_order = np.take_along_axis(logits.real, order, axis=-1)
    return chosen, (in_order[:, 1] - in_order[:, 2]).min()


def gate(logits, chosen):
    """A softmax over the logits that are kept."""
    if wrong("weights_of_all"):
        return softmax(logits) * chosen
    if wrong("all_are_kept"):
        return softmax(logits)
    shifted = logits - np.where(chosen, logits.value.real, -np.inf).max(axis=-1, keepdims=True)
    kept = (shifted * chosen).exp() * chosen
    return kept * kept.sum(-1)**-1.0


def load_balance(logits, chosen, printed, favoured):
    """One of a layer: f_0 P_0 + (n - 1) times the sum of the others' f_j P_j, which is one where loads
    are as wanted; as printed, over (n - 1)^2 + 1. f has no slope."""
    count = logits.shape[-1]
    wanted = np.full(count, (1 - favoured) / (count - 1) if favoured else 1 / count)
    wanted[0] = favoured or 1 / count
    weights = 0.5 / wanted
    if wrong("balance_prefers_nobody"):
        weights[0] = weights[1]
    if printed != wrong("balance_as_printed"):
        weights = weights / weights.sum()
    chances = gate(logits, chosen) if wrong("balance_of_the_kept") else softmax(logits)
    return (chances.mean(0) * (weights * chosen.mean(axis=0))).all()


def noise_of(beside, layer, rows, tokens, experts):
    """Of each token's logits, a row of the batch after the other. Its deviation is a softplus of zero
    and its floor."""
    seed, deviation = derive_seed(beside.seed, "gate", layer), math.log(2) + 0.01
    if wrong("noise_of_a_softplus_alone"):
        deviation = math.log(2)
    return np.concatenate([
        single(Stream(derive_seed(seed, "row", beside.first_row + row)).normals(
            tokens * experts, deviation)).reshape(tokens, experts) for row in range(rows)])


def below(x, deviation):
    """That a normal number is below so much."""
    way = x.value / deviation
    value = np.vectorize(lambda z: math.erfc(-z / math.sqrt(2)) / 2)(way)
    along = np.exp(-way * way / 2) / (math.sqrt(2 * math.pi) * deviation)
    return Node(value, ((x, lambda g: g * along),))


def varied(x):
    """The squared coefficient of variation of a sample."""
    count = x.shape[-1]
    away = x - x.mean(-1)
    over = count if wrong("variance_of_all") else count - 1
    return ((away * away).sum(-1) * (1 / over) * (x.mean(-1)**2 + 1e-10)**-1.0).all()


def variation(clean, noisy, chosen):
    """Of what experts count, and of how likely each is among the two that are chosen were its own noise
    drawn again: above the second of the others."""
    found = varied(gate(noisy, chosen).sum(0))
    count = noisy.shape[-1]
    if count == 2 or wrong("loads_may_vary"):
        return found
    order = np.argsort(-noisy.value, axis=-1, kind="stable")
    every = np.arange(len(order))[:, None]
    bar = noisy[every, np.where(chosen, order[:, 2:3], order[:, 1:2])]
    return found + varied(below(clean - bar, math.log(2) + 0.01).sum(0))


def attend(query, key, value):
    """[.. x tokens x width of a head]; a token sees itself and those before it."""
    tokens, wide = query.shape[-2:]
    scores = query @ key.swap(-1, -2) * wide**-0.5
    if not wrong("sees_what_comes"):
        scores = scores + np.where(np.tri(tokens, dtype=bool), 0, -1e30)
    return softmax(scores) @ value


def product(of, name, x):
    y = x @ of[name + ".weight"].swap(0, 1)
    return y + of[name + ".bias"] if name + ".bias" in of else y


class Transformer:
    """Flat parameters, with the interface of `Model`; a row is a window of tokens, and what it should
    foretell of each the next one. This is GPT-2; llama.py says what is other than here."""

    labels = True
    around, embedding, norms = "transformer.", "wte", ("h.{}.ln_1", "h.{}.ln_2", "ln_f")
    queries, attention = (".attn.c_attn",), (".attn.c_attn", ".attn.c_proj")
    blocks = (".mlp.c_fc", ".mlp.c_proj")
    inputs_first = True  # In a file.

    def __init__(self, context, is_made=False):
        self.context, self.is_made = context, is_made
        self.places, self.size = {}, 0
        for name, shape in self.tensors():
            self.places[name] = (self.size, shape)
            self.size += int(np.prod(shape))
        self.layers = self.named(*self.queries)  # What makes queries and values.

    def tensors(self):
        """Names and shapes in the order in which they lie; matrices are outputs x inputs."""
        all_of_them = [("wte.weight", (VOCABULARY, WIDTH)), ("wpe.weight", (self.context, WIDTH))]

        def add(name, *shape):
            all_of_them.append((name + ".weight", shape))
            all_of_them.append((name + ".bias", shape[:1]))

        for i in range(LAYERS):
            add(f"h.{i}.ln_1", WIDTH)
            add(f"h.{i}.attn.c_attn", 3 * WIDTH, WIDTH)
            add(f"h.{i}.attn.c_proj", WIDTH, WIDTH)
            add(f"h.{i}.ln_2", WIDTH)
            add(f"h.{i}.mlp.c_fc", INNER, WIDTH)
            add(f"h.{i}.mlp.c_proj", WIDTH, INNER)
        add("ln_f", WIDTH)
        return all_of_them

    def described(self):
        """As in config.json."""
        return {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
                "vocab_size": VOCABULARY, "n_positions": self.context, "n_embd": WIDTH,
                "n_layer": LAYERS, "n_head": HEADS, "n_inner": None,
                "activation_function": "gelu_new", "layer_norm_epsilon": EPSILON,
                "tie_word_embeddings": True}

    def named(self, *parts):
        """Layers of these names: rows, columns, where the weight begins, where the bias does."""
        found = []
        for name, (at, shape) in self.places.items():
            if name.endswith(".weight") and any(name[:-7].endswith(x) for x in parts):
                bias, _ = self.places.get(name[:-7] + ".bias", (None, ()))
                found.append((*shape, at, bias))
        return found

    def name_at(self, layer):
        return next(name[:-7] for name, (at, _) in self.places.items() if at == layer[2])

    def weight(self, w, layer):
        rows, columns, at, _ = layer
        return w[at:at + rows * columns].reshape(rows, columns)

    def initial(self, seed):
        """As the file has it that the oracle wrote, or from the seed as GPT-2 begins."""
        return (made if self.is_made else written)(self.without_head(), self.context, seed)

    @classmethod
    def without_head(cls):
        return cls

    def nodes(self, w):
        return {name: Node(w[at:at + int(np.prod(shape))].reshape(shape))
                for name, (at, shape) in self.places.items()}

    def embedded(self, of, ids):
        return of["wte.weight"][ids] + of["wpe.weight"][np.arange(ids.shape[1])]

    def norm(self, of, name, x):
        return layer_norm(x, of[name + ".weight"], of[name + ".bias"])

    def feed_forward(self, of, i, x, by):
        up = by(f"h.{i}.mlp.c_fc", x, product(of, f"h.{i}.mlp.c_fc", x))
        inside = gelu(up)
        return by(f"h.{i}.mlp.c_proj", inside, product(of, f"h.{i}.mlp.c_proj", inside))

    def attended(self, of, i, x, by, shape):
        fused = by(f"h.{i}.attn.c_attn", x, product(of, f"h.{i}.attn.c_attn", x))
        query, key, value = (
            fused[:, k * WIDTH:(k + 1) * WIDTH].reshape(*shape, HEADS, WIDTH // HEADS).swap(1, 2)
            for k in range(3))
        heads = attend(query, key, value).swap(1, 2).reshape(-1, WIDTH)
        return by(f"h.{i}.attn.c_proj", heads, product(of, f"h.{i}.attn.c_proj", heads))

    def logits(self, of, ids, beside, balances=None):
        """Of each token."""
        return self.states(of, ids, beside, balances) @ of[self.embedding + ".weight"].swap(0, 1)

    def states(self, of, ids, beside, balances=None):
        """Of each token, behind the last norm. What routers see is the block's input behind its norm."""
        before, inside, last = self.norms
        x = self.embedded(of, ids).reshape(-1, WIDTH)
        for i in range(LAYERS):
            x = x + self.attended(of, i, self.norm(of, before.format(i), x), beside.attention,
                                  ids.shape)
            seen = self.norm(of, inside.format(i), x)
            said = [self.feed_forward(of, i, seen, by) for by in beside.experts]
            if len(said) == 1:
                x = x + said[0]
                continue
            if not beside.routers:
                share = 1.0 if wrong("experts_are_added") else 1 / len(said)
                for y in said:
                    x = x + y * share
                continue
            weights = self.chosen(i, x if wrong("router_before_the_norm") else seen, beside,
                                  ids.shape, balances)
            for j, y in enumerate(said):
                x = x + y * weights[:, j:j + 1]
        return self.norm(of, last, x)

    def chosen(self, i, x, beside, shape, balances):
        """What each expert counts for a token."""
        of = beside.routers[i]
        if is_noisy := isinstance(of, tuple):
            inside = x @ of[0].swap(0, 1)
            clean = (inside if wrong("gate_without_tanh") else inside.tanh()) @ of[1].swap(0, 1)
        else:
            clean = x @ of.swap(0, 1)
        logits = clean
        if is_noisy and beside.seed is not None and not wrong("gate_without_noise"):
            logits = clean + noise_of(beside, i, *shape, clean.shape[-1])
        chosen, narrow = top_two(logits.value)
        beside.narrowest = min(beside.narrowest, narrow)
        if balances is not None:
            balances.append(variation(clean, logits, chosen) if is_noisy else
                            load_balance(clean, chosen, beside.printed, beside.favoured))
        return gate(logits, chosen)

    def loss(self, of, rows, beside=None, balance=0.0):
        """The mean over all targets; and of each layer's load balance, `balance` times."""
        ids, targets = rows
        balances = []
        said = self.logits(of, ids, beside or Beside(), balances)
        table = log_softmax(said)
        loss = table[np.arange(targets.size), targets.reshape(-1)].all() * (-1 / targets.size)
        # Of noisy gates they add up.
        adds = beside is not None and any(isinstance(x, tuple) for x in beside.routers)
        share = 1 if adds != wrong("balances_are_added") else max(len(balances), 1)
        for x in balances:
            loss = loss + x * (balance / share)
        return loss

    def gradient(self, w, rows):
        of = self.nodes(w)
        along = slopes(self.loss(of, rows), list(of.values()))
        return np.concatenate([x.reshape(-1) for x in along])

    def outputs(self, w, ids):
        return self.logits(self.nodes(w), ids, Beside()).value

    def judge(self, outputs, targets):
        """The loss of each target."""
        table = log_softmax(Node(outputs)).value
        return -table[np.arange(targets.size), targets.reshape(-1)], None


@lru_cache(maxsize=8)
def written(shape, context, seed):
    """Wide enough that tokens attend to some others and gates tell them apart, and nothing is so far below
    zero that AdamW would make a step of what single precision left of a slope."""
    draws, parts = Stream(derive_seed(seed, "oracle")), []
    for name, size in shape(context).tensors():
        is_norm = len(size) == 1 and name.endswith(".weight")
        wide = 0.15 if ".c_fc." in name else 0.3 if len(size) == 2 else 0.1
        parts.append(is_norm + draws.normals(int(np.prod(size)), wide))
    return single(np.concatenate(parts))


@lru_cache(maxsize=8)
def made(shape, context, seed):
    """Radford et al. (2019): normal with 0.02, less for what goes back into the stream."""
    parts = []
    for i, (name, sizes) in enumerate(shape(context).tensors()):
        size = int(np.prod(sizes))
        if len(sizes) == 1:
            parts.append(np.full(size, 1.0 if name.endswith(".weight") else 0.0))
            continue
        wide = DEVIATION / ((2 * LAYERS)**0.5 if name.endswith("c_proj.weight") else 1)
        parts.append(Stream(derive_seed(seed, "language", i)).normals(size, wide))
    return single(np.concatenate(parts))


def write_model(folder, model, seed):
    """config.json and model.safetensors, as transformers writes them: products of GPT-2 inputs x outputs."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(model.described()), encoding="utf-8")
    header, values, begin = {}, [], 0
    flat = model.initial(seed)
    for name, (at, shape) in model.places.items():
        size = int(np.prod(shape))
        x = flat[at:at + size].reshape(shape)
        if model.inputs_first and ".h." in "." + name and len(shape) == 2:
            x = x.T
        values.append(np.ascontiguousarray(x, dtype="<f4").tobytes())
        header[model.around + name] = {"dtype": "F32", "shape": list(x.shape),
                                       "data_offsets": [begin, begin + 4 * size]}
        begin += 4 * size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(
        len(text).to_bytes(8, "little") + text + b"".join(values))
