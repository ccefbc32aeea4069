"""Where values live (`rows`), what one mask bit switches on (`features`), and sets of features (`subsets`).

No nets, no training: those are in `engine` and `method`.
"""
