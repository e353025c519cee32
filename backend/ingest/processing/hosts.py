"""Hosts as rows, found or made by how a document names its machine; and their names.

A host with a machine id is shown by the name of its latest run: `--name NEW` renames it. What an
editor decided stays: a name that was known when an editor renamed or merged the host renames it no
more (`HostName.renames`).
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple, Self

from django.db import IntegrityError, connection

from documents.naming import same_name, slug
from documents.types import HostIdentity
from store.models import Host, HostAlias, HostName, Run
from store.models.run import COUNTED
from store.statements import LATEST_FIRST, fetch_rows

SLUG_ATTEMPTS = 20


Identity = tuple[str, str, bool]
"""Machine id or "", name or "", published: what leads to one host."""


class HostKey(NamedTuple):
    """What a host is recognised by: its machine id or, where there is none, its name.

    Where several machines share the id, the name tells them apart. Published hosts stand apart
    and go by their names.
    """

    machine_id: str | None
    name: str
    published: bool

    @classmethod
    def of(cls, identity: HostIdentity, *, published: bool) -> Self:
        """The key of the host that a document names."""
        return cls(None if published else identity.machine_id or None, identity.name, published)

    @property
    def known_by(self) -> Identity:
        """Equal for what is one host, and for machines that share an id."""
        return (self.machine_id, "", False) if self.machine_id else ("", self.name, self.published)

    @property
    def identities(self) -> tuple[Identity, ...]:
        """What may lead to its host: the first of these that is stored."""
        if not self.machine_id:
            return (self.known_by,)
        return ((self.machine_id, same_name(self.name), False), self.known_by)


HOSTS = """
SELECT machine_id, machine_name, false, id FROM runs_host WHERE machine_id = ANY(%(machine_ids)s)
UNION ALL
SELECT '', name, published, id FROM runs_host WHERE machine_id IS NULL AND name = ANY(%(names)s)
UNION ALL
SELECT machine_id, machine_name, false, host_id FROM runs_hostalias
WHERE machine_id = ANY(%(machine_ids)s)
UNION ALL
SELECT '', name, published, host_id FROM runs_hostalias
WHERE machine_id IS NULL AND name = ANY(%(names)s)
"""
"""Identities of hosts, former ones too, and their numbers."""


def host_parameters(keys: Iterable[HostKey]) -> dict[str, list[str]]:
    """What `HOSTS` asks for."""
    machine_ids = [key.machine_id for key in keys if key.machine_id]
    return {"machine_ids": machine_ids, "names": [key.name for key in keys if not key.machine_id]}


def known_hosts(keys: Iterable[HostKey], rows: Iterable[tuple[Any, ...]]) -> dict[HostKey, int]:
    """Of these keys those that lead to a host, by the rows of `HOSTS`."""
    numbers: dict[Identity, int] = {row[:3]: row[3] for row in rows}
    return {
        key: numbers[identity]
        for key in keys
        for identity in reversed(key.identities)
        if identity in numbers
    }


def host_of(key: HostKey) -> int:
    """Return the number of the host that a document names; one never seen before is stored."""
    known = known_hosts([key], fetch_rows(HOSTS, host_parameters([key])))
    return known.get(key) or _new_host(key)


def name_host_by_run(run: Run) -> None:
    """Have the host of a run that was just stored be shown by its name, if it is the latest."""
    if run.host and run.host.machine_id and run.host.name != run.host_name:
        add_names(run.host, [run.host_name])
        with connection.cursor() as cursor:
            cursor.execute(NAME_HOSTS, [[run.host.pk]])


def _new_host(key: HostKey) -> int:
    new = {"name": key.name, "published": key.published}
    for _ in range(SLUG_ATTEMPTS):
        # Another worker may take the slug between the look and the insert.
        with suppress(IntegrityError):
            defaults = {**new, "slug": free_slug(key.name)}
            host, created = Host.objects.get_or_create(**_stored_key(key), defaults=defaults)
            if created:
                add_names(host, [key.name])
            return host.pk
    raise IntegrityError(f"no free slug for the host {key.name!r}")


def _stored_key(key: HostKey) -> dict[str, Any]:
    """The fields of `Host` that no other has like this."""
    if not key.machine_id:
        return {"machine_id": None, "name": key.name, "published": key.published}
    name = same_name(key.name) if is_shared(key.machine_id) else ""
    return {"machine_id": key.machine_id, "machine_name": name}


def is_shared(machine_id: str) -> bool:
    """Whether an editor has told machines apart that share this id."""
    return any(
        model._default_manager.filter(machine_id=machine_id).exclude(machine_name="").exists()
        for model in (Host, HostAlias)
    )


def add_names(host: Host, names: Iterable[str], **fields: bool) -> None:
    """Have these names find the host; `fields` of `HostName`, set on known ones too."""
    rows = [HostName(host=host, name=name, slug=slug(name), **fields) for name in names]
    HostName.objects.bulk_create(rows, ignore_conflicts=True)
    if fields:
        HostName.objects.filter(host=host, name__in=[row.name for row in rows]).update(**fields)


def free_slug(name: str) -> str:
    """A slug nobody has or had: the name's own, or that with the first free number."""
    wanted = slug(name)
    taken = {
        found
        for model in (Host, HostAlias)
        for found in model.objects.filter(slug__startswith=wanted).values_list("slug", flat=True)
    }
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}-{number}" in taken:
        number += 1
    return f"{wanted}-{number}"


def _name(hosts: str) -> str:
    """The statement that names hosts: `hosts` is a table `one` with the column `id`."""
    return f"""
UPDATE runs_host h SET name = latest.name
FROM {hosts} CROSS JOIN LATERAL (
    SELECT r.host_name AS name FROM runs_run r
    WHERE r.host_id = one.id AND {COUNTED} ORDER BY {LATEST_FIRST} LIMIT 1
) latest
JOIN runs_hostname n ON n.host_id = one.id AND n.name = latest.name AND n.renames
WHERE h.id = one.id AND h.machine_id IS NOT NULL AND h.name <> latest.name
"""  # noqa: S608 - constants


NAME_HOSTS = _name("unnest(%s::bigint[]) one (id)")
"""The latest runs of hosts name them; one parameter, the keys of the hosts."""
