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
Selection = Literal["certain", "all"] | frozenset[str]
"""Results that become samples; a set contains keys of results (`Figure.key`)."""


@dataclass(frozen=True)
class Corrections:
    """Describe a user's corrections for a host: None keeps the text's value, "" removes it."""

    host: str | None = None
    cpu: str | None = None
    os: str | None = None
    openssl: str | None = None


class Documents(NamedTuple):
    documents: tuple[dict[str, Any], ...]
    keys: tuple[str, ...]
    remarks: tuple[Remark, ...]


class _Machine(NamedTuple):
    key: str
    sections: Sequence[Section]
    figures: Sequence[Figure]
    corrections: Mapping[str, Corrections]

    def corrected(self, name: str, key: str) -> str | None:
        return getattr(self.corrections.get(key), name, None)

    def correction(self, name: str, stated: str | None) -> str | None:
        text = self.corrected(name, self.key)
        return self.corrected(name, "") if text is None and not stated else text

    @property
    def host(self) -> str:
        stated = _printable(next((section.host for section in self.sections if section.host), None))
        return _printable(self.correction("host", stated)) or stated

    @property
    def label(self) -> str:
        return _printable(self.sections[0].label)[:MAX_LABEL].strip()


def is_selected(figure: Figure, selection: Selection) -> bool:
    if isinstance(selection, frozenset):
        return figure.key in selection
    return selection == "all" or not figure.uncertain


def section_keys(sections: Iterable[Section]) -> tuple[str, ...]:
    """Return each section's key: its first line, and its index among sections at that line."""
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
    selection: Selection = "certain",
    corrections: Mapping[str, Corrections] = _NONE,
    joined: Mapping[str, str] = _NONE,
) -> Documents:
    """Build a run document from each section with selected results.

    Corrections with a section's key replace properties in the text; those with the key "" fill
    gaps. `joined` maps a section's key to that of an earlier section of the same host. `now`
    (RFC 3339) replaces a missing date, and `times_of` records this.
    """
    selected = _machines(reading.sections, selection, joined)
    every = [_Machine(*machine, corrections) for machine in selected]
    remarks = _over_limit(MAX_RUNS, [machine.sections[0] for machine in every], "runs of a text")
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
    return Documents(tuple(documents), tuple(machine.key for machine in machines), tuple(remarks))


def _machines(
    sections: Sequence[Section], selection: Selection, joined: Mapping[str, str]
) -> Iterator[tuple[str, list[Section], list[Figure]]]:
    members: dict[str, list[Section]] = {}
    first_of: dict[str, str] = {}
    for key, section in zip(section_keys(sections), sections, strict=True):
        first_of[key] = first_of.get(joined.get(key, key), key)
        members.setdefault(first_of[key], []).append(section)
    for key, shared in members.items():
        figures_of_host = (figure for section in shared for figure in section.figures)
        if figures := [figure for figure in figures_of_host if is_selected(figure, selection)]:
            yield key, shared, figures


def _hosts(machines: Sequence[_Machine], import_id: UUID) -> list[str]:
    labels = {machine.label for machine in machines if not machine.host}
    unnamed = f"import-{import_id.hex[:8]}"
    return [
        machine.host
        or (f"{unnamed} ({machine.label})" if machine.label and len(labels) > 1 else unnamed)
        for machine in machines
    ]


def _printable(name: str | None) -> str:
    return "".join(letter for letter in name or "" if letter.isprintable()).strip()[:MAX_NAME]


def _over_limit(limit: int, items: Sequence[Section | Figure], name: str) -> list[Remark]:
    left_out = len(items) - limit
    detail = f"Only the first {limit:,} {name} were read; {left_out:,} more were skipped."
    return [Remark(items[limit].line, "too_many", detail)] if left_out > 0 else []


def _environment(machine: _Machine) -> dict[str, Any]:
    facts: dict[str, Any] = {part: {} for part in PARTS}
    for section in machine.sections:
        facts = merged(facts, section.environment)
    cpu, openssl = facts["cpu"], facts["openssl"]
    if (correction := machine.correction("cpu", cpu.get("model"))) is not None:
        cpu["model"] = correction or None
    if (correction := machine.correction("os", os_name(facts["os"]))) is not None:
        facts["os"] = os_facts(correction) if correction else {}
    if (correction := machine.correction("openssl", openssl.get("version_text"))) is not None:
        openssl["version_text"] = correction or None
    if machine.corrected("openssl", machine.key) is not None:
        facts["openssh"].pop("library", None)  # the correction also applies to ssh
    return facts


def _measurements(figures: Iterable[Figure]) -> tuple[list[dict[str, Any]], list[Remark]]:
    by_series: dict[str, list[Figure]] = {}
    for figure in figures:
        by_series.setdefault(str(_series(figure)), []).append(figure)
    series = list(by_series.values())
    measurements = []
    remarks = _over_limit(MAX_MEASUREMENTS, [plain[0] for plain in series], "series of a run")
    for tries in series[:MAX_MEASUREMENTS]:
        samples = [_sample(figure) for figure in tries[:MAX_SAMPLES]]
        measurements.append({**_series(tries[0]), "samples": samples})
        remarks += _over_limit(MAX_SAMPLES, tries, f"tries of {tries[0].cipher}")
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
