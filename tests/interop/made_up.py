"""Images that are made up, of a few classes: what a run here learns from.

Usage: made_up.py FOLDER        the files of a data set, of troupe's kind `idx`
"""

import pathlib
import struct
import sys

import numpy as np

SIDE = 40
CLASSES = 12


def draw(name, count):
    """So many images, of bytes, and their labels; equal names give equal ones."""
    centres = np.random.default_rng(1).uniform(0, 1, (CLASSES, SIDE * SIDE)) < 0.5
    chance = np.random.default_rng(list(name.encode()))
    labels = chance.integers(CLASSES, size=count)
    noise = chance.normal(0, 60, (count, SIDE * SIDE))
    pixels = np.clip(100 + 40 * centres[labels] + noise, 0, 255).astype(np.uint8)
    return pixels, labels.astype(np.uint8)


def write(folder):
    for name, count in (("train", 1200), ("t10k", 400)):
        pixels, labels = draw(name, count)
        shape = struct.pack(">4I", 0x803, count, SIDE, SIDE)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(shape + pixels.tobytes())
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(
            struct.pack(">2I", 0x801, count) + labels.tobytes())


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
