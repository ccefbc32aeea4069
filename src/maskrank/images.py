"""Importance maps: scores as hue on a grey image, and images as PNG files."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

HUES = ((92, 40, 205), (155, 40, 185), (214, 80, 120), (250, 150, 60), (250, 245, 60))  # from the least to the most


def overlay(scores: Array, background: Array) -> Array:
    """Importance as hue on a grey image; a pixel without a score shows the image alone.

    Hues run from violet, the least, over red to yellow, the most, and grow lighter all the way, so that people with
    any kind of colour vision can tell them apart.

    Parameters
    ----------
    scores, background : array (d,)
        Scores that are not positive count as none; the background is stretched from black to white.

    Returns
    -------
    array (d, 3)
        Red, green and blue from 0 to 1.
    """
    share = np.maximum(scores, 0) / max(float(scores.max()), 1e-12)
    light = background - background.min()
    light = light / max(float(light.max()), 1e-12)
    steps = np.linspace(0, 1, len(HUES))
    colour = np.column_stack([np.interp(share, steps, np.array(HUES)[:, part] / 255) for part in range(3)])
    return np.where((scores > 0)[:, None], colour, light[:, None])


def among_chosen(scores: Array, chosen: Array) -> Array:
    """Scores of the chosen features from just above 0, the least, to 1, the most; 0 for the rest: (d,), (d,) -> (d,).

    Parameters
    ----------
    chosen : array (d,) of bool
    """
    low, high = float(scores[chosen].min()), float(scores[chosen].max())
    share = (scores - low) / (high - low) if high > low else np.ones_like(scores)
    return np.where(chosen, np.maximum(share, 1e-3), 0.0)


def png(pixels: Array) -> bytes:
    """A PNG file of an image (height, width, 3) with values from 0 to 1."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each row begins with its filter, none
    rows[:, 1:] = np.round(255 * np.clip(pixels, 0, 1)).astype(np.uint8).reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, red green blue
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
