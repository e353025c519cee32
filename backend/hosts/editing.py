"""Change hosts on behalf of editors, and record each change in the audit log.

Run documents never change. `runs.recompute` updates derived data in the same transaction. To
prevent deadlocks, each transaction locks a host before the runs of the host.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.audit import Actor, Subject, record
from hosts.models import Note
from runs.editing import EditConflict, EditRefused
from runs.models import Host, HostAlias, Run
from runs.recompute import pairs_of, recompute_for

LONGEST_NAME = 200


@transaction.atomic
def rename_host(host_pk: int, name: str, by: Actor) -> Host:
    """Rename a host. The host keeps its key, and still receives uploads under the old name.

    Raise `EditRefused` for an invalid name. Raise `EditConflict` if another host has the name.
    """
    host = Host.objects.select_for_update().get(pk=host_pk)
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise EditRefused(f"Enter a name of 1 to {LONGEST_NAME} printable characters.", "name")
    if name == host.name:
        return host
    identity = {"machine_id": host.machine_id, "published": host.published}
    listed = Host.objects.filter(name=name, published=host.published).exclude(pk=host.pk).first()
    followed = HostAlias.objects.filter(**identity, followed=True)
    alias = followed.filter(name=name).select_related("host").first()
    other = listed or (alias.host if alias and alias.host != host else None)
    if other is not None:
        raise EditConflict(
            f"The name “{name}” is already in use by host {other.slug}. If both are the same "
            "machine, merge them.",
            "name",
        )
    if alias:
        _stop_following(alias)
    if host.runs.filter(host_name=host.name).exists():
        HostAlias.objects.create(host=host, **identity, name=host.name)
    before, host.name = host.name, name
    host.save(update_fields=["name"])
    record(by, "host.rename", Subject.of(host), {"name": before}, {"name": name})
    return host


@transaction.atomic
def merge_hosts(kept_pk: int, other_pk: int, by: Actor) -> Host:
    """Move all runs of `other` to `kept`, and delete `other`. Return `kept`.

    Later uploads of `other` also belong to `kept`. Raise `EditRefused` for invalid hosts, and
    `EditConflict` for hosts of published results.
    """
    both = Host.objects.select_for_update().order_by("pk").in_bulk([kept_pk, other_pk])
    if kept_pk == other_pk:
        raise EditRefused("Choose another host; a host cannot be merged with itself.", "other")
    for wanted in (kept_pk, other_pk):
        if wanted not in both:
            raise EditRefused(f"Unknown host {wanted}.", "other")
    kept, other = both[kept_pk], both[other_pk]
    if kept.published or other.published:
        raise EditConflict("Published hosts cannot be merged.", "other")
    moved = pairs_of(other.runs.only("host_id", "environment_id"))
    changed = {(kept.pk, environment) for _, environment in moved}
    before = {"merged": _facts(other), "kept": _facts(kept)}
    for model in (Run, Note, HostAlias):
        model._default_manager.filter(host=other).update(host=kept)
    HostAlias.objects.create(
        host=kept,
        machine_id=other.machine_id,
        name=other.name,
        slug=other.slug,
        former_key=other.pk,
    )
    other.delete()
    record(by, "host.merge", Subject.of(kept), before, {"runs": kept.runs.count()})
    recompute_for(changed)
    return kept


def _facts(host: Host) -> dict[str, Any]:
    runs = host.runs.order_by("pk").values_list("run_id", flat=True)
    return {
        "key": host.pk,
        "name": host.name,
        "machine_id": host.machine_id,
        "slug": host.slug,
        "runs": [str(run_id) for run_id in runs],
    }


@transaction.atomic
def remove_alias(alias_pk: int, by: Actor) -> Host:
    """Remove a former name from its host: later uploads under this name create a new host.

    Earlier runs stay with the host. Old URLs of a merged host still redirect.
    """
    alias = HostAlias.objects.select_related("host").get(pk=alias_pk)
    host = Host.objects.select_for_update().get(pk=alias.host_id)
    before = {"name": alias.name, "machine_id": alias.machine_id, "slug": alias.slug}
    _stop_following(alias)
    record(by, "host.unalias", Subject.of(host), before)
    return host


def _stop_following(alias: HostAlias) -> None:
    if alias.slug:  # URLs of a merged host still redirect
        alias.followed = False
        alias.save(update_fields=["followed"])
    else:
        alias.delete()


@transaction.atomic
def add_note(host_pk: int, text: str, at: datetime | None, by: Actor) -> Note:
    """Create a note. Raise `EditRefused` if the time `at` is more than a day in the future."""
    if at and at > timezone.now() + timedelta(days=1):
        raise EditRefused("This date is more than a day ahead. Enter an earlier one.", "at")
    note = Note.objects.create(
        at=at or timezone.now(), text=text, host_id=host_pk, made_by=by.name[:200]
    )
    record(by, "note.add", Subject.of(note), after=_note_facts(note))
    return note


@transaction.atomic
def remove_note(note_pk: int, by: Actor) -> None:
    note = Note.objects.select_for_update().get(pk=note_pk)
    record(by, "note.remove", Subject.of(note), before=_note_facts(note))
    note.delete()


def _note_facts(note: Note) -> dict[str, object]:
    return {"text": note.text, "at": note.at, "host": note.host_id, "made_by": note.made_by}
