import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.core.paginator import Paginator
from django.http import QueryDict

from cipherspeed.choices import TOOL_NAMES
from cipherspeed.palette import cipher_order
from cipherspeed.percentile import Standing
from compare.standing import SeriesStanding
from compare.views.chart import colours_and_names, rows_height
from core.formatting import data_size
from runs.models import Measurement, Series

SERIES_ON_PAGE = 250  # a thorough run has about as many, the largest run 5,000

SERIES_UNFOLDED = 60
"""Maximum number of series on a page with all sections open. If there are more series, only the
first section is open."""


@dataclass(frozen=True)
class Section:
    """Group measurements that differ only in cipher and block size."""

    tool: str
    label: str
    usual: bool
    rows: tuple[Measurement, ...]

    @property
    def has_normalised(self) -> bool:
        return any(row.normalised is not None for row in self.rows)

    @property
    def has_cpu_seconds(self) -> bool:
        return any(row.cpu_seconds_per_gb is not None for row in self.rows)

    @property
    def has_negotiated(self) -> bool:
        return any(row.negotiated for row in self.rows)


def configuration(series: Series) -> tuple[Any, ...]:
    """Return a sort key from all fields except cipher and block size. Default values sort first."""
    return (
        series.tool != "ssh",
        series.acceleration != "default",
        series.target_kind == "remote",
        series.compression,
        series.mac,
        series.pinned,
        series.operation != "encrypt",
        series.threads,
        series.method,
        series.target_name,
    )


def section_label(series: Series) -> str:
    """Describe the configuration of a series, such as "SSH, pipeline, loopback"."""
    words = [TOOL_NAMES.get(series.tool, series.tool)]
    if series.tool == "ssh":
        words += [
            series.method,
            f"to {series.target_name}" if series.target_name else series.target_kind,
        ]
    else:
        words += [series.operation, f"{series.threads} thread{'' if series.threads == 1 else 's'}"]
    words.append("AES hardware disabled" if series.acceleration == "masked" else "")
    words.append(f"MAC {series.mac}" if series.mac else "")
    words.append("with compression" if series.compression else "")
    words.append("each end pinned to a core" if series.pinned else "")
    return ", ".join(word for word in words if word)


def reading_order(series: Series) -> tuple[Any, ...]:
    return (*configuration(series), cipher_order(series.cipher), series.block_size or 0)


def _sections(ordered: Iterable[Measurement]) -> tuple[Section, ...]:
    grouped = groupby(ordered, key=lambda row: configuration(row.series))
    return tuple(_section(tuple(rows)) for _, rows in grouped)


def series_page(measurements: Iterable[Measurement], params: QueryDict) -> dict[str, Any]:
    ordered = sorted(measurements, key=lambda row: reading_order(row.series))
    page = Paginator(ordered, SERIES_ON_PAGE).get_page(params.get("page"))
    return {
        "series": page,
        "series_sections": _sections(page.object_list),
        "open_all": len(page) <= SERIES_UNFOLDED,
    }


def _section(rows: tuple[Measurement, ...]) -> Section:
    first = rows[0].series
    usual = not (first.mac or first.compression or first.target_kind == "remote")
    return Section(
        first.tool,
        section_label(first),
        usual and first.operation == "encrypt" and first.threads == 1,
        rows,
    )


@dataclass(frozen=True)
class ToolChart:
    """Describe the chart of one tool. ssh and openssl have separate charts."""

    id: str
    name: str
    view: dict[str, Any]

    @property
    def height(self) -> int:
        return rows_height([len(group["values"]) for group in self.view["comparison"]["groups"]])

    @property
    def doubts(self) -> bool:
        return any(group["doubtful"] for group in self.view["comparison"]["groups"])


def tool_charts(latest: Iterable[Measurement]) -> tuple[ToolChart, ...]:
    ordered = sorted(latest, key=lambda row: reading_order(row.series))
    usual = [section for section in _sections(ordered) if section.usual]
    return tuple(
        ToolChart(
            f"chart-view-{tool}",
            TOOL_NAMES[tool],
            _chart_view([section for section in usual if section.tool == tool]),
        )
        for tool in TOOL_NAMES
        if any(section.tool == tool for section in usual)
    )


def _chart_view(of_tool: list[Section]) -> dict[str, Any]:
    groups = [_chart_group(number, section) for number, section in enumerate(of_tool)]
    ciphers = sorted({name for group in groups for name in group["values"]}, key=cipher_order)
    return {
        "comparison": {
            "unit": "B/s",
            "ciphers": ciphers,
            "groups": groups,
        },
        **colours_and_names(ciphers),
        "measured_here": [],
        "notes": {group["key"]: "" for group in groups},
        "scale": "linear",
    }


def _chart_group(number: int, section: Section) -> dict[str, Any]:
    """Convert a section to a group of the chart. For openssl, use only the largest block size."""
    sizes = [row.series.block_size for row in section.rows if row.series.block_size]
    largest = max(sizes, default=None)
    rows = [
        row for row in section.rows if row.median is not None and row.series.block_size == largest
    ]
    size = f", {data_size(largest)} blocks" if largest else ""
    return {
        "key": str(number),
        "label": section.label + size,
        "hosts": 1,
        "values": {
            row.series.cipher: {
                "median": row.median,
                "q1": row.median,
                "q3": row.median,
                "min": row.minimum,
                "max": row.maximum,
                "n": 1,
            }
            for row in rows
        },
        "doubtful": {row.series.cipher: 1 for row in rows if row.doubtful},
    }


def standing_tables(
    standings: Iterable[SeriesStanding],
) -> list[tuple[str, str, list[SeriesStanding]]]:
    """Return (label, tool, rows) of a table of percentiles for each tool and method."""

    def kind(row: SeriesStanding) -> tuple[bool, str, str]:
        series = row.result.series
        return (series.tool != "ssh", series.method, series.tool)

    ordered = sorted(standings, key=lambda row: (kind(row), cipher_order(row.result.series.cipher)))
    return [
        (", ".join(word for word in (TOOL_NAMES[tool], method) if word), tool, list(rows))
        for (_, method, tool), rows in groupby(ordered, key=kind)
    ]


def standing_words(standing: Standing) -> str:
    """Describe the percentile, such as "92 (faster than 13 of 14)".

    The percentile is rounded down, so that only the fastest host has 100.
    """
    percentile = math.floor(standing.percentile)
    return f"{percentile} (faster than {standing.beaten} of {standing.others})"
