"""From a reading to run documents: what every later step, and the preview, works on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from documents.run_document import SCHEMA, TIMES_OF_IMPORT
from documents.software import os_facts
from documents.types import Series
from parsers.types import Figure, Reading, Remark, Section

MAX_MEASUREMENTS = 5_000
MAX_SAMPLES = 100
AGENT_NAME = "import"


@dataclass(frozen=True)
class Corrections:
    """What the reader says of the machine, which counts more than the text; None: as the text."""

    host: str | None = None
    cpu: str | None = None
    os: str | None = None
    openssl: str | None = None


@dataclass(frozen=True)
class Documents:
    """Run documents, one a section in order, and what was said while making them."""

    documents: tuple[dict[str, Any], ...]
    remarks: tuple[Remark, ...]


def run_documents(
    reading: Reading, *, import_id: UUID, now: str, corrections: Sequence[Corrections] = ()
) -> Documents:
    """A run document for each section.

    The same import, section and text always make the same run_id. `now` (RFC 3339) stands for the
    time of measurement where the text has none; `times_of` then says so. `corrections` belong to
    the sections in order, the last one also to those after it.
    """
    remarks: list[Remark] = []
    hosts = _host_names(reading.sections, import_id, corrections)
    documents = []
    for number, section in enumerate(reading.sections):
        figures, cut = _within_limits(section)
        remarks += cut
        documents.append(
            _document(section, figures, hosts[number], _of(corrections, number))
            | {"run_id": str(uuid5(import_id, str(number)))}
            | _times(section, now)
        )
    return Documents(tuple(documents), tuple(remarks))


def _of(corrections: Sequence[Corrections], number: int) -> Corrections:
    if not corrections:
        return Corrections()
    return corrections[min(number, len(corrections) - 1)]


def _host_names(
    sections: Sequence[Section], import_id: UUID, corrections: Sequence[Corrections]
) -> list[str]:
    """A name for each section's machine.

    A text that names none gets a name of its own: results of machines nobody knows must not be
    taken for those of one machine. Sections that would be one machine in one environment, of
    which only the latest counts, are told apart where their labels do (two clusters of cores).
    """
    unnamed = f"import-{import_id.hex[:8]}"
    names = [
        (_of(corrections, number).host or section.host or unnamed)[:160]
        for number, section in enumerate(sections)
    ]
    labels: dict[tuple[str, str], set[str | None]] = {}
    identities = [
        (name, repr(_environment(section, _of(corrections, number))))
        for number, (name, section) in enumerate(zip(names, sections, strict=True))
    ]
    for identity, section in zip(identities, sections, strict=True):
        labels.setdefault(identity, set()).add(section.label)
    return [
        f"{name} ({section.label[:36]})" if section.label and len(labels[identity]) > 1 else name
        for name, identity, section in zip(names, identities, sections, strict=True)
    ]


def _times(section: Section, now: str) -> dict[str, Any]:
    if section.started_at:
        return {"started_at": section.started_at, "finished_at": section.started_at}
    return {"started_at": now, "finished_at": now, "times_of": TIMES_OF_IMPORT}


def _document(
    section: Section, figures: Iterable[Figure], host: str, corrections: Corrections
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "agent": {"name": AGENT_NAME, "version": None},
        "host": {"name": host, "machine_id": None},
        "environment": _environment(section, corrections),
        "conditions": [dict(condition) for condition in section.conditions],
        "measurements": list(_measurements(figures)),
    }


def _environment(section: Section, corrections: Corrections) -> dict[str, Any]:
    """The four parts that every document has, with what text and reader say."""
    parts = ("cpu", "os", "openssl", "openssh")
    found: dict[str, Any] = {name: dict(section.environment.get(name) or {}) for name in parts}
    found |= {key: facts for key, facts in section.environment.items() if key not in parts}
    if corrections.cpu is not None:
        found["cpu"]["model"] = corrections.cpu
    if corrections.os is not None:
        found["os"] = os_facts(corrections.os)
    if corrections.openssl is not None:
        found["openssl"]["version_text"] = corrections.openssl
    return found


def series_of(figure: Figure) -> Series:
    """What makes figures tries of one measurement."""
    if figure.tool == "openssl":
        return Series(
            tool="openssl",
            cipher=figure.cipher,
            operation=figure.operation,
            block_size=figure.block_size,
            threads=figure.threads,
            acceleration=figure.acceleration,
        )
    return Series(
        tool="ssh",
        cipher=figure.cipher,
        mac=figure.mac,
        compression=figure.compression,
        method="pipeline",
        target_kind=figure.target_kind,
        target_name=figure.target_name,
        acceleration=figure.acceleration,
    )


def _tries(figures: Iterable[Figure]) -> dict[Series, list[Figure]]:
    tries: dict[Series, list[Figure]] = {}
    for figure in figures:
        tries.setdefault(series_of(figure), []).append(figure)
    return tries


def _within_limits(section: Section) -> tuple[list[Figure], list[Remark]]:
    """The figures that one document can hold, and what was left out for it."""
    kept: list[Figure] = []
    remarks = []
    for number, tries in enumerate(_tries(section.figures).values()):
        if number == MAX_MEASUREMENTS:
            detail = f"a run holds {MAX_MEASUREMENTS} series; those from here on are left out"
            remarks.append(Remark(tries[0].line, "too_many", detail))
            break
        kept += tries[:MAX_SAMPLES]
        if len(tries) > MAX_SAMPLES:
            detail = f"{tries[0].label}: the first {MAX_SAMPLES} of {len(tries)} tries are kept"
            remarks.append(Remark(tries[MAX_SAMPLES].line, "too_many", detail))
    return kept, remarks


def _measurements(figures: Iterable[Figure]) -> Iterable[dict[str, Any]]:
    for series, tries in _tries(figures).items():
        yield {**_series_fields(series), "samples": [_sample(figure) for figure in tries]}


def _series_fields(series: Series) -> dict[str, Any]:
    shared = {"tool": series.tool, "cipher": series.cipher, "acceleration": series.acceleration}
    if series.tool == "openssl":
        own = ("operation", "block_size", "threads")
        return shared | {name: getattr(series, name) for name in own}
    target = {"kind": series.target_kind, "name": series.target_name}
    own = ("mac", "compression", "method")
    return shared | {name: getattr(series, name) for name in own} | {"target": target}


def _sample(figure: Figure) -> dict[str, Any]:
    sample: dict[str, Any] = {"line": figure.line}
    if figure.bytes is not None and figure.seconds is not None:
        sample |= {"bytes": figure.bytes, "seconds": figure.seconds}
    else:
        sample["bytes_per_second"] = figure.bytes_per_second
    if figure.implausible:
        sample["implausible"] = figure.implausible
    return sample
