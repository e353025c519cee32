"""What a file says of itself, so that it explains its numbers years later."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from analysis.comparison import Comparison
from analysis.profiles.reference_profile import PROFILE
from exports.columns import Column
from exports.comparison_columns import sheet_columns
from exports.export_request import ExportRequest

Line = tuple[str, str | float | datetime]

HOW_TO_READ = (
    "Throughput is bytes divided by seconds, in bytes per second; MB/s are 10⁶ bytes per second.",
    "A measurement is a cipher in one configuration in one run; its value is the median of its "
    "tries, and its spread is 1.4826 times the median absolute deviation, divided by the median.",
    "In a comparison every host has one vote in a group: its latest run there. A group's value is "
    "the median of the votes; half of the hosts lie between the quartiles. With n = 1 there is "
    "one host, and no distribution.",
    "Runs that were hidden or rejected and figures that cannot be true are left out of every "
    "comparison.",
    "A normalised throughput is what the host would do if its plain speed, which arcfour, "
    "Blowfish and 3DES tell, were that of the reference profile: throughput divided by the "
    "host's speed index. Where no baseline was measured it is empty.",
    "An empty cell is something that is not known or does not apply, never a zero.",
)


_NAMES = {"cpu": "CPU", "os": "OS", "openssl": "OpenSSL", "openssh": "OpenSSH", "gb": "GB"}


def _words(key: str) -> str:
    """The key of a metric or grouping in words: "OpenSSL series"; a tag's as it is."""
    if ":" in key:
        return key
    return " ".join(_NAMES.get(word, word) for word in key.split("_"))


def _settings(asked: ExportRequest) -> Iterator[Line]:
    yield "Tool", asked.tool
    for name, value in (
        ("Metric", _words(asked.metric)),
        ("Grouped by", _words(asked.group_by)),
        ("Split by", _words(asked.split_by)),
        ("Relative to", asked.relative_to),
        ("Hosts", "matched: those with every group" if asked.matched else ""),
        ("Ciphers", ", ".join(asked.ciphers) or "all"),
        ("Method", asked.method),
        ("Block size, bytes", asked.block_size),
        ("Operation", asked.operation),
        ("Threads", asked.threads),
        ("MAC", asked.mac),
        ("Compression", {True: "on", False: "off", None: ""}[asked.compression]),
        ("Target", asked.target_kind),
        ("Acceleration", asked.acceleration),
    ):
        if value not in ("", None):
            yield name, value


def _filters(asked: ExportRequest) -> Iterator[Line]:
    for name, values in asked.filters.items():
        yield f"Filter: {name}", ", ".join(values)


def _asked_lines(asked: ExportRequest, *, compared: bool) -> Iterator[Line]:
    """What the file answers; where it is one of measurements, what is compared only beside them."""
    if not asked.of_measurements:
        yield "Query", ""
        yield from _settings(asked)
        yield from _filters(asked)
        return
    yield "Query", "Measurements" if asked.filters else "All measurements"
    yield from _filters(asked)
    if compared:
        yield "", ""
        yield "Compared of them", "The sheet Comparison"
        yield from _settings(asked)


def method_lines(
    asked: ExportRequest, comparison: Comparison | None, columns: Iterable[Column]
) -> Iterator[Line]:
    """The lines of the Method sheet: a name and what it says; `columns` are of measurements."""
    yield "Ciphermark", asked.title
    yield "Generated (UTC)", asked.asked_at
    yield "Live view", asked.link
    yield "", ""
    yield from _asked_lines(asked, compared=comparison is not None)
    yield "", ""
    yield "Reference profile", PROFILE.name
    for tool, levels in PROFILE.levels.items():
        yield f"{tool}: made from", PROFILE.made_from[tool]
        for family, level in levels.items():
            yield f"{tool}: {family}, bytes per second", level
    if comparison is not None:
        for reason, number in comparison.excluded.items():
            yield f"Excluded: {reason.replace('_', ' ')}", float(number)
    yield "", ""
    yield "How to read it", HOW_TO_READ[0]
    for sentence in HOW_TO_READ[1:]:
        yield "", sentence
    yield "", ""
    if comparison is not None:
        yield "Columns: Comparison", ""
        yield from _described(sheet_columns(comparison))
    yield "Columns: Measurements", ""
    yield from _described(columns)


def _described(columns: Iterable[Column]) -> Iterator[Line]:
    for column in columns:
        yield column.title, column.description
