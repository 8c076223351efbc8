"""Texts of users with what is known of each, and a layer that says it: one line of JSON a text. Each byte
is a token, and what ends a text stands behind it."""

import json
from dataclasses import dataclass

import numpy as np

from draws import Stream, derive_seed, single
from planted import wrong
from texts import END
from transformer import DEVIATION, WIDTH, Transformer

LABELS = ("one", "three", "two")  # As they are sorted.
TEXTS = {"u1": 20, "u2": 26, "u3": 33}  # Of each user.


def lines_of(seed):
    """Of each user. No text is there twice."""
    users, seen = {}, set()
    for user, count in TEXTS.items():
        draws, lines = Stream(derive_seed(seed, "oracle labelled " + user)), []
        while len(lines) < count:
            text = "".join("etaoinshrdlu "[draws.below(13)] for _ in range(2 + draws.below(8))).strip()
            if len(text) > 1 and text not in seen:
                seen.add(text)
                lines.append({"text": text, "label": LABELS[sum(text.encode()) % len(LABELS)],
                              "source": f"{user} {len(lines)}"})
        users[user] = lines
    return users


def write_lines(folder, seed):
    folder.mkdir()
    for user, lines in lines_of(seed).items():
        (folder / f"{user}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines),
                                              encoding="utf-8")


@dataclass
class Rows:
    """Of one user, with the interface of `Streams`: a row is a text's tokens and its class."""
    context: int
    train: list
    validation: list
    test: list

    def windows(self, rows):
        return np.arange(len(rows))

    def rows(self, rows, places):
        """Where there is no token stands -1."""
        ids = np.full((len(places), self.context), -1)
        for to, place in zip(ids, places):
            tokens = [*rows[place]["text"].encode()[:self.context - 1], END]
            to[:len(tokens)] = tokens
        return ids, np.array([LABELS.index(rows[place]["label"]) for place in places])

    def all_rows(self, rows):
        return self.rows(rows, self.windows(rows))


def rows_of(config):
    """Of each user. A source is drawn by its name alone."""
    test, both = config["data.test_share"], config["data.test_share"] + config["data.validation_share"]
    users = []
    for lines in lines_of(config["seed"]).values():
        parts = Rows(config["data.context"], [], [], [])
        for line in lines:
            place = Stream(derive_seed(derive_seed(config["seed"], "data"),
                                       "part of =" + line["source"])).uniform()
            (parts.test if place < test else parts.validation if place < both else parts.train).append(line)
        users.append(parts)
    return users


class Classifier(Transformer):
    """A layer over what comes out at a row's last token, the only one that has seen all of it."""

    def __init__(self, context, is_made):
        super().__init__(context, is_made)
        self.head = []  # Where its tensors begin, and their sizes.
        for name, shape in (("head.weight", (len(LABELS), WIDTH)), ("head.bias", (len(LABELS),))):
            self.places[name] = (self.size, shape)
            self.head.append((self.size, int(np.prod(shape))))
            self.size += self.head[-1][1]

    @classmethod
    def without_head(cls):
        return Transformer

    def initial(self, seed):
        """Its matrix is drawn as others are, whatever the file has; what is learned is added to it."""
        draws = Stream(derive_seed(seed if self.is_made else derive_seed(seed, "initial"), "head"))
        matrix, bias = (size for _, size in self.head)
        head = single(draws.normals(matrix, DEVIATION))
        if wrong("head_begins_as_nothing"):
            head = head * 0
        return np.concatenate([super().initial(seed), head, np.zeros(bias)])

    def logits(self, of, ids, beside, balances=None):
        """Of each row."""
        rows, tokens = ids.shape
        there = ids >= 0
        states = self.states(of, np.where(there, ids, 0), beside, balances)
        last = np.zeros(rows, dtype=int) if wrong("first_token_says_the_class") else there.sum(axis=1) - 1
        seen = states.reshape(rows, tokens, WIDTH)[np.arange(rows), last]
        return seen @ of["head.weight"].swap(0, 1) + of["head.bias"]
