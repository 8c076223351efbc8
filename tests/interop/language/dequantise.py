#!/usr/bin/env python3
"""What blocks of each type stand for, as PyPI's `gguf` says it, for the tests to compare with.

    dequantise.py

Writes tests/golden/language/dequantise.txt: a line of a type, the bytes of some blocks, and the
floats that these are, both in hex as they lie in memory. The bytes are drawn, but for scales, which
are finite: what is no number has bits that differ from one processor to another.
"""

import pathlib

import gguf
import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden" / "language" / "dequantise.txt"
BLOCKS = 3
# Where a block has numbers of sixteen bits.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2],
          "Q5_K": [0, 2], "Q6_K": [208]}
HALVES = [0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x83ff, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x3555,
          0x7c00, 0xfc00, 0x0200, 0x1234]


def drawn(name, draw):
    """Bytes of BLOCKS blocks; the last has scales too small to have a leading bit."""
    _, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    blocks = draw.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
    for at in SCALES[name]:
        blocks[:, at + 1] &= 0xBF  # Below 2: products stay finite.
        blocks[-1, at + 1] &= 0x83
    return blocks.tobytes()


def main():
    draw = np.random.default_rng(22)
    content = {name: drawn(name, draw) for name in SCALES}
    halves = np.array(HALVES, dtype="<u2").tobytes()
    content |= {"F16": halves, "BF16": halves,
                "F32": np.array([1.5, -0.0, 3e-41, np.inf], dtype="<f4").tobytes()}
    lines = []
    for name, said in content.items():
        kind = gguf.GGMLQuantizationType[name]
        values = gguf.quants.dequantize(np.frombuffer(said, dtype=np.uint8), kind)
        lines.append(f"{name} {said.hex()} {np.asarray(values, dtype='<f4').tobytes().hex()}\n")
    GOLDEN.write_text("".join(lines))
    print(f"{len(lines)} types in {GOLDEN}")


if __name__ == "__main__":
    main()
