"""Layers with ReLU between them in double precision, with the gradient written out. Everything
here also takes complex parameters, so that a derivative of a gradient along a direction is exact:
the imaginary part of the gradient a tiny imaginary step away."""

import numpy as np

from draws import Stream, derive_seed

TINY = 1e-40


class Model:
    """`widths` from inputs to outputs. Labels cost their cross-entropy, numbers the mean square of
    what they are off."""

    def __init__(self, widths, labels):
        self.labels = labels
        self.layers = []  # (rows, columns, where the weight begins, where the bias does)
        self.size = 0
        for columns, rows in zip(widths, widths[1:]):
            self.layers.append((rows, columns, self.size, self.size + rows * columns))
            self.size += rows * columns + rows

    @property
    def head_at(self):
        """Where the last layer begins."""
        return self.layers[-1][2]

    def initial(self, seed):
        parts = []
        for i, (rows, columns, _, _) in enumerate(self.layers):
            for tensor, count in ((2 * i, rows * columns), (2 * i + 1, rows)):
                draws = Stream(derive_seed(seed, "initial parameters", tensor))
                parts.append(draws.around_zero(count, columns**-0.5))
        return np.concatenate(parts)

    def weight(self, w, layer):
        rows, columns, at, _ = layer
        return w[at:at + rows * columns].reshape(rows, columns)

    def bias(self, w, layer):
        rows, _, _, at = layer
        return w[at:at + rows]

    def run(self, w, x):
        """What goes into each layer, and what comes out of the last."""
        inputs = []
        for i, layer in enumerate(self.layers):
            inputs.append(x)
            x = x @ self.weight(w, layer).T + self.bias(w, layer)
            if i + 1 < len(self.layers):
                x = np.where(x.real > 0, x, 0)
        return inputs, x

    def outputs(self, w, x):
        return self.run(w, x)[1]

    def judge(self, outputs, y):
        """The loss of each row, and its slope by the row's outputs."""
        if not self.labels:
            off = outputs - y
            return (off * off).mean(axis=1), 2 * off / y.shape[1]
        shifted = outputs - outputs.real.max(axis=1, keepdims=True)
        powers = np.exp(shifted)
        sums = powers.sum(axis=1, keepdims=True)
        rows = np.arange(len(y))
        slopes = powers / sums
        slopes[rows, y] -= 1
        return np.log(sums[:, 0]) - shifted[rows, y], slopes

    def pull_back(self, w, x, slopes):
        """The gradient by the parameters where each row's outputs have these slopes."""
        inputs, _ = self.run(w, x)
        gradient = np.zeros(self.size, dtype=slopes.dtype)
        for i in reversed(range(len(self.layers))):
            layer = self.layers[i]
            self.weight(gradient, layer)[:] = slopes.T @ inputs[i]
            self.bias(gradient, layer)[:] = slopes.sum(axis=0)
            slopes = (slopes @ self.weight(w, layer)) * (inputs[i].real > 0)
        return gradient

    def gradient(self, w, rows, weights=None):
        """Of the mean loss of the rows, each counted as `weights` says."""
        x, y = rows
        losses, slopes = self.judge(self.outputs(w, x), y)
        if weights is not None:
            slopes = slopes * weights[:, None]
        return self.pull_back(w, x, slopes / len(x))

    def losses(self, w, rows):
        return self.judge(self.outputs(w, rows[0]), rows[1])[0]


def along(gradient_at, point, direction):
    """The second derivative times a direction."""
    return gradient_at(point + 1j * TINY * direction).imag / TINY
