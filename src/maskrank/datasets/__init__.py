"""Data sets: generators of the paper's synthetic problems and of sparse ones ("needles"), and loaders of public ones.

Files of the user's own are read in `tables`.
"""

from maskrank.datasets.causal import make_dag
from maskrank.datasets.loading import Dataset, load_dataset
from maskrank.datasets.synthetic import (
    Problem,
    make_nonlinear_regression,
    make_orange_skin,
    make_ring,
    make_ring_xor,
    make_ring_xor_sum,
    make_xor,
    make_xor_pair,
)

__all__ = [
    "Dataset",
    "Problem",
    "load_dataset",
    "make_dag",
    "make_nonlinear_regression",
    "make_orange_skin",
    "make_ring",
    "make_ring_xor",
    "make_ring_xor_sum",
    "make_xor",
    "make_xor_pair",
]
