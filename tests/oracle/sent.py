"""What crosses the wire of values: all digits, or those of a bf16."""

import numpy as np

from planted import wrong

NOISE = 2.0**-21  # Some roundings of single precision, of what a value was made of.


def bf16(x):
    """The nearest value of eight bits, in the middle the even one: Google's format, as IEEE 754 rounds."""
    bits = np.asarray(x, dtype=np.float32).view(np.uint32)
    up = np.uint32(0) if wrong("cut_off") else np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    return (bits + up & np.uint32(0xFFFF0000)).view(np.float32).astype(float)


def sent(config, values):
    """Of each block."""
    if config["merge.wire"] != "bf16" or wrong("all_digits"):
        return values
    return {block: bf16(x) for block, x in values.items()}


def turned(values, made_of):
    """How far off values are, where those so near would have been rounded to others."""
    near = {block: NOISE * (abs(x) + abs(made_of[block])) for block, x in values.items()}
    return sum(float(np.linalg.norm(bf16(x + near[block]) - bf16(x - near[block])))
               for block, x in values.items())
