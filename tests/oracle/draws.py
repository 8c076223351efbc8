"""What a run draws at random, as core/random.hpp has it. Draws are taken as given: what is judged
is what a run makes of them."""

import math

import numpy as np

ALL = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    x = (x + GOLDEN) & ALL
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & ALL
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & ALL
    return x ^ (x >> 31)


def derive_seed(seed, name, index=0):
    x = mix(seed & ALL)
    for c in name.encode():
        x = mix(x ^ c)
    return mix((mix(x ^ 0xFF51AFD7ED558CCD) + index) & ALL)


class Stream:
    def __init__(self, seed):
        self.state = [mix((seed + i * GOLDEN) & ALL) for i in range(4)]

    def next(self):
        def turned(x, by):
            return ((x << by) | (x >> (64 - by))) & ALL

        s = self.state
        result = (turned((s[1] * 5) & ALL, 7) * 9) & ALL
        t = (s[1] << 17) & ALL
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = turned(s[3], 45)
        return result

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53

    def below(self, n):
        least = (1 << 64) % n
        while True:
            x = self.next()
            if x >= least:
                return x % n

    def shuffle(self, xs):
        for i in range(len(xs), 1, -1):
            j = self.below(i)
            xs[i - 1], xs[j] = xs[j], xs[i - 1]

    def normal(self):
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())

    def normals(self, count, deviation=1.0):
        return np.array([deviation * self.normal() for _ in range(count)])

    def around_zero(self, count, bound):
        """Uniform in [-bound, bound), as single precision keeps it."""
        return single([bound * (2 * self.uniform() - 1) for _ in range(count)])


def single(x):
    """Values as they are stored: rounded to single precision, to go on in double."""
    return np.asarray(x, dtype=np.float32).astype(np.float64)
