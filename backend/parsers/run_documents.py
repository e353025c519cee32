"""From a reading to run documents: what every later step, and the preview, works on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from documents.run_document import SCHEMA, TIMES_OF_IMPORT
from documents.software import os_facts
from documents.types import Series
from parsers.types import Figure, Reading, Remark, Section

MAX_RUNS = 200
MAX_MEASUREMENTS = 5_000
MAX_SAMPLES = 100
AGENT_NAME = "import"
FIRST_YEAR = "1990"
"""Before any tool whose output is read here."""
MAX_FACT = 2_000
"""Characters of a fact of an environment (the schema of run documents)."""


@dataclass(frozen=True)
class Corrections:
    """What the reader says of the machine, which counts more than the text; None: as the text."""

    host: str | None = None
    cpu: str | None = None
    os: str | None = None
    openssl: str | None = None


@dataclass(frozen=True)
class Documents:
    """Run documents, one a section in order, their sections' keys, and what was said meanwhile."""

    documents: tuple[dict[str, Any], ...]
    keys: tuple[str, ...]
    remarks: tuple[Remark, ...]


def run_documents(
    reading: Reading,
    *,
    import_id: UUID,
    now: str,
    corrections: Sequence[Corrections] = (),
    corrected: Sequence[str] = (),
) -> Documents:
    """A run document for each section.

    A section's key, and so its run_id, is where it starts: the same import always makes the same
    ones, and a section that a mended parser finds or loses does not move the others. `now`
    (RFC 3339) stands for the time of measurement where the text has none that can be; `times_of`
    then says so. `corrections` belong to the sections whose keys are `corrected`, else to the
    sections in order, the last one also to those after it.
    """
    sections, remarks = _within_count(reading.sections)
    keys = _keys(sections)
    made = [_of(corrections, corrected, number, key) for number, key in enumerate(keys)]
    hosts = _host_names(sections, import_id, made)
    documents = []
    for number, section in enumerate(sections):
        figures, cut = _within_limits(section)
        remarks += cut
        times, doubt = _times(section, now)
        remarks += doubt
        documents.append(
            _document(section, figures, hosts[number], made[number])
            | {"run_id": str(uuid5(import_id, keys[number]))}
            | times
        )
    return Documents(tuple(documents), keys, tuple(remarks))


def _within_count(sections: Sequence[Section]) -> tuple[Sequence[Section], list[Remark]]:
    if len(sections) <= MAX_RUNS:
        return sections, []
    detail = (
        f"one text makes {MAX_RUNS} runs; the {len(sections) - MAX_RUNS} from here are left out"
    )
    return sections[:MAX_RUNS], [Remark(sections[MAX_RUNS].line, "too_many", detail)]


def _keys(sections: Sequence[Section]) -> tuple[str, ...]:
    """Where each section starts: its line, and which of those that start there it is."""
    starts = Counter[int]()
    keys = []
    for section in sections:
        keys.append(f"{section.line}.{starts[section.line]}")
        starts[section.line] += 1
    return tuple(keys)


def _of(
    corrections: Sequence[Corrections], corrected: Sequence[str], number: int, key: str
) -> Corrections:
    """The corrections of a section; one correction alone belongs to all."""
    if not corrections:
        return Corrections()
    if corrected and len(corrections) > 1:
        if key not in corrected:
            return Corrections()
        number = corrected.index(key)
    return corrections[min(number, len(corrections) - 1)]


def _host_names(
    sections: Sequence[Section], import_id: UUID, corrections: Sequence[Corrections]
) -> list[str]:
    """A name for each section's machine.

    A text that names none gets a name of its own: results of machines nobody knows must not be
    taken for those of one machine, nor those of sections with different labels. A machine that
    has a name keeps it, except for its parts (a cluster of cores), which are measured apart.
    """
    unnamed = f"import-{import_id.hex[:8]}"
    stated = [
        correction.host or _printable(section.host)
        for section, correction in zip(sections, corrections, strict=True)
    ]
    labels = {section.label for section, name in zip(sections, stated, strict=True) if not name}
    return [
        _with_part(name, section.part)
        if name
        else _with_part(unnamed, section.label if len(labels) > 1 else section.part)
        for name, section in zip(stated, sections, strict=True)
    ]


def _with_part(name: str, part: str | None) -> str:
    return f"{name[:160]} ({part[:36]})" if part else name[:200]


def _printable(name: str | None) -> str:
    return "".join(letter for letter in name or "" if letter.isprintable()).strip()


def _times(section: Section, now: str) -> tuple[dict[str, Any], list[Remark]]:
    """When it was measured; a board without a clock may say 1970, or 2099."""
    stated = section.started_at
    if stated and FIRST_YEAR <= stated <= now:
        return {"started_at": stated, "finished_at": stated}, []
    doubt = (
        [Remark(section.line, "date_unlikely", f"the date {stated} cannot be")] if stated else []
    )
    return {"started_at": now, "finished_at": now, "times_of": TIMES_OF_IMPORT}, doubt


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
    found: dict[str, Any] = {
        name: {key: _cut(fact) for key, fact in (section.environment.get(name) or {}).items()}
        for name in parts
    }
    found |= {key: facts for key, facts in section.environment.items() if key not in parts}
    if corrections.cpu is not None:
        found["cpu"]["model"] = corrections.cpu
    if corrections.os is not None:
        found["os"] = os_facts(corrections.os)
    if corrections.openssl is not None:
        found["openssl"]["version_text"] = corrections.openssl
        found["openssh"].pop("library", None)  # the reader's word counts for ssh too
    return found


def _cut(fact: Any) -> Any:
    return fact[:MAX_FACT] if isinstance(fact, str) else fact


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
        target_kind=figure.target_kind or "loopback",
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
