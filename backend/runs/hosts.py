"""Hosts as rows, found or made by how a document names its machine."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple, Self

from django.conf import settings
from django.db import IntegrityError

from documents.naming import slug
from documents.types import HostIdentity
from runs.models import Host, HostAlias

SLUG_ATTEMPTS = 20


class HostKey(NamedTuple):
    """What a host is recognised by: its machine id or, where there is none, its name.

    Published hosts stand apart and go by their names.
    """

    machine_id: str | None
    name: str
    published: bool

    @classmethod
    def of(cls, identity: HostIdentity, *, published: bool) -> Self:
        """The key of the host that a document names."""
        return cls(None if published else identity.machine_id or None, identity.name, published)

    @property
    def known_by(self) -> tuple[str, str, bool]:
        """Equal for what is one host: a machine id counts whatever the name is."""
        return (self.machine_id, "", False) if self.machine_id else ("", self.name, self.published)


HOSTS = """
SELECT machine_id, '', false, id FROM runs_host WHERE machine_id = ANY(%(machine_ids)s)
UNION ALL
SELECT '', name, published, id FROM runs_host WHERE machine_id IS NULL AND name = ANY(%(names)s)
UNION ALL
SELECT machine_id, '', false, host_id FROM runs_hostalias WHERE machine_id = ANY(%(machine_ids)s)
UNION ALL
SELECT '', name, published, host_id FROM runs_hostalias
WHERE machine_id IS NULL AND name = ANY(%(names)s)
"""
"""The `known_by` of hosts, former ones too, and their numbers."""

HOLD = """
UPDATE runs_run r SET hidden = true, held = true FROM runs_host h
WHERE r.id = ANY(%(runs)s) AND h.id = r.host_id AND NOT h.approved AND NOT r.hidden
"""
"""Keeps runs of hosts that wait for approval out of everything: the one place for that."""


def host_parameters(keys: Iterable[HostKey]) -> dict[str, list[str]]:
    """What `HOSTS` asks for."""
    machine_ids = [key.machine_id for key in keys if key.machine_id]
    return {"machine_ids": machine_ids, "names": [key.name for key in keys if not key.machine_id]}


def host_id(key: HostKey, *, waits: bool) -> int:
    """The number of a host never seen before, which is stored.

    `waits`: where new hosts need an editor's approval (`CIPHERMARK_APPROVE_HOSTS`), this one does.
    What people upload themselves they have approved.
    """
    known = (
        {"machine_id": key.machine_id}
        if key.machine_id
        else {"machine_id": None, "name": key.name, "published": key.published}
    )
    approved = not (waits and settings.CIPHERMARK_APPROVE_HOSTS)
    new = {"name": key.name, "published": key.published, "approved": approved}
    for _ in range(SLUG_ATTEMPTS):
        # Another worker may take the slug between the look and the insert.
        with suppress(IntegrityError):
            defaults = {**new, "slug": _free_slug(key.name)}
            return Host.objects.get_or_create(**known, defaults=defaults)[0].pk
    raise IntegrityError(f"no free slug for the host {key.name!r}")


def _free_slug(name: str) -> str:
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
