"""What files have: the rows of a comparison, the columns of measurements and of worksheets."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from cipherspeed.baselines import only
from cipherspeed.groups import FEW_VOTES, NEEDS_PROFILE, Comparison
from compare.question import ComparisonQuery
from runs.models.dimension import DIMENSIONS

UNIT_NAMES = {"B/s": "bytes_per_second", "s/GB": "", "ratio": "ratio"}
"""How a unit reads at the end of a column's name; `cpu_seconds_per_gb` has its own."""

RATIOS = {
    "ratio": ("ratio", "Ratio"),
    "ratio_low": ("low", "Ratio, low"),
    "ratio_high": ("high", "Ratio, high"),
    "ratio_n": ("n", "Hosts of the ratio"),
    "beyond_noise": ("beyond_noise", "Beyond noise"),
    "tool_changed": ("tool_changed", "Tool changed"),
}
"""Column -> attribute of a `Ratio`, heading."""


def value_name(metric: str, unit: str) -> str:
    """Return the name of a column of figures: the metric with its unit."""
    ending = UNIT_NAMES[unit]
    return metric if not ending or metric.endswith(ending) else f"{metric}_{ending}"


def question(query: ComparisonQuery, comparison: Comparison) -> dict[str, Any]:
    """Return what decided the figures of a comparison, the same in each row of its file."""
    is_ssh, reference = query.tool == "ssh", comparison.relative_to
    return {
        "tool": query.tool,
        "group_by": query.group_by,
        **({"split_by": query.split_by} if query.split_by else {}),
        **({"relative_to": reference.label or reference.key} if reference else {}),
        **({"matched": True} if query.matched else {}),
        "reference_profile": comparison.profile,
        "method": query.method if is_ssh else None,
        "block_size_bytes": None if is_ssh else query.block_size,
        "mac": query.mac if is_ssh else None,
        "operation": None if is_ssh else query.operation,
        "threads": None if is_ssh else query.threads,
        "acceleration": query.acceleration,
        "compression": query.compression if is_ssh else None,
        "target_kind": query.target_kind if is_ssh else None,
    }


