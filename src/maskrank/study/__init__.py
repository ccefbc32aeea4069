"""The experiments of the paper and one with known answers, each reproducible by one command.

A declaration per experiment, the protocol, the runner, tables and figures; methods are in `baselines`.
"""
