"""What a chosen feature is worth: the ranking, its scores, and whether there is any signal.

How the subset was chosen is in `selection`.
"""
