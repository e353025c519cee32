"""What was understood of one text, as a card of the upload page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from documents.json_text import JsonError, parse_json
from documents.run_document import TIMES_OF_IMPORT, DocumentRejected, parse_run_document
from documents.software import os_version
from documents.validation import Fault, validate_run_document
from ingest.arrival.importing import FACTS, ImportRequest, Understood, understand
from pages.hosts.environment_facts import environment_facts
from pages.upload.excerpt import Excerpt, excerpt
from pages.upload.figures import Table, figure_count, tables
from pages.upload.form import (
    FORMAT_LABELS,
    SECTIONS_SHOWN,
    Answers,
    Draft,
    HowForm,
    answer_faults,
    plain,
)
from pages.upload.receiving import FIELD_LIMIT, pack
from parsers.read_text import HowToRead
from parsers.received_text import NotAText
from parsers.types import Remark

ROWS_SHOWN = 400
"""Rows of all tables of one card."""
UTF8_BOM = b"\xef\xbb\xbf"
FIELD_LABELS = {"host": "Host", "cpu": "CPU", "os": "Operating system", "openssl": "OpenSSL"}
IN_FIELDS = ("CPU", "Operating system", "OS version", "OpenSSL")
"""Facts of an environment that the fields show already."""

RUN_DOCUMENT = "Run document"


@dataclass(frozen=True)
class Field:
    """One fact of a run, as the text has it or as the reader corrected it."""

    name: str
    label: str
    value: str
    limit: int
    stated: bool
    fault: str = ""
    is_first_fault: bool = False


@dataclass(frozen=True)
class Section:
    """One run that would be stored."""

    fields: tuple[Field, ...]
    facts: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    label: str = ""
    """The column or heading of the text that it is of, where the text does not say whose it is."""
    conditions: tuple[Mapping[str, Any], ...] = ()
    skipped: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Card:
    """A text and what was understood of it; `problem` says why there is nothing to save."""

    name: str
    problem: str = ""
    format: str = ""
    packed: str = ""
    how: HowForm | None = None
    runs: int = 0
    figures: int = 0
    sections: tuple[Section, ...] = ()
    warnings: tuple[Remark, ...] = ()
    unrecognised: tuple[int, ...] = ()
    """Numbers of the lines that nothing was understood of."""
    text: Excerpt | None = None
    faults: tuple[Fault, ...] = ()
    conflict: UUID | None = None
    """The stored run that has a run_id of this text."""
    unread: bool = False
    """Whether nothing could be read of it, through a fault of this program."""

    @property
    def state(self) -> str:
        """Ready to be saved, or bad."""
        return "bad" if self.problem else "ready"

    @property
    def conditions(self) -> int:
        """How many conditions its runs state."""
        return sum(len(section.conditions) for section in self.sections)

    @property
    def needs_scripts(self) -> bool:
        """Whether the text is too large for a form that no script sends."""
        return len(self.packed) > FIELD_LIMIT

    @property
    def answers_faulty(self) -> bool:
        """Whether a field holds what cannot be stored."""
        return any(one.fault for section in self.sections for one in section.fields)


def is_run_document(draft: Draft) -> bool:
    """Whether the text means to be a run document, valid or not."""
    start = draft.body[:1024].removeprefix(UTF8_BOM).lstrip()
    named = b"ciphermark/run" in draft.body or b'"measurements"' in draft.body
    return draft.how.format is None and start.startswith(b"{") and named


@dataclass(frozen=True)
class Look:
    """A text read without corrections, and the facts of its runs as it states them."""

    draft: Draft
    understood: Understood
    stated: tuple[Answers, ...]
    labels: tuple[str, ...]


def look(draft: Draft) -> Look:
    """Read a text; `NotAText` when its bytes are none."""
    request = ImportRequest(draft.body, draft.how)
    understood = understand(request)
    # A host without a name in the text is given this one, which nobody stated.
    made_up = f"import-{request.import_id.hex[:8]}"
    stated = tuple(_stated(document, made_up) for document in understood.documents)
    labels = tuple(_label(document, made_up) for document in understood.documents)
    return Look(draft, understood, stated, labels)


def preview(draft: Draft) -> Card:
    """The card of a text. Nothing is stored."""
    if draft.fault:
        return Card(draft.name, draft.fault)
    if is_run_document(draft):
        return document_card(draft, *read_document(draft.body))
    try:
        return text_card(look(draft))
    except NotAText as error:
        return Card(draft.name, str(error))


def _stated(document: Mapping[str, Any], made_up: str) -> Answers:
    environment, host = document["environment"], document["host"]["name"]
    facts = {
        "host": "" if host.startswith(made_up) else host,
        "cpu": environment["cpu"].get("model"),
        "os": os_version(environment["os"]),
        "openssl": environment["openssl"].get("version_text"),
    }
    return {name: plain(text or "") for name, text in facts.items()}


def _label(document: Mapping[str, Any], made_up: str) -> str:
    """What stands in brackets behind the made-up name."""
    host = document["host"]["name"]
    start = f"{made_up} ("
    return plain(host.removeprefix(start).removesuffix(")")) if host.startswith(start) else ""


def text_card(seen: Look, saving: bool = False) -> Card:
    """The card of a text that a tool printed; when `saving`, every run's machine needs a name."""
    draft, understood = seen.draft, seen.understood
    empty, unread = not understood.documents, bool(understood.failures)
    return Card(
        draft.name,
        problem="No cipher results found." if empty and not unread else "",
        unread=empty and unread,
        format=FORMAT_LABELS.get(understood.format or "", ""),
        packed=pack(draft.body),
        how=_how_form(draft.how),
        runs=len(understood.documents),
        figures=figure_count(understood.documents),
        sections=_sections(seen, saving),
        warnings=tuple(understood.warnings),
        unrecognised=tuple(one.line for one in understood.unrecognised),
        text=excerpt(understood.text, _marks(understood)),
    )


