"""Is a change pure? A hash over scores, support and predictions of sixteen kinds of fit.

A change that only moves or renames code leaves every bit of every answer as it was. Save the hashes before it and
compare after it, on the same machine: bits depend on the processor and on the libraries.

Usage: python benchmarks/fingerprint.py --save FILE; python benchmarks/fingerprint.py --compare FILE [--only xor,...]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from joblib import Parallel, delayed

from maskrank import DualNetClassifier, DualNetRegressor, ImageCNN
from maskrank.datasets import (
    load_dataset,
    make_nonlinear_regression,
    make_orange_skin,
    make_ring_xor,
    make_ring_xor_sum,
    make_xor,
)


def digest(model: Any, X: Any) -> str:
    """A hash over everything a user can read off a fitted model."""
    found = hashlib.sha256()
    arrays = [model.raw_scores_, model.feature_importances_, model.support_, model.ranking_, model.predict(X)]
    arrays += [model.predict_proba(X)] if hasattr(model, "predict_proba") else []
    arrays += [np.array([model.validation_score_, model.baseline_score_, model.signal_])]
    if model.stability_ is not None:
        arrays += [model.stability_.frequency, model.stability_.score_low, model.stability_.order]
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def synthetic(make: Callable[..., Any], kind: Any, preset: str) -> str:
    X, y, _ = make(512, random_state=[11, 0])
    return digest(kind(5, preset=preset, random_state=0).fit(X, y), X)


def needles(make: Callable[..., Any], d: int) -> str:
    X, y, relevant = make(1000, d, random_state=[11, d])
    return digest(DualNetClassifier(2 * len(relevant), random_state=0).fit(X, y), X)


def real(name: str, size: int) -> str:
    data = load_dataset(name)
    return digest(DualNetClassifier(size, random_state=0).fit(data.X, data.y), data.X)


def cnn() -> str:
    rng = np.random.default_rng(11)
    X = rng.standard_normal((160, 144))
    y = (X[:, 30] + X[:, 31] + X[:, 42] > 0).astype(int)
    operator = partial(ImageCNN, image_shape=(12, 12))
    return digest(DualNetClassifier(8, operator=operator, max_batches=60, random_state=0).fit(X, y), X)


def sparse() -> str:
    rng = np.random.default_rng(12)
    X = scipy.sparse.random(400, 300, density=0.1, random_state=12, format="csr")
    dense = X.toarray()
    y = 3 * dense[:, 0] - 2 * dense[:, 1] * (dense[:, 2] > 0) + 0.1 * rng.standard_normal(400)
    return digest(DualNetRegressor(4, random_state=0).fit(X, y), X)


def memory_mapped() -> str:
    rng = np.random.default_rng(13)
    X = rng.standard_normal((300, 4000)).astype(np.float32)
    y = (X[:, 7] * X[:, 9] + 0.3 * rng.standard_normal(300) > 0).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        mapped = np.load(Path(folder) / "X.npy", mmap_mode="r")
        return digest(DualNetClassifier(4, random_state=0).fit(mapped, y), mapped)


def own_validation() -> str:
    X, y, _ = make_ring_xor(900, 40, random_state=[11, 40])
    model = DualNetClassifier(6, random_state=0).fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    return digest(model, X)


def repeats() -> str:
    X, y, _ = make_xor(400, random_state=[11, 1])
    return digest(DualNetClassifier(3, n_repeats=2, random_state=0).fit(X, y), X)


FITS: dict[str, Callable[[], str]] = {
    "xor, default": partial(synthetic, make_xor, DualNetClassifier, "default"),
    "regression, default": partial(synthetic, make_nonlinear_regression, DualNetRegressor, "default"),
    "orange skin, default": partial(synthetic, make_orange_skin, DualNetClassifier, "default"),
    "xor, paper": partial(synthetic, make_xor, DualNetClassifier, "paper"),
    "regression, paper": partial(synthetic, make_nonlinear_regression, DualNetRegressor, "paper"),
    "orange skin, paper": partial(synthetic, make_orange_skin, DualNetClassifier, "paper"),
    "needles, 64": partial(needles, make_ring_xor, 64),
    "needles, 512": partial(needles, make_ring_xor_sum, 512),
    "tox171, s = 10": partial(real, "tox171", 10),
    "vowel": partial(real, "vowel", 5),
    "glass": partial(real, "glass", 4),
    "cnn": cnn,
    "sparse": sparse,
    "memory-mapped": memory_mapped,
    "X_val": own_validation,
    "repeats": repeats,
}


def run(name: str) -> str:
    torch.set_num_threads(1)
    return FITS[name]()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--only", default=None)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names = [name for name in FITS if options.only is None or name.split(",")[0] in options.only.split(",")]
    found = dict(zip(names, Parallel(options.jobs)(delayed(run)(name) for name in names), strict=True))
    before = json.loads(options.compare.read_text()) if options.compare else {}
    for name, value in found.items():
        print(f"{name:22} {value} {'' if name not in before else 'same' if before[name] == value else 'DIFFERS'}")
    total = hashlib.sha256("".join(found.values()).encode()).hexdigest()[:16]
    print(f"{'all':22} {total}")
    if options.save:
        options.save.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(any(before.get(name, value) != value for name, value in found.items()))


if __name__ == "__main__":
    main()
