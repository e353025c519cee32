"""Make run documents of a reading: take, join and correct, within limits."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from uuid import UUID, uuid5

from cipherspeed.environment import os_facts, os_name
from cipherspeed.run_document import SCHEMA, TIMES_OF_IMPORT
from texts.facts import merged
from texts.types import Figure, Reading, Remark, Section

MAX_RUNS = 200
MAX_MEASUREMENTS = 5_000
MAX_SAMPLES = 100
MAX_NAME, MAX_LABEL = 200, 60
_NONE: Mapping[str, Any] = {}
PARTS = ("cpu", "os", "openssl", "openssh")
Take = Literal["certain", "all"] | frozenset[str]
"""Which figures become samples; a set holds keys of figures (`Figure.key`)."""


@dataclass(frozen=True)
class Corrections:
    """Hold what the reader says of a machine; None keeps the text's fact, "" removes it."""

    host: str | None = None
    cpu: str | None = None
    os: str | None = None
    openssl: str | None = None


@dataclass(frozen=True)
class Documents:
    """Hold run documents in the order of their sections, with these sections' keys."""

    documents: tuple[dict[str, Any], ...]
    keys: tuple[str, ...]
    remarks: tuple[Remark, ...]


class _Machine(NamedTuple):
    """Hold sections that make one document; the first one's facts count first."""

    key: str
    sections: Sequence[Section]
    figures: Sequence[Figure]
    corrections: Mapping[str, Corrections]

    def corrected(self, name: str, key: str) -> str | None:
        return getattr(self.corrections.get(key), name, None)

    def said(self, name: str, stated: str | None) -> str | None:
        """Return what the reader says of this machine, or of all whose text says nothing."""
        own = self.corrected(name, self.key)
        return self.corrected(name, "") if own is None and not stated else own

    @property
    def host(self) -> str:
        stated = _printable(next((section.host for section in self.sections if section.host), None))
        return _printable(self.said("host", stated)) or stated

    @property
    def label(self) -> str:
        return _printable(self.sections[0].label)[:MAX_LABEL].strip()


def is_taken(figure: Figure, take: Take) -> bool:
    if isinstance(take, frozenset):
        return figure.key in take
    return take == "all" or not figure.uncertain


def section_keys(sections: Iterable[Section]) -> tuple[str, ...]:
    """Key each section by its first line, and its number among those that start there."""
    starts = Counter[int]()
    keys = []
    for section in sections:
        keys.append(f"{section.line}.{starts[section.line]}")
        starts[section.line] += 1
    return tuple(keys)


def run_documents(
    reading: Reading,
    *,
    import_id: UUID,
    now: str,
    take: Take = "certain",
    corrections: Mapping[str, Corrections] = _NONE,
    joined: Mapping[str, str] = _NONE,
) -> Documents:
    """Make a run document of each section that figures are taken of.

    Corrections under a section's key replace what the text says; those under "" fill gaps.
    `joined` maps a section's key to that of an earlier section, whose machine it shares.
    Texts have no date: `now` (RFC 3339) is used, which `times_of` says.
    """
    every = [_Machine(*one, corrections) for one in _machines(reading.sections, take, joined)]
    remarks = _beyond(MAX_RUNS, [one.sections[0] for one in every], "runs of a text")
    machines, documents = every[:MAX_RUNS], []
    for machine, host in zip(machines, _hosts(machines, import_id), strict=True):
        measurements, cut = _measurements(machine.figures)
        remarks += cut
        documents.append(
            {
                "schema": SCHEMA,
                "run_id": str(uuid5(import_id, machine.key)),
                "agent": {"name": "import", "version": None},
                "host": {"name": host, "machine_id": None},
                "started_at": now,
                "finished_at": now,
                "times_of": TIMES_OF_IMPORT,
                "environment": _environment(machine),
                "conditions": [],
                "measurements": measurements,
            }
        )
    return Documents(tuple(documents), tuple(one.key for one in machines), tuple(remarks))


def _machines(
    sections: Sequence[Section], take: Take, joined: Mapping[str, str]
) -> Iterator[tuple[str, list[Section], list[Figure]]]:
    members: dict[str, list[Section]] = {}
    first_of: dict[str, str] = {}
    for key, section in zip(section_keys(sections), sections, strict=True):
        first_of[key] = first_of.get(joined.get(key, key), key)
        members.setdefault(first_of[key], []).append(section)
    for key, shared in members.items():
        every = (figure for section in shared for figure in section.figures)
        if figures := [figure for figure in every if is_taken(figure, take)]:
            yield key, shared, figures


def _hosts(machines: Sequence[_Machine], import_id: UUID) -> list[str]:
    labels = {machine.label for machine in machines if not machine.host}
    unnamed = f"import-{import_id.hex[:8]}"
    return [
        one.host or (f"{unnamed} ({one.label})" if one.label and len(labels) > 1 else unnamed)
        for one in machines
    ]


def _printable(name: str | None) -> str:
    return "".join(letter for letter in name or "" if letter.isprintable()).strip()[:MAX_NAME]


def _beyond(limit: int, items: Sequence[Section | Figure], name: str) -> list[Remark]:
    """Remark on the first item that the limit leaves out, if there is one."""
    left_out = len(items) - limit
    detail = f"Only the first {limit:,} {name} are kept; {left_out:,} from here are left out."
    return [Remark(items[limit].line, "too_many", detail)] if left_out > 0 else []


def _environment(machine: _Machine) -> dict[str, Any]:
    found: dict[str, Any] = {part: {} for part in PARTS}
    for section in machine.sections:
        found = merged(found, section.environment)
    cpu, openssl = found["cpu"], found["openssl"]
    if (said := machine.said("cpu", cpu.get("model"))) is not None:
        cpu["model"] = said or None
    if (said := machine.said("os", os_name(found["os"]))) is not None:
        found["os"] = os_facts(said) if said else {}
    if (said := machine.said("openssl", openssl.get("version_text"))) is not None:
        openssl["version_text"] = said or None
    if machine.corrected("openssl", machine.key) is not None:
        found["openssh"].pop("library", None)  # the reader's word counts for ssh too
    return found


def _measurements(figures: Iterable[Figure]) -> tuple[list[dict[str, Any]], list[Remark]]:
    by_series: dict[str, list[Figure]] = {}
    for figure in figures:
        by_series.setdefault(str(_series(figure)), []).append(figure)
    series = list(by_series.values())
    measurements = []
    remarks = _beyond(MAX_MEASUREMENTS, [plain[0] for plain in series], "series of a run")
    for tries in series[:MAX_MEASUREMENTS]:
        samples = [_sample(figure) for figure in tries[:MAX_SAMPLES]]
        measurements.append({**_series(tries[0]), "samples": samples})
        remarks += _beyond(MAX_SAMPLES, tries, f"tries of {tries[0].cipher}")
    return measurements, remarks


def _series(figure: Figure) -> dict[str, Any]:
    series = figure.series
    if figure.tool == "ssh":
        kind, name = series.pop("target_kind") or "loopback", series.pop("target_name")
        series |= {"method": "pipeline", "target": {"kind": kind, "name": name}}
    return series


def _sample(figure: Figure) -> dict[str, Any]:
    is_timed = figure.bytes is not None and figure.seconds is not None
    rate = ("bytes", "seconds") if is_timed else ("bytes_per_second",)
    reason = ("implausible",) if figure.implausible else ()
    return {name: getattr(figure, name) for name in ("line", *rate, *reason)}
