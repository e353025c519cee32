"""What people say of a change of the fleet: known, of no matter."""

from django.db import transaction
from django.utils import timezone

from access.audit import Actor, Subject, record
from hosts.editing import EditRefused, checked_sentence
from store.models import FleetChange

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
