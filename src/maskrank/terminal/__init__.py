"""What a terminal shows: rankings, tables, progress bars, the demonstration, and text made safe for it.

Pages are in `report`, plots in `plots`; what a command writes to standard error is in `cli.voice`.
"""
