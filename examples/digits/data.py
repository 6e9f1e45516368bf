"""The 8x8 digits of scikit-learn, their splits, and the distortions used in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.float32]  # (n, 8, 8), values 0 to 1
Labels = NDArray[np.int64]  # (n,), values 0 to 9

SIDE = 8
#: The split of scikit-learn's own example: the first half trains, the second half tests.
TRAIN_ITEMS = 898
FOLDS = 4


@dataclass(frozen=True)
class Split:
    """Training images, evaluation images, and the evaluation images' positions in the data set."""

    train_images: Images
    train_labels: Labels
    eval_images: Images
    eval_labels: Labels
    eval_index: NDArray[np.int64]


def load(split: str, fold: int = 0) -> Split:
    """Load a split of the data set.

    `test`: train on the first half, evaluate on the second half (899 images).
    `validation`: cut the first half into four contiguous blocks, evaluate on
    block `fold`, train on the others; the second half is never touched.
    Blocks are contiguous because neighbours come from the same writers.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)
    labels = digits.target.astype(np.int64)
    everything = np.arange(len(images))
    if split == "test":
        train, held_out = everything[:TRAIN_ITEMS], everything[TRAIN_ITEMS:]
    else:
        held_out = np.array_split(everything[:TRAIN_ITEMS], FOLDS)[fold]
        train = np.setdiff1d(everything[:TRAIN_ITEMS], held_out)
    return Split(images[train], labels[train], images[held_out], labels[held_out], held_out)


@dataclass(frozen=True)
class Distortion:
    """Largest random change of a training image; all zero means none."""

    shift: float = 0.0  #: pixels, each axis
    turn: float = 0.0  #: radians of rotation, and shear of the same size
    stretch: float = 0.0  #: log of the scale factor, each axis

    @property
    def none(self) -> bool:
        return self.shift == self.turn == self.stretch == 0.0


def distort(images: Images, how: Distortion, rng: np.random.Generator) -> Images:
    """Return `images`, each under its own random affine map, sampled bilinearly; shape is kept."""
    if how.none:
        return images
    n = len(images)

    def draw(limit: float) -> NDArray[np.float64]:
        return rng.uniform(-limit, limit, (n, 1, 1))

    angle, shear = draw(how.turn), draw(how.turn)
    scale_y, scale_x = np.exp(draw(how.stretch)), np.exp(draw(how.stretch))
    centre = (SIDE - 1) / 2
    grid = np.arange(SIDE) - centre
    y, x = grid[None, :, None], grid[None, None, :]
    source_y = np.cos(angle) * scale_y * y - np.sin(angle) * scale_x * x + draw(how.shift)
    source_x = np.sin(angle) * scale_y * y + (np.cos(angle) + shear) * scale_x * x + draw(how.shift)
    return _sample(images, source_y + centre, source_x + centre)


def _sample(images: Images, y: NDArray[np.float64], x: NDArray[np.float64]) -> Images:
    """Read `images` at fractional positions; outside them it is black."""
    border = 2
    padded = np.pad(images, ((0, 0), (border, border), (border, border)))
    last = padded.shape[1] - 1
    y = np.clip(y + border, 0, last - 1e-3)
    x = np.clip(x + border, 0, last - 1e-3)
    top, left = y.astype(np.int64), x.astype(np.int64)
    down, right = (y - top).astype(np.float32), (x - left).astype(np.float32)
    each = np.arange(len(images))[:, None, None]
    upper = padded[each, top, left] * (1 - right) + padded[each, top, left + 1] * right
    lower = padded[each, top + 1, left] * (1 - right) + padded[each, top + 1, left + 1] * right
    return (upper * (1 - down) + lower * down).astype(np.float32)
