"""The documentation that the estimators share: their parameters and fitted attributes, in numpydoc form."""

from __future__ import annotations

import inspect
from typing import TypeVar

_Class = TypeVar("_Class", bound=type)

PARAMETERS = """
    Parameters
    ----------
    n_features_to_select : int, float, "auto", "all" or None
        s, the number of features to keep: in 1..d, a share of them in (0, 1), or None for half (at least one). "auto"
        finds the smallest number whose held-out loss lies within one standard error of the best (see ``size_curve_``),
        which takes longer. "all" or d selects nothing and scores every feature.
    max_features_to_select : int, optional
        With "auto", the most features to keep, in 1..d-1; None for d-1, and at most 50.
    categorical_features : "from_dtype", list of columns, mask, or None
        Which columns are categories. "from_dtype" takes a frame's text, categories and truth values for such; ordered
        categories count as numbers. A list has names or numbers of columns, a mask a truth value for each. None takes
        none, and refuses text.
    groups : dict of str to list of columns, optional
        Columns that are chosen together or not at all, by name or number: ``{{"pathway A": ["gene 1", "gene 7"]}}``.
        Groups may overlap, and columns outside all groups are features of their own. The size counts groups.
    required : list of columns or groups, optional
        Always in, and not counted: the ranking says what the others add beyond them.{class_weight}
    preset : str or TrainConfig
        The settings of a run: "default"; "paper", which ranks by the derivative, as the paper does; or "paper:NAME"
        with the nets and numbers of the paper for one data set (xor, regression, orange_skin, mnist, glass, vowel,
        tox171, yale, enhancer, rna_seq). A `TrainConfig`, such
        as the ``config_`` of a fitted or loaded model, is taken as it is: nothing is adapted to the shape of the
        table. With the same rows and ``random_state`` it repeats that model's fit bit for bit.
    search_effort : "quick", "default", "thorough" or float
        How far pairs and triples of features that act only together are looked for before training. "quick" tests the
        pairs of some thousand features. "default" may take 12 seconds of a core more: at 800 training rows and two
        classes enough for all pairs of 23,000 features and all triples of 1,000. "thorough" may take 400: all pairs of
        137,000 features, all triples of 3,000. A number is a budget in such seconds, which stand for a fixed number of
        operations: the result does not depend on how fast or busy the machine is. Up to 12 seconds are spent only while
        the significant features found before do not fill the subset. ``history_.coverage`` says what was left out.
    operator : None, tuple of int, or a net
        None takes the preset's MLP, a tuple is the hidden sizes of another one. A net is an ``nn.Module``, its
        class, or a function ``(n_features, n_outputs) -> nn.Module``; its ``forward(x, mask)`` takes the masked
        features and the mask, both (rows, d); of a table with categories, gaps or groups, d counts the columns that
        these are encoded as. For images: ``functools.partial(ImageCNN, image_shape=(32, 32))``.
        Scores, size curve and ``explain`` are measured by small nets on the chosen columns, whatever the operator is.
    selector : None or tuple of int
        Hidden sizes of the selector.
    max_batches : int, optional
        The most operator batches; Phase I gets at most two thirds of them. A named preset also bounds the steps of
        the predictor's training by it.
    validation_fraction : float
        Share of the rows held out for early stopping, unless ``fit`` is given validation rows.
    metric : str
        The figure that is shown first. "auto" takes accuracy for classes, or ROC AUC where the most frequent class has
        more than 80 % of the rows, and R² for numbers. Names are those of ``figures_``.
    standardize : bool
        Standardise each feature (and the target of a `DualNetRegressor`) to mean 0 and variance 1; undone on output.
    refit : bool
        Train the final predictor on the chosen features alone. Preset "paper" predicts with the operator itself.
    n_subsets, batch_size, phase1_batches, n_perturbed, patience : int, optional
    exploit_share, operator_rate, selector_rate : float, optional
    stop_on : "loss" or "error", optional
        Single numbers of `maskrank.core.config.TrainConfig`; None leaves them to the preset. A named preset lowers its
        own learning rates for nets wider than its own.
    n_repeats : int
        Number of refits on random 80 % subsamples, each with its own seed, to measure how stable the ranking is:
        ``stability_``. Groups of rows are drawn whole. 0 for none. The model and its predictions do not depend on it.
    n_jobs : int or None
        Refits that run in parallel processes beside the fit; -1 for one per core. None or 1 run them in this process
        after the fit. The result is the same.
    memory_limit : int, str or None
        Memory that a fit on a table larger than memory may take: bytes, or text such as "4GB"; None for half of what is
        free. The larger it is, the more rows choose the features, up to 200,000. Tables in memory do not depend on it.
    device : str
        "auto" takes CUDA or MPS where there is one.
    checkpoint : path, optional
        A folder that keeps the fit while it runs: after a crash or a kill, the same call goes on from it, and gives the
        result of an undisturbed fit bit for bit. It also keeps each refit of ``n_repeats``. A folder of other data or
        settings is refused; without a ``random_state`` the folder's is taken. When the fit is done the folder stays,
        so that the call returns the same model at once; remove it when you no longer need it.
    callbacks : tuple of callable
        Each is called with a `Progress` after every selector step. A `maskrank.Callback` is also told of each stage as
        it begins, in a line what a stage found, and of the share of a long search that is done.
    verbose : int
        1 shows a progress bar on standard error.
    random_state : int, Generator, RandomState or None
        The fit is reproducible for a fixed integer, bit for bit, on one machine (with a net of your own: for a fixed
        number of torch threads).
"""

