"""Several lines in the chart of a history: other series of the host, the series on other hosts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from analysis.ciphers.palette import colour_slot
from analysis.over_time.series_changes import Change
from compare.columns import value_name
from pages.hosts.series import section_label
from pages.page_query import search_text
from results.hosts import history as histories
from results.hosts.diff_subjects import hosts_beside
from results.hosts.history import History, HistoryQuery, Point, UnknownHost
from results.hosts.runs import MeasurementDetail

ALSO, HOST, FIND_HOST = "also", "host", "find-host"
MOST_LINES = 8
MOST_TICKS = 60
"""Other series with a tick box, at most; an address may name any of the host's."""
HOSTS_FOUND = 12

FURTHER_SLOTS = (
    *("rc4-2", "aes-ctr-2", "blowfish-2", "chacha20-2", "3des-2", "aes-cbc-2", "aes-gcm-2"),
    "other-2",
)
"""Colours of lines whose cipher's own colour another line has: of families that stay apart."""

DASHES = ((), (7, 4), (2, 3), (12, 4), (10, 3, 2, 3), (4, 2), (18, 6), (12, 3, 2, 3, 2, 3))
"""Lengths of strokes and gaps of each line: colour alone does not tell lines apart."""

Ask = Callable[[str, MeasurementDetail], HistoryQuery]


@dataclass(frozen=True)
class SeriesOption:
    """A series of the picker: its key in the address, its group and its name within that."""

    key: str
    section: str
    label: str
    detail: MeasurementDetail

    @property
    def words(self) -> str:
        """What is searched."""
        return f"{self.section} {self.label} {self.key}".lower()


@dataclass(frozen=True)
class Line:
    """One line of the chart: its name among the others, its colour and dash, its history."""

    label: str
    slot: str
    dash: tuple[int, ...]
    option: SeriesOption
    history: History


@dataclass(frozen=True)
class FurtherLines:
    """What an address asks for beside the chosen series; `unknown` is none of it to be had."""

    series: tuple[SeriesOption, ...]
    hosts: tuple[str, ...]
    unknown: tuple[str, ...]
    left_out: int


def further_lines(
    own: str, chosen: SeriesOption, known: Mapping[str, SeriesOption], params: QueryDict
) -> FurtherLines:
    """Series of the chosen one's tool, then hosts, up to eight lines with the chosen one."""
    keys = [one for one in dict.fromkeys(params.getlist(ALSO)) if one and one != chosen.key]
    hosts = [one for one in dict.fromkeys(params.getlist(HOST)) if one and one != own]
    # Rates of ssh and openssl share no axis.
    fitting = {key for key, one in known.items() if one.detail.tool == chosen.detail.tool}
    series = [known[key] for key in keys if key in fitting]
    room = MOST_LINES - 1
    return FurtherLines(
        tuple(series[:room]),
        tuple(hosts[: max(0, room - len(series))]),
        tuple(key for key in keys if key not in fitting),
        max(0, len(series) + len(hosts) - room),
    )


def lines_of(
    first: History, chosen: SeriesOption, further: FurtherLines, ask: Ask
) -> tuple[list[Line], list[str]]:
    """The lines, the chosen one first; and the hosts that there are not."""
    found = [(chosen, first)]
    own = first.query.host
    found += [(one, histories.history(ask(own, one.detail))) for one in further.series]
    unknown = []
    for host in further.hosts:
        try:
            found.append((chosen, histories.history(ask(host, chosen.detail))))
        except UnknownHost:
            unknown.append(host)
    lines: list[Line] = []
    for (option, one), dash in zip(found, DASHES, strict=False):
        label = _label(option, one, chosen, further)
        slot = _slot(option, [line.slot for line in lines])
        lines.append(Line(label, slot, dash, option, one))
    return lines, unknown


def _label(option: SeriesOption, one: History, chosen: SeriesOption, further: FurtherLines) -> str:
    """Only what tells the lines apart."""
    section = f", {option.section}" if option.section != chosen.section else ""
    series = [option.label + section] if further.series or not further.hosts else []
    return ": ".join(([one.host_name] if further.hosts else []) + series)


def _slot(option: SeriesOption, taken: Sequence[str]) -> str:
    """The cipher's own colour, else that of a family which no line before has."""
    own = colour_slot(option.detail.cipher)
    families = {slot.rpartition("-")[0] for slot in taken}
    free = (slot for slot in FURTHER_SLOTS if slot.rpartition("-")[0] not in families)
    return next(free, own) if own in taken else own


def offered(
    host_id: int,
    lines: Sequence[Line],
    known: Mapping[str, SeriesOption],
    further: FurtherLines,
    params: QueryDict,
) -> dict[str, Any]:
    """The tick boxes: series that are like the chosen one, hosts that were searched for."""
    chosen = lines[0].option
    ticked = {one.key for one in further.series}
    like = [one for one in known.values() if one is not chosen and _is_like(one, chosen)]
    asked = [one for one in further.series if one not in like]
    text = search_text(params, FIND_HOST)
    hosts = {one.history.query.host: one.history.host_name for one in lines[1:]}
    hosts = {key: name for key, name in hosts.items() if key in further.hosts}
    found = hosts_beside(host_id, text)[:HOSTS_FOUND] if text else ()
    others = [(one.host, one.name, False) for one in found if one.host not in hosts]
    return {
        "series": [(one, one.key in ticked) for one in (*asked, *like[:MOST_TICKS])],
        "hosts": [*((key, name, True) for key, name in hosts.items()), *others],
        "host_text": text,
        "most": MOST_LINES,
    }


def _is_like(one: SeriesOption, chosen: SeriesOption) -> bool:
    """The same cipher otherwise measured, or another cipher measured alike."""
    if one.detail.tool != chosen.detail.tool:
        return False
    alike = (one.section, one.detail.block_size) == (chosen.section, chosen.detail.block_size)
    return alike or one.detail.cipher == chosen.detail.cipher


def points_by_date(lines: Iterable[Line]) -> list[tuple[Line, Point]]:
    """Every run of every line, the latest first."""
    every = [(line, point) for line in lines for point in reversed(line.history.points)]
    return sorted(every, key=lambda one: one[1].started_at, reverse=True)


COLUMNS = (
    *("host", "host_key", "tool", "cipher", "block_size", "configuration", "run_id", "started_at"),
    *("spread", "tries", "noisy", "conditions", "change", "change_confirmed", "environment"),
)
"""Of the file; the figure comes behind `started_at`."""
FIGURE = COLUMNS.index("started_at") + 1


def history_rows(lines: Sequence[Line]) -> Iterator[Iterable[Any]]:
    """Yield the header of a file, and a row for each run of each line, the latest first."""
    first = lines[0].history
    value = value_name(first.query.series.metric, first.unit)
    yield (*COLUMNS[:FIGURE], value, *COLUMNS[FIGURE:])
    changes = {
        (line.option.key, one.point.run_id): one.change
        for line in lines
        for one in line.history.changes
    }
    for line, point in points_by_date(lines):
        yield _row(line, point, changes.get((line.option.key, point.run_id)))


def _row(line: Line, point: Point, change: Change | None) -> Iterator[Any]:
    detail, found = line.option.detail, line.history
    yield from (found.host_name, found.query.host, detail.tool, detail.cipher)
    yield from (found.query.series.block_size, section_label(detail))
    yield from (str(point.run_id), point.started_at.isoformat(), point.median, point.spread)
    yield from (point.n, point.noisy, " ".join(one.get("code", "") for one in point.conditions))
    yield from (change.ratio if change else None, change.confirmed if change else None)
    yield point.environment
