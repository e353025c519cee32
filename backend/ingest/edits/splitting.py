"""Telling machines apart that share one machine id: clones of one image, mostly.

A host whose runs came under several names is split by one of them. From then on the id is shared:
under it each name is a host of its own, and a name never seen before makes a new host.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from django.db.models import F

from access.audit import Actor, Subject, record
from documents.naming import same_name, slug
from ingest.edits.editing import EditRefused, edit
from ingest.edits.recompute import recompute_for
from ingest.processing.hosts import add_names, free_slug
from store.models import Host, HostAlias, Run

Names = Mapping[str, Sequence[str]]
"""Name, as `same_name` has it -> its spellings."""


@edit
def split_host(host_pk: int, name: str, by: Actor) -> Host:
    """Give the runs of this name, and later ones, to a host of their own, which is returned.

    Runs without a machine id stay. `EditRefused` where no other name came under the machine id.
    """
    host = Host.objects.select_for_update().get(pk=host_pk)
    wanted, under = same_name(name), _names(host)
    ids = [machine_id for machine_id, names in under.items() if wanted in names]
    if not any(len(under[machine_id]) > 1 for machine_id in ids):
        raise EditRefused(
            f"There is nothing to split: no runs named “{name}” and other ones came to {host.name}"
            " under the same machine id.",
            "name",
        )
    spelt = sorted({one for machine_id in ids for one in under[machine_id][wanted]})
    moved = Run.objects.filter(host=host, machine_id__in=ids, host_name__in=spelt)
    keys = list(moved.order_by("id").values_list("pk", flat=True))
    before = _facts(host)
    # A host without a machine id of its own goes by its name, which stays.
    if host.machine_id and same_name(host.name) == wanted:
        host.name = next(one for one in _latest_names(host) if same_name(one) != wanted)
    aliases = [_keep(host, machine_id, under[machine_id], wanted) for machine_id in ids]
    new = _new_host(
        host,
        next(one for one in _latest_names(host) if one in spelt),
        ids,
        [one for one in aliases if one],
    )
    host.names.filter(name__in=spelt).delete()
    add_names(new, spelt)
    add_names(host, [host.name])
    _move(host, new, keys)
    _record(before, host, new, keys, by)
    return new


@edit
def confirm_one_machine(host_pk: int, by: Actor) -> Host:
    """Have the names that a host goes by now be no sign of several machines any more."""
    host = Host.objects.select_for_update().get(pk=host_pk)
    names = sorted(host.names.values_list("name", flat=True))
    add_names(host, names, same_machine=True)
    record(by, "host.confirm", Subject("host", host.pk, host.name), after={"one_machine": names})
    return host


def _names(host: Host) -> Mapping[str, Names]:
    """Machine id -> the names that its runs came with."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    runs = Run.objects.filter(host=host, machine_id__isnull=False).order_by("host_name")
    for machine_id, name in runs.values_list("machine_id", "host_name").distinct():
        found[str(machine_id)][same_name(name)].append(name)
    return found


def _latest_names(host: Host) -> Iterator[str]:
    """The names of its runs, the latest run's first."""
    latest = F("started_at").desc(nulls_last=True)
    runs = Run.objects.filter(host=host).order_by(latest, "-id")
    return runs.values_list("host_name", flat=True).iterator()


def _keep(host: Host, machine_id: str, names: Names, wanted: str) -> HostAlias | None:
    """Have all names but the wanted one lead to the host under this id, and no other name.

    Returns the alias that led to what is split off, which is deleted.
    """
    spellings = {key: spelt[0] for key, spelt in names.items() if key != wanted}
    aliases = {one.machine_name: one for one in host.aliases.filter(machine_id=machine_id)}
    unnamed, gone = aliases.pop("", None), aliases.pop(wanted, None)
    if unnamed and not gone and unnamed.slug == slug(wanted):
        unnamed, gone = None, unnamed
    if gone:
        HostAlias.objects.filter(pk=gone.pk).delete()
    free = sorted(spellings.keys() - aliases.keys() - _own_name(host, machine_id))
    if host.machine_id == machine_id and host.machine_name in ("", wanted):
        if free:
            host.machine_name = free.pop(0)
        else:
            _become_alias(host, wanted)
    if unnamed:
        _name_alias(unnamed, free)
    HostAlias.objects.bulk_create(
        HostAlias(host=host, machine_id=machine_id, machine_name=one, name=spellings[one])
        for one in free
    )
    return gone


def _become_alias(host: Host, wanted: str) -> None:
    """Have the host be what one of its aliases was, as its own name is split off."""
    named = host.aliases.filter(machine_id__isnull=False).order_by("id")
    alias = named.exclude(machine_name=wanted).first() or named[0]
    host.machine_id, host.machine_name = alias.machine_id, alias.machine_name
    alias.delete()


def _name_alias(alias: HostAlias, free: list[str]) -> None:
    """Have an alias, to which the machine id led whatever the name, stand for a free one alone."""
    if free:
        own = same_name(alias.name)
        alias.machine_name = free.pop(free.index(own) if own in free else 0)
        alias.save(update_fields=["machine_name"])
    else:
        HostAlias.objects.filter(pk=alias.pk).delete()


def _own_name(host: Host, machine_id: str) -> set[str]:
    return {host.machine_name} if host.machine_id == machine_id else set()


def _new_host(host: Host, name: str, ids: Sequence[str], former: Sequence[HostAlias]) -> Host:
    """The host of this name under these machine ids.

    What had been merged gets its key and number back. The key in addresses goes with the name.
    """
    key = next((one for one in former if one.former_key), None)
    follows = host.slug == slug(name) and same_name(host.name) != same_name(name)
    taken = key.slug if key else host.slug if follows else ""
    if taken == host.slug:
        host.slug = free_slug(host.name)
    host.save(update_fields=["name", "slug", "machine_id", "machine_name"])
    new = Host.objects.create(
        pk=key.former_key if key else None,
        name=name,
        slug=taken or free_slug(name),
        machine_id=ids[0],
        machine_name=same_name(name),
    )
    HostAlias.objects.bulk_create(
        HostAlias(host=new, machine_id=one, machine_name=new.machine_name, name=name)
        for one in ids[1:]
    )
    return new


def _move(host: Host, new: Host, runs: Sequence[int]) -> None:
    """Give the runs to the new host, with all that is derived from them."""
    moved = Run.objects.filter(pk__in=runs)
    moved.update(host=new)
    environments = moved.filter(environment__isnull=False).order_by()
    changed = environments.values_list("environment_id", flat=True).distinct()
    recompute_for((pk, environment) for environment in changed for pk in (host.pk, new.pk))
    for one in (host, new):
        one.refresh_from_db()


def _facts(host: Host) -> dict[str, object]:
    count = Run.objects.filter(host=host).count()
    return {"key": host.pk, "name": host.name, "slug": host.slug, "runs": count}


def _record(
    before: Mapping[str, object], host: Host, new: Host, moved: Sequence[int], by: Actor
) -> None:
    runs = Run.objects.filter(pk__in=moved).order_by("id")
    run_ids = [str(one) for one in runs.values_list("run_id", flat=True)]
    split_off = {**_facts(new), "machine_id": new.machine_id, "runs": run_ids}
    after = {"kept": _facts(host), "split_off": split_off}
    record(by, "host.split", Subject("host", host.pk, str(before["name"])), before, after)
