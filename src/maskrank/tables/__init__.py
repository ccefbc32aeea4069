"""Reading: files as a `Table` of typed features and a target, with errors a person can act on.

Kinds of columns, decimal marks, dates, identifiers and missing values belong here; encoding, scaling and splits to
`estimators`.
"""

from maskrank.tables.description import describe_columns
from maskrank.tables.errors import TableError
from maskrank.tables.identifiers import identifier_warnings
from maskrank.tables.large import LargeTable
from maskrank.tables.leaks import leak_warnings
from maskrank.tables.memory import memory_limit
from maskrank.tables.model_batches import read_batches
from maskrank.tables.opening import open_large
from maskrank.tables.options import ColumnOptions, read_groups
from maskrank.tables.roles import Roles, RowFacts, latest_rows
from maskrank.tables.selected import ModelColumns, select_columns
from maskrank.tables.subjects import subject_warnings
from maskrank.tables.table import Table, load_table

__all__ = [
    "ColumnOptions",
    "LargeTable",
    "ModelColumns",
    "Roles",
    "RowFacts",
    "Table",
    "TableError",
    "describe_columns",
    "identifier_warnings",
    "latest_rows",
    "leak_warnings",
    "load_table",
    "memory_limit",
    "open_large",
    "read_batches",
    "read_groups",
    "select_columns",
    "subject_warnings",
]
