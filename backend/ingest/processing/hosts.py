"""Hosts as rows, found or made by how a document names its machine; and their names.

A host with a machine id is shown by the name of its latest run: `--name NEW` renames it. What an
editor decided stays: a name that was known when an editor renamed or merged the host renames it no
more (`HostName.renames`).
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple, Self

from django.db import IntegrityError

from documents.naming import same_name, slug
from documents.types import HostIdentity
from store.models import Host, HostAlias, HostName
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


def listed_name(identity: HostIdentity) -> str:
    """The name by which the host of a run with this identity is listed once that is processed.

    The run's own, unless an editor replaced that one (`HostName.renames`), or the name leads to
    a host that is known by another one.
    """
    key = HostKey.of(identity, published=False)
    known = known_hosts([key], fetch_rows(HOSTS, host_parameters([key])))
    host = Host.objects.filter(pk__in=known.values()).first()
    if host is None:
        return identity.name
    replaced = HostName.objects.filter(host=host, name=identity.name, renames=False).exists()
    return host.name if replaced or not key.machine_id else identity.name


def host_id(key: HostKey) -> int:
    """Store a host never seen before, and return its number."""
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


_OF_RUNS = """
FROM runs_run r JOIN runs_host h ON h.id = r.host_id
WHERE r.id = ANY(%(runs)s) AND h.machine_id IS NOT NULL AND r.host_name <> h.name
"""

NAME_BY_RUNS = f"""
INSERT INTO runs_hostname (host_id, name, slug)
SELECT DISTINCT one.host_id, n.name, n.slug
FROM jsonb_to_recordset(%(names)s::jsonb) AS n (name text, slug text)
JOIN (SELECT r.host_id, r.host_name {_OF_RUNS}) one ON one.host_name = n.name
ON CONFLICT (host_id, name) DO NOTHING;

{_name(f"(SELECT DISTINCT r.host_id AS id {_OF_RUNS} ORDER BY 1) one")}
"""  # noqa: S608 - constants
"""Runs (`runs`: their keys; `names`: their names with slugs, JSON) name their hosts."""

NAME_HOSTS = _name("unnest(%s::bigint[]) one (id)")
"""The same of hosts whose runs were changed; one parameter, their keys."""
