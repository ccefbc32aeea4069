"""The method of Wojtas and Chen (2020): operator, selector, tasks, Algorithm 1 (`training`), Algorithm 2 (`search`).

Whatever the paper does not have is in another room: proposals, selection, scoring, predictor.
"""
