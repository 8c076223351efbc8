"""Slopes of what is computed from arrays: each result knows what it was made of, and how a slope along
it becomes slopes along these. Arrays may be complex, where a derivative along a direction is the
imaginary part of a tiny step: so nothing here conjugates."""

import numpy as np


def fitted(slope, shape):
    """Sums over what was spread over more places than there were."""
    extra = slope.ndim - len(shape)
    if extra:
        slope = slope.sum(axis=tuple(range(extra)))
    spread = tuple(i for i, n in enumerate(shape) if n == 1 and slope.shape[i] != 1)
    return slope.sum(axis=spread, keepdims=True) if spread else slope


class Node:
    def __init__(self, value, parents=()):
        self.value = np.asarray(value)
        self.parents = parents  # Each a node, and the function of a slope.

    @property
    def shape(self):
        return self.value.shape

    def __add__(self, other):
        other = node(other)
        return Node(self.value + other.value,
                    ((self, lambda g: fitted(g, self.shape)),
                     (other, lambda g: fitted(g, other.shape))))

    def __mul__(self, other):
        other = node(other)
        return Node(self.value * other.value,
                    ((self, lambda g: fitted(g * other.value, self.shape)),
                     (other, lambda g: fitted(g * self.value, other.shape))))

    def __matmul__(self, other):
        a, b = self.value, other.value
        return Node(a @ b, ((self, lambda g: fitted(g @ b.swapaxes(-1, -2), a.shape)),
                            (other, lambda g: fitted(a.swapaxes(-1, -2) @ g, b.shape))))

    def __sub__(self, other):
        return self + node(other) * -1.0

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, power):
        return Node(self.value**power,
                    ((self, lambda g: g * power * self.value**(power - 1)),))

    def of(self, function, slope):
        """Element by element; `slope` is of the result."""
        result = function(self.value)
        return Node(result, ((self, lambda g: g * slope(result)),))

    def exp(self):
        return self.of(np.exp, lambda y: y)

    def tanh(self):
        return self.of(np.tanh, lambda y: 1 - y * y)

    def log(self):
        return Node(np.log(self.value), ((self, lambda g: g / self.value),))

    def sum(self, axis):
        """The axis stays, with one place."""
        return Node(self.value.sum(axis=axis, keepdims=True),
                    ((self, lambda g: np.broadcast_to(g, self.shape)),))

    def mean(self, axis):
        return self.sum(axis) * (1 / self.shape[axis])

    def all(self):
        """The sum of everything."""
        return Node(self.value.sum(), ((self, lambda g: np.broadcast_to(g, self.shape)),))

    def reshape(self, *shape):
        return Node(self.value.reshape(shape), ((self, lambda g: g.reshape(self.shape)),))

    def swap(self, a, b):
        return Node(self.value.swapaxes(a, b), ((self, lambda g: g.swapaxes(a, b)),))

    def __getitem__(self, places):
        def back(g):
            slope = np.zeros(self.shape, dtype=g.dtype)
            np.add.at(slope, places, g)
            return slope
        return Node(self.value[places], ((self, back),))


def node(x):
    return x if isinstance(x, Node) else Node(x)


def softmax(x):
    """Over the last axis."""
    powers = (x - x.value.real.max(axis=-1, keepdims=True)).exp()
    return powers * powers.sum(-1)**-1.0


def log_softmax(x):
    shifted = x - x.value.real.max(axis=-1, keepdims=True)
    return shifted - shifted.exp().sum(-1).log()


def before(x):
    """All that a result was made of, each after what it was made of itself."""
    order, seen, stack = [], set(), [(x, False)]
    while stack:
        x, is_done = stack.pop()
        if is_done:
            order.append(x)
        elif id(x) not in seen:
            seen.add(id(x))
            stack.append((x, True))
            stack.extend((parent, False) for parent, _ in x.parents)
    return order


def slopes(of, leaves):
    """Of a single number, along each of these."""
    order = before(of)
    wanted = {id(x) for x in leaves}
    for x in order:
        if any(id(parent) in wanted for parent, _ in x.parents):
            wanted.add(id(x))
    found = {id(of): np.ones_like(of.value)}
    for x in reversed(order):
        if id(x) not in found:
            continue
        for parent, back in x.parents:
            if id(parent) in wanted:
                more = back(found[id(x)])
                found[id(parent)] = found[id(parent)] + more if id(parent) in found else more
    return [found.get(id(x), np.zeros_like(x.value)) for x in leaves]
