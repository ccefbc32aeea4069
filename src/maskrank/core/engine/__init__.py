"""What makes training fast: layers on gathered columns, Adam by rows, the cost model, the training loop.

Nothing in here knows what is learned, or why.
"""