def comparison_rows(query: ComparisonQuery, comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield a row for each group and cipher, with every column of the CSV."""
    value = value_name(comparison.metric, comparison.unit)
    asked = question(query, comparison)
    for group in comparison.groups:
        for cipher, figure in group.values.items():
            ratio = group.ratios.get(cipher)
            yield {
                "group": group.label,
                **({"split": group.split_label} if query.split_by else {}),
                "cipher": cipher,
                value: figure.median,
                f"{value}_q1": figure.q1,
                f"{value}_q3": figure.q3,
                f"{value}_min": figure.minimum,
                f"{value}_max": figure.maximum,
                "n": figure.n,
                **(
                    {name: getattr(ratio, field, None) for name, (field, _) in RATIOS.items()}
                    if comparison.relative_to
                    else {}
                ),
                "doubtful": group.doubtful.get(cipher, 0) if figure.n <= FEW_VOTES else None,
                "uncertainty_factor": group.uncertainty.get(cipher),
                "single_baseline": only(group.families.get(cipher, ())),
                "hosts": group.hosts,
                "group_key": group.key,
                **({"split_key": group.split_key} if query.split_by else {}),
                **asked,
            }


OF_RUN = ("run_id", "host", "host_key", *DIMENSIONS, "started_at", "source")
OF_SERIES = (
    *("tool", "cipher", "block_size_bytes", "operation", "threads", "mac", "compression"),
    *("method", "pinned", "target_kind", "target", "acceleration"),
)
OF_RESULT = (
    *("n", "throughput_bytes_per_second", "minimum_bytes_per_second", "maximum_bytes_per_second"),
    *("spread", "noisy", "implausible", "cpu_seconds_per_gb"),
)
FIELDS = {
    "block_size_bytes": "block_size",
    "target": "target_name",
    "throughput_bytes_per_second": "median",
    "minimum_bytes_per_second": "minimum",
    "maximum_bytes_per_second": "maximum",
}
"""Column of a series or a measurement -> its field, where that has another name."""

OF_INDEX = ("machine_speed_index", "single_baseline")
ORIGIN = ("reference_profile", "machine_acceleration", "tags", "agent", "agent_version", "run_url")

MEASUREMENT_COLUMNS = (
    *OF_RUN,
    *OF_SERIES,
    *("negotiated_mac", "negotiated_kex"),
    *OF_RESULT,
    "normalised_bytes_per_second",
    *OF_INDEX,
    *ORIGIN,
)
"""One row for each measurement; docs/exports.md says what each column is."""


class SheetColumn(NamedTuple):
    """A column of a worksheet; `form` is Excel's format of its numbers, divided by `scale`."""

    heading: str
    width: int = 14
    form: str = ""
    scale: float = 1


MB_PER_SECOND = ("[>=1000]#,##0;[>=100]0.0;0.00", 1e6)
"""Format and scale: of MB/s four digits are shown."""

FACTOR = "0.000"

FIGURES = {
    "B/s": (" (MB/s)", *MB_PER_SECOND),
    "s/GB": (" (s/GB)", FACTOR, 1),
    "ratio": ("", FACTOR, 1),
}
"""Unit of a comparison -> end of the headings, format and scale."""


def comparison_sheet(comparison: Comparison) -> dict[str, SheetColumn]:
    """Return the columns of the sheet Comparison by those of the CSV."""
    value = value_name(comparison.metric, comparison.unit)
    unit, form, scale = FIGURES[comparison.unit]
    headings = {
        value: "Median",
        f"{value}_q1": "First quartile",
        f"{value}_q3": "Third quartile",
        f"{value}_min": "Lowest",
        f"{value}_max": "Highest",
    }
    columns = {"group": SheetColumn("Group", 30)}
    if comparison.split_by:
        columns["split"] = SheetColumn("Split", 24)
    columns["cipher"] = SheetColumn("Cipher", 30)
    columns |= {
        name: SheetColumn(heading + unit, 12, form, scale) for name, heading in headings.items()
    }
    columns["n"] = SheetColumn("Hosts", 8)
    if comparison.relative_to:
        for name, (_, heading) in RATIOS.items():
            columns[name] = SheetColumn(heading, 10, "0" if name == "ratio_n" else FACTOR)
    columns["doubtful"] = SheetColumn("Low confidence", 12)
    if comparison.metric in NEEDS_PROFILE:
        columns["uncertainty_factor"] = SheetColumn("Uncertainty factor", 12, FACTOR)
        columns["single_baseline"] = SheetColumn("Baseline", 16)
    return columns


MEASUREMENT_SHEET = {
    "host": SheetColumn("Host", 24),
    "cpu": SheetColumn("CPU", 32),
    "os_version": SheetColumn("Operating system", 24),
    "openssl": SheetColumn("OpenSSL", 18),
    "openssh": SheetColumn("OpenSSH", 18),
    "started_at": SheetColumn("Measured (UTC)", 18),
    "tool": SheetColumn("Tool", 10),
    "cipher": SheetColumn("Cipher", 30),
    "block_size_bytes": SheetColumn("Block size (bytes)", 12, "#,##0"),
    "method": SheetColumn("Method", 12),
    "mac": SheetColumn("MAC"),
    "acceleration": SheetColumn("Acceleration"),
    "n": SheetColumn("Tries", 8),
    "throughput_bytes_per_second": SheetColumn("Throughput (MB/s)", 14, *MB_PER_SECOND),
    "spread": SheetColumn("Spread", 10, "0.0%"),
    "normalised_bytes_per_second": SheetColumn("Normalised (MB/s)", 14, *MB_PER_SECOND),
    "cpu_seconds_per_gb": SheetColumn("CPU time (s/GB)", 12, FACTOR),
    "run_url": SheetColumn("Run", 60),
}

HOST_SHEET = {
    "host": SheetColumn("Host", 24),
    "cpu": SheetColumn("CPU", 32),
    "architecture": SheetColumn("Architecture"),
    "os_version": SheetColumn("Operating system", 24),
    "openssl": SheetColumn("OpenSSL", 18),
    "ssh_library": SheetColumn("Library of ssh", 18),
    "openssh": SheetColumn("OpenSSH", 18),
    "virtualization": SheetColumn("Virtualisation"),
    "runs": SheetColumn("Runs", 8),
    "last_started_at": SheetColumn("Last measured (UTC)", 18),
    "ssh_index": SheetColumn("Speed index, ssh", 12, FACTOR),
    "openssl_index": SheetColumn("Speed index, openssl", 12, FACTOR),
}
