"""Closed-form models that suggest features, groups and whole subsets before the dual net is trained.

A proposal decides nothing: the operator and the selector search among it, and `selection` judges it.
"""
