"""A block of questions to a copy, wherever that is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Rows = list[tuple[Any, ...]]


@dataclass
class Ask:
    """Called with a statement in DuckDB's SQL and its parameters, it gives the rows.

    All of a block are answered from one state of the data. `kept`: what questions of it share.
    """

    execute: Callable[[str, Mapping[str, Any]], Rows]
    kept: dict[str, Any] = field(default_factory=dict)

    def __call__(self, statement: str, parameters: Mapping[str, Any]) -> Rows:
        return self.execute(statement, parameters)
