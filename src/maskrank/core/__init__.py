"""The dual-net method and its helpers, on torch and NumPy alone.

Begin with `pipeline`: the stages of a fit, in order. `method` is the paper; the other rooms serve it. No scikit-learn,
pandas, printing or HTML in here.
"""
