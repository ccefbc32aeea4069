"""Memory limits: how much is held or computed at once. They change how long a fit takes and never what it answers.

Values are counted, not bytes; a value is a 32-bit float unless said otherwise. Read as ``limits.NAME``.
"""

from __future__ import annotations

HELD_TABLE = 1 << 26  # values of a table that is copied into memory, scaled: 256 MB
HELD_CALIBRATION = 1 << 24  # values of the rows that a calibration measures losses on
TABLE_PART = 1 << 20  # values of a table on disk that are read in one go
SPARSE_ROWS = 1 << 12  # rows of a sparse matrix that are spread out at once
SCREENED = 1 << 19  # values in one block of a screen
PAIR_READ = 1 << 25  # values read and standardised at once where all pairs of a wide table are looked at
PAIR_BLOCK = 1 << 10  # columns on either side of a block of their products
OFFERED = 1 << 16  # tuples of one block that are compared with a list of the strongest
KERNELS = 8  # kernel matrices that are inverted in one call
HIDDEN = 1 << 20  # hidden values of the operator in one forward of the calibration
OWN_NET = 1 << 19  # inputs of a net of the user's own in one forward of the search
OWN_PREDICTOR = 1 << 18  # inputs of such a net in one forward of the prediction
ADAM_ROWS = 1 << 17  # values of a table whose rows Adam updates in one go: they should stay in the caches
ENCODED = 1 << 24  # inputs of all rows that the predictor's training keeps encoded
JUDGED = 1 << 24  # inputs of held-out rows, of all nets, in one forward
PREDICTED_ROWS = 1 << 14  # rows of one forward of the predictor
DEPLOYED_ROWS = 1 << 13  # rows that one thread predicts at a time
DEPLOYED_BLOCK = 1 << 8  # of these, rows of one forward, whose inner layers should stay in the caches
MASKS = 1 << 22  # bits of the masks that a value function is asked for at once
VALUED = 1 << 18  # hidden values of masked nets in one forward: they should stay in the caches
EXPLAINED = 1 << 18  # bits of the masks of all rows that are explained at once
EXPLAINED_ROWS = 1 << 11  # such rows
SCANNED_COLUMNS = 1 << 14  # columns of a table stored row by row that are scanned in one go
