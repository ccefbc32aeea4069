"""The MLP of the paper's comparisons, for methods that choose features and do not predict."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.metaestimators import available_if

from maskrank.baselines._base import Array, Floats, Predicts
from maskrank.baselines._nets import Net, Training, adam, decode, n_outputs, new_generator, outputs, train_net


class MLP(Predicts):
    """A multi-layer perceptron for labels or numbers; torch does the work.

    Columns, and the numbers of a regression, are standardised inside. Training is Adam on a cross-entropy or a squared
    error, and ends by the loss on a fifth of the rows that it does not learn from.

    Parameters
    ----------
    hidden : tuple of int
        Sizes of the hidden layers; the paper's for its 4-way classification.
    activation : "sigmoid", "silu" or "relu"
    rate : float
        Of Adam.
    batch_size : int
    max_steps : int
    patience : int
        Steps without a better held-out loss after which training ends.
    weight_decay : float
        Times half the squared weights, in the loss.
    task : "auto", "classification" or "regression"
        "auto" takes continuous floats for a regression.
    random_state : int, NumPy generator or None

    Attributes
    ----------
    net_ : torch.nn.Module
    held_out_ : ndarray of int
        Training rows kept for early stopping.
    task_ : str
    n_features_in_ : int

    Examples
    --------
    >>> from maskrank.datasets import make_xor_pair
    >>> X, y, _ = make_xor_pair(400, 2, random_state=0)
    >>> MLP((20,), "relu", max_steps=1000, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (60, 30, 20),
        activation: str = "sigmoid",
        *,
        rate: float = 3e-3,
        batch_size: int = 64,
        max_steps: int = 10_000,
        patience: int = 1_000,
        weight_decay: float = 5e-4,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.rate = rate
        self.batch_size = batch_size
        self.max_steps = max_steps
        self.patience = patience
        self.weight_decay = weight_decay
        self.task = task
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train the net.

        Parameters
        ----------
        X : array-like (n, d)
        y : array-like (n,)
            Labels or numbers.
        """
        X, y = self._learn_table(X, y)
        generator = new_generator(self._rng())
        sizes = (X.shape[1], *self.hidden, n_outputs(self.task_, y))
        net = Net(sizes, self.activation, generator=generator)
        training = Training(self.rate, self.batch_size, self.max_steps, self.patience, self.weight_decay)
        optimizer = adam(net, training)
        split = train_net(net, X, y, training, task=self.task_, optimizer=optimizer, generator=generator)
        self.held_out_ = split.held_out
        self.net_ = net
        return self

    def _predict_target(self, X: Floats) -> Array:
        return decode(outputs(self.net_, X), self.task_)

    @available_if(lambda self: self.task_ == "classification")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes: (n, classes).

        Parameters
        ----------
        X : array-like (n, d)
        """
        probabilities: NDArray[np.float64] = softmax(outputs(self.net_, self._read(X)).astype(np.float64), axis=1)
        return probabilities
