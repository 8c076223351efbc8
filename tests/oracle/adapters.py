"""Adapters of low rank: for each layer W (m x n) a product U V^T and a bias, which a model adds to
its own. Factors lie rank by rank: `u` as r x m, `v` as r x n. Behind them is what a model
has of an adapter as it is."""

import numpy as np

from draws import Stream, derive_seed
from planted import wrong


def rank_of(size, rows, columns):
    """A rank, or the share of the layer's values that there is room for."""
    if "rank" in size:
        return size["rank"]
    return max(1, int(size["budget"] * rows * columns / (rows + columns)))


class Adapter:
    def __init__(self, model, size, biased, layers=None, scale=1.0, whole=()):
        """Beside all layers that the model says, or these. Its products count `scale`; and in the layers
        of `other` it has another rank. What is `whole` of the model, by place and size, is added to."""
        self.model = model
        self.biased = biased
        self.scale = scale
        self.parts = []  # (layer, rank, where u begins, where v does, where the bias does)
        self.size = 0
        for layer in model.layers if layers is None else layers:
            rows, columns, _, _ = layer
            rank = size.get("other", {}).get(layer, rank_of(size, rows, columns))
            u_at, v_at = self.size, self.size + rank * rows
            bias_at = v_at + rank * columns
            self.parts.append((layer, rank, u_at, v_at, bias_at))
            self.size = bias_at + (rows if biased else 0)
        self.whole = []  # (where it is in the model, where it is here)
        for at, count in whole:
            self.whole.append((slice(at, at + count), slice(self.size, self.size + count)))
            self.size += count

    def initial(self, seed, gain):
        """`u` and the bias are zero, `v` is uniform within gain / sqrt(n)."""
        a = np.zeros(self.size)
        for i, part in enumerate(self.parts):
            columns = part[0][1]
            draws = Stream(derive_seed(seed, "adapter", i))
            self.v(a, part)[:] = draws.around_zero(
                part[1] * columns, gain / columns**0.5).reshape(part[1], columns)
        return a

    def u(self, a, part):
        (rows, _, _, _), rank, at, _, _ = part
        return a[at:at + rank * rows].reshape(rank, rows)

    def v(self, a, part):
        (_, columns, _, _), rank, _, at, _ = part
        return a[at:at + rank * columns].reshape(rank, columns)

    def bias(self, a, part):
        rows, at = part[0][0], part[4]
        return a[at:at + rows] if self.biased else a[:0]

    def change(self, a):
        """What the adapter adds to the model's parameters."""
        change = np.zeros(self.model.size, dtype=a.dtype)
        for part in self.parts:
            self.model.weight(change, part[0])[:] = self.scale * (
                self.u(a, part).T @ self.v(a, part))
            if self.biased:
                self.model.bias(change, part[0])[:] = self.bias(a, part)
        for there, here in self.whole:
            change[there] = a[here]
        return change

    def pull_back(self, a, slope):
        """The gradient by the adapter where the model's parameters have this one."""
        gradient = np.zeros(self.size, dtype=np.result_type(a, slope))
        for part in self.parts:
            of_weight = self.scale * self.model.weight(slope, part[0])
            self.u(gradient, part)[:] = self.v(a, part) @ of_weight.T
            self.v(gradient, part)[:] = self.u(a, part) @ of_weight
            if self.biased:
                self.bias(gradient, part)[:] = self.model.bias(slope, part[0])
        for there, here in self.whole:
            gradient[here] = slope[there]
        return gradient

    def preconditioned(self, a, gradient, damping):
        """G_U (V^T V + eps I)^-1 and G_V (U^T U + eps I)^-1."""
        changed = gradient.copy()
        for part in self.parts:
            u, v = self.u(a, part), self.v(a, part)
            more = damping * np.eye(part[1])
            self.u(changed, part)[:] = np.linalg.solve(v @ v.T + more, self.u(gradient, part))
            self.v(changed, part)[:] = np.linalg.solve(u @ u.T + more, self.v(gradient, part))
        return changed

    def product_mean(self, offers, weights):
        """The best of the common rank of what these add to a model, in the mean: the largest first, of
        which inner factors have length one."""
        mean = np.zeros(self.size)
        for part in self.parts:
            product = sum(w * self.u(a, part).T @ self.v(a, part) for w, a in zip(weights, offers))
            left, values, right = np.linalg.svd(product / sum(weights))
            rank = part[1]
            if wrong("values_in_the_inner_factor"):
                self.u(mean, part)[:] = left.T[:rank]
                self.v(mean, part)[:] = values[:rank, None] * right[:rank]
            else:
                self.u(mean, part)[:] = values[:rank, None] * left.T[:rank]
                self.v(mean, part)[:] = right[:rank]
        return mean

    def facing(self, a, other):
        """The same product, of which each rank has the signs of another's."""
        turned = a.copy()
        for part in self.parts:
            signs = np.sign((self.v(a, part) * self.v(other, part)).sum(axis=1))[:, None]
            self.u(turned, part)[:] *= signs
            self.v(turned, part)[:] *= signs
        return turned

    def factors(self, a):
        """Zeros in what is whole."""
        kept = a.copy()
        for _, here in self.whole:
            kept[here] = 0
        return kept

    def cut(self, a, rank):
        """Zeros beyond the first ranks."""
        kept = a.copy()
        for part in self.parts:
            self.u(kept, part)[rank:] = 0
            self.v(kept, part)[rank:] = 0
        return kept
