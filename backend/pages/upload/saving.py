"""Storing one text of the upload page."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from ingest.arrival.acceptance import RunConflict, accept_run, record_upload
from ingest.arrival.importing import ImportRequest, RunTaken, store_import
from ingest.tasks import enqueue_accepted
from pages.upload.form import Draft, corrections
from pages.upload.preview import (
    Card,
    document_card,
    is_run_document,
    look,
    read_document,
    text_card,
)
from parsers.received_text import NotAText
from store.models import ImportedText, Run

RUNS_LINKED = 20


class NotSaved(Exception):
    """Nothing was stored; the card says why."""

    def __init__(self, card: Card, status: int = 400) -> None:
        super().__init__(card.problem)
        self.card = card
        self.status = status


@dataclass(frozen=True)
class Saved:
    """What was stored of one text, now (`created`) or before; no runs where a parser failed."""

    name: str
    stored_id: UUID
    runs: tuple[Run, ...]
    created: bool

    state = "saved"

    @property
    def linked(self) -> tuple[Run, ...]:
        """The first of its runs."""
        return self.runs[:RUNS_LINKED]

    @property
    def more(self) -> int:
        """Runs that are not linked."""
        return len(self.runs) - len(self.linked)


def save(draft: Draft, person: User) -> Saved:
    """Store a text with its corrections; `NotSaved` when it cannot be, or its fields are faulty."""
    if draft.fault:
        raise NotSaved(Card(draft.name, draft.fault))
    return _save_document(draft, person) if is_run_document(draft) else _save_text(draft, person)


def _save_document(draft: Draft, person: User) -> Saved:
    document, faults = read_document(draft.body)
    if faults:
        raise NotSaved(document_card(draft, document, faults))
    try:
        with transaction.atomic():
            accepted = accept_run(draft.body, document, source=Run.Source.AGENT)
            if accepted.created:
                record_upload([accepted.run], person)
    except RunConflict:
        conflict = "Another run with this run_id is stored already; this one was not."
        card = Card(draft.name, conflict, conflict=UUID(document["run_id"]))
        raise NotSaved(card, status=409) from None
    if accepted.created:
        enqueue_accepted()
    return Saved(draft.name, accepted.run.run_id, (accepted.run,), accepted.created)


def _save_text(draft: Draft, person: User) -> Saved:
    try:
        seen = look(draft)
    except NotAText as error:
        raise NotSaved(Card(draft.name, str(error))) from None
    card = text_card(seen, saving=True)
    if card.problem or card.answers_faulty:
        raise NotSaved(card)
    made = corrections(seen.stated, draft.answers)
    request = ImportRequest(draft.body, draft.how, made)
    try:
        imported = store_import(request, person=person, seen=seen.understood)
    except RunTaken as taken:
        conflict = Card(draft.name, f"{taken} Nothing was stored.", conflict=taken.run_id)
        raise NotSaved(conflict, status=409) from None
    if imported.created:
        enqueue_accepted()
    return Saved(draft.name, request.import_id, imported.runs, imported.created)


def saved_before(asked: str, created: bool) -> Saved | None:
    """What is stored under the id of an import or of a run; None where there is nothing."""
    try:
        wanted = UUID(asked)
    except ValueError:
        return None
    text = ImportedText.objects.filter(import_id=wanted).first()
    runs = text.runs.order_by("id") if text else Run.objects.filter(run_id=wanted)
    unread = text is not None and text.parser_version == ImportedText.UNREAD
    return Saved("Your text", wanted, tuple(runs), created) if runs or unread else None
