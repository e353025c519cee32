"""Upload: paste or drop what a tool printed, see what is understood of it, correct, save."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from access.import_slots import ImportsBusy, import_slot
from ingest.arrival.acceptance import RunConflict, accept_run, record_upload
from ingest.arrival.importing import ImportRequest, RunTaken, store_import
from ingest.tasks import enqueue_accepted
from pages.upload.form import Draft, HowForm, corrections, draft_again, drafts
from pages.upload.preview import (
    Card,
    document_card,
    is_run_document,
    look,
    preview,
    read_document,
    text_card,
)
from pages.upload.receiving import FormRefused, receive_form
from parsers.received_text import MAX_BYTES, NotAText
from store.models import ImportedText, Run

FRAGMENT = "X-Ciphermark-Fragment"
"""A request with this header gets the card alone, to be put into the page."""

OPEN_CARDS = 3
"""With more cards than this on a page they are folded."""

CARD_NUMBER = re.compile(r"[0-9]{1,6}")
"""What tells the ids of one card's elements from those of another; a script counts them."""

Answer = Callable[[HttpRequest], HttpResponse]


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


@csrf_exempt  # only here: the form is read with bounds first, then its token is checked
@login_required
@permission_required("runs.add_run", raise_exception=True)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def upload_page(request: HttpRequest) -> HttpResponseBase:
    """The page; a POST shows what is understood of the texts in its form, and stores nothing."""
    return _received(request, _preview if request.method == "POST" else _empty)


@csrf_exempt
@login_required
@permission_required("runs.add_run", raise_exception=True)
@never_cache
@require_POST
def save_upload(request: HttpRequest) -> HttpResponseBase:
    """Store one text with its corrections; the same text with the same ones is stored once."""
    return _received(request, _save)


def _received(request: HttpRequest, answer: Answer) -> HttpResponseBase:
    """Read the form within bounds, check its CSRF token, answer; a refusal in words."""
    try:
        if request.method == "POST":
            receive_form(request)
    except FormRefused as refusal:
        return _page(request, QueryDict(), [Card("", str(refusal))], status=refusal.status)
    checked: HttpResponseBase = csrf_protect(answer)(request)
    return checked


def _in_turn(answer: Answer) -> Answer:
    """An answer that reads texts: a few at a time, and one of each person; a refusal in words."""

    def answered(request: HttpRequest) -> HttpResponse:
        try:
            with import_slot(f"person:{request.user.pk}"):
                return answer(request)
        except FormRefused as refusal:
            return _page(request, request.POST, [Card("", str(refusal))], status=refusal.status)
        except ImportsBusy as busy:
            refused = _page(request, request.POST, [Card("", str(busy))], status=429)
            refused["Retry-After"] = str(busy.wait)
            return refused

    return answered


def _empty(request: HttpRequest) -> HttpResponse:
    saved = _saved_before(request.GET.get("saved", ""), created="again" not in request.GET)
    return _page(request, QueryDict(), [saved] if saved else [])


@_in_turn
def _preview(request: HttpRequest) -> HttpResponse:
    again = draft_again(request)
    cards = [preview(draft) for draft in ([again] if again else drafts(request))]
    if not cards:
        cards = [Card("", "There is nothing to read: paste a text, or choose a file.")]
    return _page(request, request.POST, cards)


@_in_turn
def _save(request: HttpRequest) -> HttpResponse:
    draft = draft_again(request)
    if draft is None:
        raise FormRefused("There is no text in this form. Choose the file again.")
    try:
        saved = _store(draft, cast(User, request.user))
    except NotSaved as refusal:
        return _page(request, request.POST, [refusal.card], status=refusal.status)
    if FRAGMENT in request.headers:
        return _page(request, request.POST, [saved])
    again = "" if saved.created else "&again=1"
    return redirect(f"{reverse('upload')}?saved={saved.stored_id}{again}")


def _page(
    request: HttpRequest, form: QueryDict, cards: Sequence[Card | Saved], status: int = 200
) -> HttpResponse:
    """The page with these cards; for a script the cards alone. `form` is what was sent."""
    first = form.get("card", "")
    fragment = FRAGMENT in request.headers
    context = {
        "cards": cards,
        "fragment": fragment,
        "first_card": int(first) if CARD_NUMBER.fullmatch(first) else 1,
        "open": len(cards) <= OPEN_CARDS and not form.get("folded"),
        "how": HowForm(form or None),
        "most_bytes": MAX_BYTES,
        "most_mebibytes": MAX_BYTES >> 20,
    }
    template = "pages/parts/upload_cards.html" if fragment else "pages/upload.html"
    return render(request, template, context, status=status)


def _store(draft: Draft, person: User) -> Saved:
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


def _saved_before(asked: str, created: bool) -> Saved | None:
    """What is stored under the id of an import or of a run; None where there is nothing."""
    try:
        wanted = UUID(asked)
    except ValueError:
        return None
    text = ImportedText.objects.filter(import_id=wanted).first()
    runs = text.runs.order_by("id") if text else Run.objects.filter(run_id=wanted)
    unread = text is not None and text.parser_version == ImportedText.UNREAD
    return Saved("Your text", wanted, tuple(runs), created) if runs or unread else None
