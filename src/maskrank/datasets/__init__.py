"""Data sets: the synthetic problems of the paper, and where the public ones lie."""

from maskrank.datasets.synthetic import Problem, make_nonlinear_regression, make_orange_skin, make_xor

__all__ = ["Problem", "make_nonlinear_regression", "make_orange_skin", "make_xor"]
