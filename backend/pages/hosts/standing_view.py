"""Standings as text: "faster than 83 % of 41 other hosts"."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.percentile import Standing
from exports.palette import cipher_order
from pages.hosts.series import TOOL_NAMES
from results.hosts.standing import SeriesStanding


@dataclass(frozen=True)
class StandingTable:
    """The standings of one tool and method; ssh and openssl figures never share a table."""

    label: str
    tool: str
    rows: tuple[SeriesStanding, ...]


def standing_tables(found: Iterable[SeriesStanding]) -> tuple[StandingTable, ...]:
    """A table for each tool and method, ciphers in the order of their families."""
    tables: dict[tuple[str, str], list[SeriesStanding]] = {}
    for one in found:
        tables.setdefault((one.result.detail.tool, one.result.detail.method), []).append(one)
    return tuple(
        StandingTable(
            ", ".join(word for word in (TOOL_NAMES[tool], method) if word),
            tool,
            tuple(sorted(rows, key=lambda one: cipher_order(one.result.detail.cipher))),
        )
        for (tool, method), rows in sorted(tables.items(), key=_ssh_first)
    )


def _ssh_first(table: tuple[tuple[str, str], object]) -> tuple[bool, str]:
    (tool, method), _ = table
    return (tool != "ssh", method)


def standing_words(standing: Standing) -> str:
    """The percentile in words; rounded down, so that only the best is faster than all."""
    hosts = f"{standing.others} other host{'' if standing.others == 1 else 's'}"
    return f"faster than {math.floor(standing.percentile)} % of {hosts}"
