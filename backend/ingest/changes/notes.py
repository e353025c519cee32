"""Notes at a date, made and removed by editors."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from access.audit import Actor, Subject, record
from ingest.changes.change_status import checked_sentence
from ingest.changes.editing import EditRefused
from store.models import Host, Note, Run

LONGEST_TEXT = 500


@dataclass(frozen=True)
class About:
    """What a note is about: a host by its primary key, a run by its own, or a group by its key."""

    host: int | None = None
    run: int | None = None
    group_by: str = ""
    group: str = ""


@transaction.atomic
def add_note(about: About, text: str, at: datetime | None, by: Actor) -> Note:
    """Store a note; `at` None: the start of the run, else now. `EditRefused` for an empty one."""
    text = checked_sentence(text, "text", LONGEST_TEXT)
    if not text:
        raise EditRefused("A note says something.", "text")
    run = Run.objects.filter(pk=about.run).first() if about.run else None
    note = Note.objects.create(
        at=at or (run.started_at if run else None) or timezone.now(),
        text=text,
        host=Host.objects.get(pk=about.host) if about.host else None,
        run=run,
        group_by=about.group_by,
        group=about.group,
        made_by=by.name[:200],
    )
    record(by, "note.add", Subject("note", note.pk, text), after=_facts(note))
    return note


@transaction.atomic
def remove_note(note_pk: int, by: Actor) -> None:
    """Delete a note; the audit log keeps it."""
    note = Note.objects.select_for_update(of=("self",)).get(pk=note_pk)
    record(by, "note.remove", Subject("note", note.pk, note.text), before=_facts(note))
    note.delete()


def _facts(note: Note) -> dict[str, object]:
    return {
        "text": note.text,
        "at": note.at,
        "host": note.host_id,
        "run": str(note.run.run_id) if note.run else None,
        "group_by": note.group_by,
        "group": note.group,
        "made_by": note.made_by,
    }
