"""Small tables for notebooks."""

from __future__ import annotations

import html
from typing import Any, Iterable


def table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """A table of two columns under a title."""
    body = "".join(f"<tr><th style='text-align:left'>{html.escape(str(name))}</th><td style='text-align:left'>{html.escape(str(value))}</td></tr>"
                   for name, value in rows)
    return f"<table><caption style='text-align:left;font-weight:bold'>{html.escape(title)}</caption>{body}</table>"
