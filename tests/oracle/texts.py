"""Texts of users that the oracle writes itself, one file each, and windows of their tokens: each byte
is one, and a last one ends a document."""

from dataclasses import dataclass

import numpy as np

from draws import Stream, derive_seed
from planted import wrong

END = 256
DOCUMENTS = {"u1": 11, "u2": 16, "u3": 23}  # Of each user, who has words of its own, too.
WORDS = 12


def documents_of(seed, user):
    draws = Stream(derive_seed(seed, "oracle " + user))
    letters = "etaoinshrdlu" if user == "u1" else "aeioubcdfgjk" if user == "u2" else "etaoxyzqvwpm"
    words = ["".join(letters[draws.below(len(letters))] for _ in range(2 + draws.below(4)))
             for _ in range(15)]
    # Some words are frequent.
    return [" ".join(words[draws.below(1 + draws.below(len(words)))] for _ in range(WORDS))
            for _ in range(DOCUMENTS[user])]


def write_texts(folder, seed):
    folder.mkdir()
    for user in DOCUMENTS:
        (folder / f"{user}.txt").write_text("\f".join(documents_of(seed, user)), encoding="utf-8")


def taken(texts, wanted):
    """Takes out what comes near to so many bytes."""
    out, left, have = [], [], 0.0
    for x in texts:
        if len(texts) - len(out) > 1 and have + len(x) / 2 <= wanted:
            have += len(x)
            out.append(x)
        else:
            left.append(x)
    if not out and len(left) > 1:
        out.append(left.pop(min(range(len(left)), key=lambda i: len(left[i]))))
    return out, left


def tokens_of(texts):
    return np.array([t for x in texts for t in [*x.encode(), END]])


@dataclass
class Streams:
    """Of one user."""
    context: int
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    def windows(self, stream):
        """Where those begin that do not overlap."""
        return np.arange((len(stream) - 1) // self.context) * self.context

    def rows(self, stream, starts):
        """Tokens, and of each the next one."""
        at = np.asarray(starts)[:, None] + np.arange(self.context)
        return stream[at], stream[at] if wrong("foretells_itself") else stream[at + 1]

    def all_rows(self, stream):
        return self.rows(stream, self.windows(stream))


def streams_of(config, user):
    """Documents go whole into one part."""
    texts = documents_of(config["seed"], user)
    order = Stream(derive_seed(derive_seed(config["seed"], "data"), "documents of " + user))
    order.shuffle(texts)
    size = sum(len(x) for x in texts)
    test, left = taken(texts, config["data.test_share"] * size)
    validation, train = taken(left, config["data.validation_share"] * size)
    most = config.get("data.tokens", 0)
    return Streams(config["data.context"], tokens_of(train)[:most or None],
                   *(tokens_of(x) for x in (validation, test)))


def joined(users):
    """One user of all, behind each other. Tests are not: who has them is told apart."""
    if wrong("pooled_texts_are_the_first_user_s"):
        users = users[:1]
    return Streams(users[0].context, *(np.concatenate([getattr(x, part) for x in users])
                                       for part in ("train", "validation", "test")))


def batches(visit, stream, seed):
    """By epochs; or of windows that are drawn: of those without overlap, or at any place."""
    of, rule = visit.streams[visit.client - 1], visit.option("training.batches")
    starts = of.windows(stream)
    if rule == "epochs":
        for places in visit.places(seed, len(starts)):
            yield of.rows(stream, starts[places])
    draws, size = Stream(derive_seed(seed, "batches")), visit.option("training.batch_size")
    count = starts[-1] + 1 if rule == "anywhere" else len(starts)
    while True:
        drawn = [draws.below(int(count)) for _ in range(size or len(starts))]
        yield of.rows(stream, drawn if rule == "anywhere" else starts[drawn])