def _how_form(how: HowToRead) -> HowForm:
    """The questions about a text, with the answers so far."""
    return HowForm(
        {
            "format": how.format or "",
            "unit": how.unit or "",
            "bytes": how.transferred,
            "cipher": how.cipher or "",
        }
    )


def _marks(understood: Understood) -> dict[str, set[int]]:
    return {
        "unrecognised": {one.line for one in understood.unrecognised},
        "warned": {one.line for one in understood.warnings},
        "figure": {
            sample["line"]
            for document in understood.documents
            for measurement in document["measurements"]
            for sample in measurement["samples"]
        },
    }


def _sections(seen: Look, saving: bool) -> tuple[Section, ...]:
    made, rows, faulty = [], ROWS_SHOWN, False
    answers = seen.draft.answers
    for number, document in enumerate(seen.understood.documents[:SECTIONS_SHOWN]):
        stated = seen.stated[number]
        answer = answers[number] if number < len(answers) else stated
        faults = answer_faults(answer, stated, saving)
        fields = _fields(stated, answer, faults, first=not faulty)
        faulty = faulty or bool(faults)
        shown = tables(document["measurements"], rows)
        rows -= sum(len(table.rows) for table in shown)
        facts = tuple(fact for fact in _facts(document) if fact[0] not in IN_FIELDS)
        made.append(Section(fields, facts, shown, seen.labels[number], *_remarks(document)))
    return tuple(made)


def _fields(
    stated: Answers, answer: Answers, faults: Mapping[str, str], first: bool
) -> tuple[Field, ...]:
    to_focus = next(iter(faults), None) if first else None
    return tuple(
        Field(
            name,
            FIELD_LABELS[name],
            answer[name],
            limit,
            bool(stated[name]),
            faults.get(name, ""),
            name == to_focus,
        )
        for name, limit in FACTS.items()
    )


def _facts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    dated = document.get("times_of") != TIMES_OF_IMPORT
    started = [("Measured", plain(document["started_at"] or "not stated"))] if dated else []
    return [*started, *environment_facts(document["environment"])]


def _remarks(document: Mapping[str, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What may make the run doubtful, and what it did not measure."""
    return tuple(document.get("conditions") or ()), tuple(document.get("skipped") or ())


def read_document(body: bytes) -> tuple[Any, tuple[Fault, ...]]:
    """A run document and its faults."""
    if len(body) > settings.RUN_DOCUMENT_MAX_BYTES:
        limit = settings.RUN_DOCUMENT_MAX_BYTES >> 20
        return None, (Fault("", "too_large", f"A run document has at most {limit} MiB."),)
    try:
        document = parse_json(body)
    except JsonError as error:
        return None, (Fault("", "parse_error", f"This is not JSON: {error}."),)
    faults = validate_run_document(document)
    return document, tuple(faults) or _contradictions(document)


def _contradictions(document: Any) -> tuple[Fault, ...]:
    """What no schema can see; the worker would reject the run for it later."""
    try:
        parse_run_document(document, received_at=timezone.now())
    except DocumentRejected as error:
        return (Fault("", "rejected", str(error)),)
    return ()


def document_card(draft: Draft, document: Any, faults: Sequence[Fault]) -> Card:
    """The card of a run document, which is stored as it is."""
    if faults:
        problem = "This run document is not valid."
        return Card(draft.name, problem, RUN_DOCUMENT, faults=tuple(faults))
    facts = (("Host", document["host"]["name"]), *_facts(document))
    shown = tables(document["measurements"], ROWS_SHOWN)
    section = Section((), facts, shown, "", *_remarks(document))
    return Card(
        draft.name,
        format=RUN_DOCUMENT,
        packed=pack(draft.body),
        runs=1,
        figures=figure_count([document]),
        sections=(section,),
    )
