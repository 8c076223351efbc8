"""Weights that follow a rule, so that no file of them is kept; tests/support/tiny_language.hpp has it, too."""


def value(phase, i):
    """One of 1,024 values from -1/2."""
    x = (i * 2654435761 + phase * 40503) & 0xFFFFFFFF
    x ^= x >> 15
    x = x * 2246822519 & 0xFFFFFFFF
    x ^= x >> 13
    return ((x >> 4 & 1023) - 512) / 1024


def plain(name):
    for around in ("transformer.", "model.", "bert.", "roberta.", "deberta."):
        if name.startswith(around):
            name = name[len(around):]
            break
    return name.replace(".decoder.bias", ".bias")


def phase_of(name):
    return sum(plain(name).encode())


def is_norm(name):
    low = plain(name).lower()
    return low.endswith(".weight") and ("norm" in low or "ln_" in low)


def values_of(name, count):
    """Scales of norms are about one, all else about zero."""
    phase = phase_of(name)
    return [value(phase, i) + (1 if is_norm(name) else 0) for i in range(count)]
