"""Upload: paste or drop what a tool printed, see what is understood of it, correct, save."""

import re
from collections.abc import Callable, Sequence
from typing import cast

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from access.import_slots import ImportsBusy, import_slot
from pages.upload.form import Draft, HowForm, draft_again, drafts
from pages.upload.preview import Card, preview
from pages.upload.receiving import FormRefused, receive_form
from pages.upload.saving import NotSaved, Saved, save, saved_before
from parsers.received_text import MAX_BYTES

FRAGMENT = "X-Ciphermark-Fragment"
"""A request with this header gets the card alone, to be put into the page."""

OPEN_CARDS = 3
"""With more cards than this on a page they are folded."""

CARD_NUMBER = re.compile(r"[0-9]{1,6}")
"""What tells the ids of one card's elements from those of another; a script counts them."""

Answer = Callable[[HttpRequest], HttpResponse]


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
    """An answer that reads texts: a few at a time, and one of each person."""

    def answered(request: HttpRequest) -> HttpResponse:
        try:
            with import_slot(f"person:{request.user.pk}"):
                return answer(request)
        except ImportsBusy as busy:
            refused = _page(request, request.POST, [Card("", str(busy))], status=429)
            refused["Retry-After"] = str(busy.wait)
            return refused

    return answered


def _empty(request: HttpRequest) -> HttpResponse:
    saved = saved_before(request.GET.get("saved", ""), created="again" not in request.GET)
    return _page(request, QueryDict(), [saved] if saved else [])


@_in_turn
def _preview(request: HttpRequest) -> HttpResponse:
    try:
        cards = [preview(draft) for draft in _asked(request)]
    except FormRefused as refusal:
        return _page(request, request.POST, [Card("", str(refusal))], status=refusal.status)
    if not cards:
        cards = [Card("", "There is nothing to read: paste a text, or choose a file.")]
    return _page(request, request.POST, cards)


def _asked(request: HttpRequest) -> list[Draft]:
    again = draft_again(request)
    return [again] if again else drafts(request)


@_in_turn
def _save(request: HttpRequest) -> HttpResponse:
    try:
        draft = draft_again(request)
        if draft is None:
            raise FormRefused("There is no text in this form. Choose the file again.")
        saved = save(draft, cast(User, request.user))
    except FormRefused as refusal:
        return _page(request, request.POST, [Card("", str(refusal))], status=refusal.status)
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
