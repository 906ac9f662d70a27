"""Event logs from databases."""

from __future__ import annotations

import os
from typing import Any

from smurf._log import Log, from_pandas, read


def from_sql(query: str, connection: Any, **columns: Any) -> Log:
    """A log from a query. connection: an SQLite file or the address of a PostgreSQL database, which the library reads itself, with
    further arguments as in `read`; or a connection of Python, of any kind that pandas.read_sql takes, with those of `from_pandas`.

    >>> import smurf, sqlite3
    >>> smurf.from_sql("select 1.5 as time union all select 2", sqlite3.connect(":memory:")).events
    2
    """
    if isinstance(connection, os.PathLike) or (isinstance(connection, str) and _is_ours(connection)):
        return read(connection, query=query, **columns)
    return from_pandas(_rows(query, connection), name="query", **columns)


def _is_ours(address: str) -> bool:
    """Not an address of SQLAlchemy."""
    return "://" not in address or address.startswith(("postgresql://", "postgres://"))


def _rows(query: str, connection: Any, most: int = 100_000) -> Any:
    """The rows of a query as a DataFrame; a connection of DB-API hands over `most` at a time."""
    import pandas as pd

    if not hasattr(connection, "cursor"):
        return pd.read_sql(query, connection)
    cursor, parts = connection.cursor(), []
    try:
        cursor.execute(query)
        names = [column[0] for column in cursor.description or ()]
        while rows := cursor.fetchmany(most):
            parts.append(pd.DataFrame.from_records(rows, columns=names, coerce_float=True))
    finally:
        cursor.close()
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)
