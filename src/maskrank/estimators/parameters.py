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
        finds the smallest number whose held-out loss is worse than the best by at most the standard error of the
        difference (see ``size_curve_``), which takes longer. "all" or d keeps and scores every feature.
    max_features_to_select : int, optional
        With "auto", the largest number of features to keep, in 1..d-1; None for d-1, but at most 50.
    categorical_features : "from_dtype", list of columns, mask, or None
        Which columns are categories. "from_dtype": a frame's columns of text, categories and truth values; ordered
        categories count as numbers. A list has names or positions of columns, a mask one truth value per column. None:
        no column, and text is refused.
    groups : dict of str to list of columns, optional
        Columns that are chosen together or not at all, by name or position: ``{{"pathway A": ["gene 1", "gene 7"]}}``.
        Groups may overlap, and columns outside all groups are features of their own. The size counts groups.
    required : list of columns or groups, optional
        Always kept, and not counted; the ranking says what the others add beyond them.{class_weight}
    preset : str or TrainConfig
        The settings of a run: "default"; "paper", which ranks by the derivative, as the paper does; or "paper:NAME"
        with the settings of the paper for one data set (xor, regression, orange_skin, mnist, glass, vowel, tox171,
        yale, enhancer, rna_seq). A `TrainConfig`, such as the ``config_`` of a fitted or loaded model, is used as it
        is, without adapting it to the shape of the table. With the same rows and ``random_state`` it repeats that
        model's fit bit for bit.
    search_effort : "quick", "default", "thorough" or float
        Budget for finding pairs and triples of features that only work together, before training. "quick" tests the
        pairs of some thousand features. "default" may take 12 more seconds of one core: with 800 training rows and two
        classes enough for all pairs of 23,000 features and all triples of 1,000. "thorough" may take 400 seconds: all
        pairs of 137,000 features, all triples of 3,000. A number is a budget in such seconds. They stand for a fixed
        number of operations, so the result does not depend on the speed or load of the machine. The first 12 seconds
        are spent only while the significant features found so far do not fill the subset. ``history_.coverage`` says
        what was not tested.
    operator : None, tuple of int, or a net
        None takes the preset's MLP, a tuple is the hidden sizes of another one. A net is an ``nn.Module``, its
        class, or a function ``(n_features, n_outputs) -> nn.Module``; its ``forward(x, mask)`` takes the masked
        features and the mask, both (rows, d); of a table with categories, gaps or groups, d counts the columns that
        these are encoded as. For images: ``functools.partial(ImageCNN, image_shape=(32, 32))``.
        Scores, size curve and ``explain`` use small nets on the chosen columns, with any operator.
    selector : None or tuple of int
        Hidden sizes of the selector.
    max_batches : int, optional
        Largest number of operator batches; Phase I gets at most two thirds of them. With a named preset it also
        limits the training steps of the predictor.
    validation_fraction : float
        Share of the rows held out for early stopping, unless ``fit`` is given validation rows.
    metric : str
        The figure to show first. "auto": accuracy for classes, or ROC AUC where the most frequent class has
        more than 80 % of the rows, and R² for numbers. Names are those of ``figures_``.
    standardize : bool
        Standardise each feature (and the target of a `DualNetRegressor`) to mean 0 and variance 1; undone on output.
    refit : bool
        Train the final predictor on the chosen features alone. Preset "paper" predicts with the operator itself.
    n_subsets, batch_size, phase1_batches, n_perturbed, patience : int, optional
    exploit_share, operator_rate, selector_rate : float, optional
    stop_on : "loss" or "error", optional
        Settings of `maskrank.core.config.TrainConfig`; None for those of the preset. A named preset lowers its learning
        rates for nets wider than its own.
    n_repeats : int
        Number of refits on random 80 % subsamples, each with its own seed, to measure how stable the ranking is:
        ``stability_``. Groups of rows are drawn whole. 0 for none. The model and its predictions do not depend on it.
    n_jobs : int or None
        Number of refits that run in parallel processes, while the fit runs; -1 for one per core. None or 1: they run
        in this process after the fit. The result is the same.
    memory_limit : int, str or None
        Memory for a fit on a table larger than memory: bytes, or text such as "4GB"; None for half of the free memory.
        With more memory the features are chosen on more rows, up to 200,000. It does not apply to tables in memory.
    device : str
        "auto" uses CUDA or MPS if available.
    checkpoint : path, optional
        A folder for the progress of the fit: after a crash or a kill, the same call continues from it, with the same
        result as an undisturbed fit, bit for bit. It also stores each refit of ``n_repeats``. A folder of other data or
        settings is refused; without a ``random_state`` the folder's is used. After the fit the folder stays, so that
        the same call returns the same model at once; remove it when you no longer need it.
    callbacks : tuple of callable
        Each is called with a `Progress` after every selector step. A `maskrank.Callback` is also called when a stage
        begins, with what a stage found, and with the finished share of a long search.
    verbose : int
        1 shows a progress bar on standard error.
    random_state : int, Generator, RandomState or None
        The fit is reproducible for a fixed integer, bit for bit, on one machine (with a net of your own: for a fixed
        number of torch threads).
