"""Hosts that were merged into others: whoever still asks for them gets what they became."""

from collections.abc import Iterable

from runs.models import HostAlias
from runs.queries.statements import fetch_prepared


def what_they_became(keys: Iterable[str]) -> dict[str, str]:
    """Of these keys of hosts those of merged ones -> the key of the host that each is part of."""
    return dict(
        fetch_prepared(
            "SELECT a.slug, h.slug FROM runs_hostalias a JOIN runs_host h ON h.id = a.host_id"
            " WHERE a.slug = ANY(%s)",
            [[key for key in keys if key]],
        )
    )


def present_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """These keys of hosts, a merged one replaced by that of the host it is part of; none twice."""
    asked = tuple(keys)
    became = what_they_became(asked)
    return tuple(dict.fromkeys(became.get(key, key) for key in asked))


def present_id(host_id: int) -> int | None:
    """The id of the host that one of this id was merged into; None for an id that never was one."""
    return HostAlias.objects.filter(former_key=host_id).values_list("host_id", flat=True).first()
