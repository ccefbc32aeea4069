"""Who decides between candidate subsets: calibration of the selector, a tournament, reselection on all rows.

What suggests the candidates is in `proposals` and `method`; what a chosen feature is worth is in `scoring`.
"""
