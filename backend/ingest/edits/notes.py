"""What people say: of a change of the fleet (known, of no matter), and notes on a host."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from access.audit import Actor, Subject, record
from ingest.edits.editing import EditRefused
from store.models import FleetChange, Note

LONGEST_NOTE = 1000


@transaction.atomic
def decide(
    change_pk: int, by: Actor, *, status: str | None = None, note: str | None = None
) -> FleetChange:
    """Set status or note, or both; `EditRefused` for what is neither."""
    change = FleetChange.objects.select_for_update().get(pk=change_pk)
    before = {"status": change.status, "note": change.note}
    after = {
        "status": before["status"] if status is None else _checked_status(status),
        "note": before["note"] if note is None else checked_sentence(note, "note", LONGEST_NOTE),
    }
    if after == before:
        return change
    change.status, change.note = after["status"], after["note"]
    change.decided_by, change.decided_at = by.name[:200], timezone.now()
    change.save(update_fields=["status", "note", "decided_by", "decided_at"])
    record(by, "change.decide", Subject("change", change.pk, str(change)), before, after)
    return change


def _checked_status(status: str) -> str:
    known = FleetChange.Status.values
    if status not in known:
        raise EditRefused(f"A status is one of {', '.join(known)}: a later run fixes.", "status")
    return status


def checked_sentence(text: str, attr: str, longest: int) -> str:
    """A text of one or more lines without characters that nobody sees; may be empty."""
    text = text.replace("\r\n", "\n").strip()
    if len(text) > longest or not text.replace("\n", " ").isprintable():
        raise EditRefused(f"At most {longest} printable characters.", attr)
    return text


LONGEST_TEXT = 500


@transaction.atomic
def add_note(host_pk: int, text: str, at: datetime | None, by: Actor) -> Note:
    """Store a note of now, or of another time; `EditRefused` for an empty one."""
    text = checked_sentence(text, "text", LONGEST_TEXT)
    if not text:
        raise EditRefused("A note says something.", "text")
    note = Note.objects.create(
        at=at or timezone.now(), text=text, host_id=host_pk, made_by=by.name[:200]
    )
    record(by, "note.add", Subject("note", note.pk, text), after=_facts(note))
    return note


@transaction.atomic
def remove_note(note_pk: int, by: Actor) -> None:
    """Delete a note; the audit log keeps it."""
    note = Note.objects.select_for_update().get(pk=note_pk)
    record(by, "note.remove", Subject("note", note.pk, note.text), before=_facts(note))
    note.delete()


def _facts(note: Note) -> dict[str, object]:
    return {
        "text": note.text,
        "at": note.at,
        "host": note.host_id,
        "made_by": note.made_by,
    }