"""

CLASS_WEIGHT = """
    class_weight : dict, "balanced" or None
        Weight of the rows of each class, multiplied by their ``sample_weight``: a dict of labels to weights, 1 for
        labels it lacks; "balanced" gives every class the same total weight. It applies to training and selection;
        figures are those of the rows as they are.
"""

ATTRIBUTES = """
    ranking_ : ndarray (d,) of int
        1..s for the chosen features, best first; s+1 for the rest, and 0 for required ones. Columns of a group have
        its rank.
    feature_importances_ : ndarray (d,)
        Measured scores: for a chosen feature its Shapley share of the loss that all chosen ones save relative to the
        baseline, the best constant prediction, on held-out rows. In nats for classes and labels, a share of the
        variance for numbers, and of the deviance for counts and survival; at least 1e-12 for a chosen feature, and 0
        for the rest. They add up to ``result_.explained``. A required feature has what it saves by itself, the others
        what they add to the required ones. Columns of a group split its share equally. With preset "paper" they are
        the raw scores minus the mean of the features that were not chosen.
    feature_importances_std_ : ndarray (d,) or None
        Standard errors of these shares; None where scores are not measured.
    size_curve_ : SizeCurve or None
        What the best 1, 2, ... chosen features are worth on held-out rows, and how many are ``enough``; with "auto",
        for all sizes up to the limit. None where scores are not measured.
    n_features_ : int
        s, the number of selected features.
    evidence_ : ndarray (d,) or None
        Result of the tests of each feature, a log-likelihood corrected for multiple tests; it orders the features that
        were not chosen.
    raw_scores_ : ndarray (d,)
        -df_S/dm at m*, the score of the paper; only differences have a meaning. All 0 where every feature is selected.
    support_ : ndarray (d,) of bool
        m*, the columns of the chosen features, and of the required ones.
    result_ : Ranking
        All of these in one object, for each feature; with ``groups``, groups are features.
    features_ : list of ColumnSummary
        How each column was read: its kind, its levels, its share of missing values.
    task_ : Task
        What was learned: its ``kind``, loss and ``metric`` (see `maskrank.core.method.tasks`).
    history_ : History
        Losses of both nets, phases, and m_opt over time.
    figures_ : dict of str to Figure
        On the held-out rows, by nets that did not train on them, on features chosen without them: "accuracy",
        "balanced_accuracy", "roc_auc", "average_precision" (both one class against the rest, averaged) and "log_loss"
        for classes; "label_accuracy", "roc_auc" and "log_loss" for several labels; "r2", "rmse", "mae" and "mse", in
        the unit of y, for numbers; "poisson_deviance", "rmse" and "mae" for counts; "concordance" for survival. Each
        has its ``value``, standard error ``std``, 95 % interval from ``low`` to ``high``, and the ``baseline`` of the
        best constant prediction. Weights of rows apply, weights of classes do not. A figure that is not defined for
        these rows, such as ROC AUC of one class, is missing.
    metric_ : Metric
        Which of them is shown first: its ``name``, ``title`` and ``higher_is_better``.
    validation_score_, baseline_score_ : float
        Its value, and that of the best constant prediction.
    n_validation_ : int
        Number of rows behind these figures. With up to 20,000 rows, and no validation rows of your own, they had no
        part in the early stopping or weighting of the nets that they judge; with more, the half of the held-out rows
        of which this is true.
    signal_pvalue_ : float
        Of the null hypothesis that features and target are unrelated: a permutation test of all rows, and one of the
        predictions for the held-out rows (see `maskrank.core.scoring.signal`). With ``groups`` of rows, the groups
        are independent, not the rows. NaN if there are too few rows or groups.
    signal_ : bool
        Whether the p-value is at most 0.05.
    stability_ : Stability or None
        Of the refits on subsamples: selection frequency of each feature, intervals of its rank and score, and a
        consensus. None without ``n_repeats``.
    sample_ : SampleFacts or None
        For a table larger than memory: on how many rows the features were chosen, and how many more were used to
        train the predictor.
    config_ : TrainConfig
        All settings of the fit. ``preset=config_`` uses them again.
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
