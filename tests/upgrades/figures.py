"""Medians of a run: as the API shows them, and as they follow from its document."""

import statistics
from typing import Any

SERIES = {
    "tool": None,
    "cipher": None,
    "acceleration": "default",
    "operation": "encrypt",
    "block_size": None,
    "threads": 1,
    "mac": None,
    "compression": False,
    "method": None,
    "pinned": False,
}
"""What tells the measurements of one run apart, with what absence means."""

Figures = dict[tuple[Any, ...], float]
"""Medians in bytes per second by series."""


def shown(run: dict[str, Any]) -> Figures:
    """What the API says."""
    return {_series(one): one["median"] for one in run["measurements"]}


def measured(document: dict[str, Any]) -> Figures:
    """What follows from the tries."""
    return {
        _series(one): statistics.median(try_["bytes"] / try_["seconds"] for try_ in one["samples"])
        for one in document["measurements"]
    }


def _series(measurement: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(measurement.get(name) or default for name, default in SERIES.items())
