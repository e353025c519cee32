"""Two hosts made one: their runs, names and identities."""

from access.audit import Actor, record
from ingest.edits.editing import (
    EditConflict,
    EditRefused,
    edit,
    host_subject,
    pairs_of_host,
)
from ingest.edits.recompute import recompute_for, refresh_hosts
from ingest.processing.hosts import add_names
from store.models import FleetChangeMember, Host, HostAlias, HostName, Note, Run


@edit
def merge_hosts(kept_pk: int, other_pk: int, by: Actor) -> Host:
    """Make two hosts one: all runs of `other` move, and so do uploads that come under its identity.

    The runs' documents still say which machine they came from, and the audit log what was merged.
    """
    # Locked, so that a run being processed is either there already or finds the alias.
    hosts = {
        host.pk: host
        for host in Host.objects.select_for_update()
        .filter(pk__in=(kept_pk, other_pk))
        .order_by("pk")
    }
    if kept_pk == other_pk:
        raise EditRefused("A host cannot be merged with itself.", "other")
    for wanted in (kept_pk, other_pk):
        if wanted not in hosts:
            raise EditRefused(f"There is no host {wanted}.", "other")
    kept, other = hosts[kept_pk], hosts[other_pk]
    if kept.published or other.published:
        raise EditConflict(
            "A published machine stays apart: its figures are somebody else's.", "other"
        )
    changed = [(kept.pk, environment) for _, environment in pairs_of_host(other)]
    _record_merge(kept, other, by)
    Run.objects.filter(host=other).update(host=kept)
    FleetChangeMember.objects.filter(host=other).update(host=kept)
    Note.objects.filter(host=other).update(host=kept)
    other.aliases.update(host=kept)
    _alias_of(other, kept)
    known = HostName.objects.filter(host__in=(kept, other)).values_list("name", flat=True)
    names = {*known, kept.name, other.name}
    add_names(kept, names, renames=False, same_machine=True)
    refresh_hosts([other.pk])
    other.delete()
    _end_sharing(kept)
    recompute_for(changed)
    return kept


def _record_merge(kept: Host, other: Host, by: Actor) -> None:
    moved = [str(one) for one in other.runs.order_by("id").values_list("run_id", flat=True)]
    before = {
        "merged": {"key": other.pk, "name": other.name, "machine_id": other.machine_id,
                   "slug": other.slug, "runs": moved},
        "kept": {"key": kept.pk, "name": kept.name, "machine_id": kept.machine_id,
                 "runs": kept.runs.count()},
    }  # fmt: skip
    after = {"runs": kept.runs.count() + len(moved)}
    record(by, "host.merge", host_subject(kept), before, after)


def _alias_of(other: Host, kept: Host) -> None:
    HostAlias.objects.create(
        host=kept,
        machine_id=other.machine_id,
        machine_name=other.machine_name,
        name=other.name,
        slug=other.slug,
        former_key=other.pk,
    )


def _end_sharing(host: Host) -> None:
    """Have any name lead to the host under a machine id that is its alone again."""
    ids = {host.machine_id, *host.aliases.values_list("machine_id", flat=True)} - {None}
    for machine_id in ids:
        shared = {"machine_id": machine_id}
        others = Host.objects.filter(**shared).exclude(pk=host.pk)
        if others.exists() or HostAlias.objects.filter(**shared).exclude(host=host).exists():
            continue
        if host.machine_id == machine_id:
            host.machine_name = ""
            host.save(update_fields=["machine_name"])
        elif not host.aliases.filter(**shared, machine_name="").exists():
            first = host.aliases.filter(**shared).order_by("id").values("pk")[:1]
            HostAlias.objects.filter(pk__in=first).update(machine_name="")
