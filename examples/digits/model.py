"""A small network in numpy: dense layers with ReLU, softmax on top, SGD with momentum."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
CLASSES = 10


@dataclass
class Network:
    """Weights and biases in turn; `average` is the running mean of them that is evaluated.

    With no hidden layer this is softmax regression.
    """

    weights: list[Array]
    velocity: list[Array]
    average: list[Array]

    @classmethod
    def new(cls, inputs: int, hidden: tuple[int, ...], rng: np.random.Generator) -> Network:
        sizes = [inputs, *hidden, CLASSES]
        weights: list[Array] = []
        for fan_in, fan_out in pairwise(sizes):
            spread = np.sqrt(2.0 / fan_in)
            weights.append((rng.standard_normal((fan_in, fan_out)) * spread).astype(np.float32))
            weights.append(np.zeros(fan_out, np.float32))
        return cls(weights, [np.zeros_like(w) for w in weights], [w.copy() for w in weights])

    def train_step(self, x: Array, labels: NDArray[np.int64], lr: float, momentum: float) -> float:
        """One step of SGD on a batch `x` (n, inputs); returns the batch's mean cross-entropy."""
        activations = [x]
        for w, b in _pairs(self.weights)[:-1]:
            activations.append(np.maximum(activations[-1] @ w + b, 0))
        probabilities = _softmax(activations[-1] @ self.weights[-2] + self.weights[-1])
        rows = np.arange(len(x))
        loss = float(-np.log(np.maximum(probabilities[rows, labels], 1e-12)).mean())
        probabilities[rows, labels] -= 1
        self._descend(activations, probabilities / np.float32(len(x)), np.float32(lr), np.float32(momentum))
        return loss

    def _descend(self, activations: list[Array], error: Array, lr: np.float32, momentum: np.float32) -> None:
        gradients: list[Array] = [error] * len(self.weights)
        for k in range(len(self.weights) - 2, -1, -2):
            before = activations[k // 2]
            gradients[k], gradients[k + 1] = before.T @ error, error.sum(axis=0)
            if k:
                error = (error @ self.weights[k].T) * (before > 0)
        for w, v, g in zip(self.weights, self.velocity, gradients, strict=True):
            v *= momentum
            v -= lr * g
            w += v

    def update_average(self, step: int, decay: float) -> None:
        """Move the average towards the weights; the early average forgets its start quickly."""
        keep = np.float32(min(decay, (1 + step) / (10 + step)))
        for mean, w in zip(self.average, self.weights, strict=True):
            mean *= keep
            mean += (1 - keep) * w

    def predict(self, x: Array) -> NDArray[np.int64]:
        """Most probable class of each row of `x`, by the averaged weights."""
        for w, b in _pairs(self.average)[:-1]:
            x = np.maximum(x @ w + b, 0)
        scores = x @ self.average[-2] + self.average[-1]
        answer: NDArray[np.int64] = scores.argmax(axis=1)
        return answer

    def arrays(self) -> dict[str, Array]:
        """Every array of the state, by name."""
        kinds = {"weights": self.weights, "velocity": self.velocity, "average": self.average}
        return {f"{kind}.{i}": a for kind, arrays in kinds.items() for i, a in enumerate(arrays)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Network:
        """Invert `arrays`."""

        def kind(name: str) -> list[Array]:
            count = sum(key.startswith(f"{name}.") for key in arrays)
            return [arrays[f"{name}.{i}"] for i in range(count)]

        return cls(kind("weights"), kind("velocity"), kind("average"))


def _pairs(arrays: list[Array]) -> list[tuple[Array, Array]]:
    return list(zip(arrays[::2], arrays[1::2], strict=True))


def _softmax(scores: Array) -> Array:
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    answer: Array = shifted / shifted.sum(axis=1, keepdims=True)
    return answer
