"""Trainers on small known data, for the tests of this room."""

from __future__ import annotations

import torch

from maskrank.core.config import DEFAULT, TrainConfig
from maskrank.core.data.features import Pool
from maskrank.core.data.rows import Rows
from maskrank.core.method.construction import SearchSpace, build_trainer
from maskrank.core.method.tasks import BinaryTask
from maskrank.core.method.training import DualNetTrainer

D = 12
CONFIG = DEFAULT.using(operator_hidden=(16,), selector_hidden=(16,), max_batches=40, calibration__n_subsets=32)


def xor_trainer(seed: int = 0, config: TrainConfig = CONFIG, pool: tuple[int, ...] = tuple(range(D))) -> DualNetTrainer:
    """Class 1 where features 4 and 9 have the same sign; the nets are as they begin."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn((500, D), generator=g)
    y = (x[:, 4] * x[:, 9] > 0).long()
    rows, validation = Rows(x[:400], y[:400]), Rows(x[400:], y[400:])
    search = SearchSpace(Pool(torch.tensor(pool)), [], 2)
    return build_trainer(BinaryTask(), rows, validation, search, config=config, generator=g)