CLASS_WEIGHT = """
    class_weight : dict, "balanced" or None
        What the rows of each class count, times their ``sample_weight``: a dict of labels to weights, 1 for those it
        lacks; "balanced" gives every class the same weight in sum. It holds wherever rows are
        learned from or chosen by; figures are those of the rows as they are.
"""

ATTRIBUTES = """
    ranking_ : ndarray (d,) of int
        1..s for the chosen features, best first; s+1 for the rest, and 0 for required ones. Columns of a group have
        its rank.
    feature_importances_ : ndarray (d,)
        Measured scores: for a chosen feature its Shapley share of the loss that all chosen ones save over the best
        constant prediction, on rows that were not learned from. In nats for classes and labels, as a share of the
        variance for numbers, and of the deviance for counts and survival; at least 1e-12, a trace, for a chosen
        feature, and 0 for the rest. They add up to ``result_.explained``. Required features come before all others:
        they have what they save by themselves, and the others what they add. Columns of a group split its share
        equally. With preset "paper" they are the raw scores, less the mean of the features left out.
    feature_importances_std_ : ndarray (d,) or None
        Standard errors of these shares; None where scores are not measured.
    size_curve_ : SizeCurve or None
        What the best 1, 2, ... chosen features are worth on rows that were not learned from, and how many are
        ``enough``; with "auto", of all sizes up to the bound. None where scores are not measured.
    n_features_ : int
        s, the number of selected features.
    evidence_ : ndarray (d,) or None
        What the screens found for each feature, a log-likelihood corrected for multiple tests: it orders the features
        left out.
    raw_scores_ : ndarray (d,)
        -df_S/dm at m*, the score of the paper; only differences have a meaning. All 0 where every feature is selected.
    support_ : ndarray (d,) of bool
        m*, the columns of the chosen features, and of the required ones.
    result_ : Ranking
        All of these in one object, for each feature; with ``groups``, groups are features.
    features_ : list of ColumnSummary
        How each column was read: its kind, its levels, the share of missing values.
    task_ : Task
        What was learned: its ``kind``, loss and ``metric`` (see `maskrank.core.method.tasks`).
    history_ : History
        Losses of both nets, phases, and m_opt over time.
    figures_ : dict of str to Figure
        On the held-out rows, of nets that did not learn from them, on features chosen without them: "accuracy",
        "balanced_accuracy", "roc_auc", "average_precision" (both one class against the rest, averaged) and "log_loss"
        for classes; "label_accuracy", "roc_auc" and "log_loss" for several labels; "r2", "rmse", "mae" and "mse", in
        the unit of y, for numbers; "poisson_deviance", "rmse" and "mae" for counts; "concordance" for survival. Each
        has its ``value``, standard error ``std``, 95 % interval from ``low`` to ``high``, and the ``baseline`` of the
        best constant prediction. Weights of rows count, weights of classes do not. A figure that these rows do not
        define, such as ROC AUC of one class, is missing.
    metric_ : Metric
        Which of them is shown first: its ``name``, ``title`` and ``higher_is_better``.
    validation_score_, baseline_score_ : float
        Its value, and that of the best constant prediction.
    n_validation_ : int
        Rows behind these figures. With up to 20,000 rows, and no validation rows of your own, they have chosen no
        moment and no weight of the nets that they judge; of more rows, half of those held out have not, and count.
    signal_pvalue_ : float
        Of the null hypothesis that features and target are unrelated: a permutation test of all rows, and one of the
        predictions for the held-out rows (see `maskrank.core.scoring.signal`). With ``groups`` of rows, groups are
        what is independent. NaN where too few rows or groups can tell.
    signal_ : bool
        Whether it is at most 0.05.
    stability_ : Stability or None
        What the refits on subsamples agree on: selection frequency of each feature, intervals of its rank and its
        score, and a consensus. None without ``n_repeats``.
    sample_ : SampleFacts or None
        Of a table larger than memory: on how many of its rows the features were chosen, and how many more the
        predictor learned from.
    config_ : TrainConfig
        The settings that ran, every number of them. ``preset=config_`` runs them again.
    n_features_in_, feature_names_in_
        As in scikit-learn.
"""


def documented(estimator: _Class) -> _Class:
    """Fill in ``{parameters}`` and ``{attributes}`` in a class's docstring."""
    text = estimator.__doc__ or ""
    has_classes = "class_weight" in inspect.signature(estimator).parameters
    parameters = PARAMETERS.format(class_weight=CLASS_WEIGHT.rstrip() if has_classes else "")
    estimator.__doc__ = text.format(parameters=parameters.strip(), attributes=ATTRIBUTES.rstrip())
    return estimator
