"""The final predictor on the chosen columns: recipes, encodings, training, and the greedy ensemble selection.

The operator, which serves every subset, is in `method`.
"""
