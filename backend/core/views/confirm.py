"""Confirmation page before a change, and message after it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import format_html

from accounts.audit import Actor, actor_of
from runs.editing import EditConflict, EditRefused


@dataclass(frozen=True)
class Confirmation:
    """Texts of a confirmation page: heading, consequences, button, and URL to cancel.

    `said`: message after the change. `undo`: URL that reverts it.
    """

    heading: str
    about: str
    sentences: tuple[str, ...]
    button: str
    back: str
    said: str
    undo: str = ""
    name: str | None = None
    """Current name, if the form asks for a new one."""


def confirm(
    request: HttpRequest, asked: Confirmation, change: Callable[[Actor], Any], done: str
) -> HttpResponse:
    """Ask on GET; on POST make the change and redirect to `done` with a message."""
    refusal, status = "", 200
    if request.method == "POST":
        try:
            change(actor_of(request))
        except EditRefused as refused:
            refusal, status = refused.sentence, _status_of(refused)
        else:
            undo = format_html(' <a href="{}">Undo</a>', asked.undo) if asked.undo else ""
            messages.success(request, format_html("{}{}", asked.said, undo))
            return redirect(done)
    context = {"asked": asked, "refusal": refusal, "given": request.POST.get("name", asked.name)}
    return render(request, "core/confirm.html", context, status=status)


def _status_of(refused: EditRefused) -> int:
    return 409 if isinstance(refused, EditConflict) else 400
