"""Former hosts and names: whoever asks for one that was merged or renamed gets what it became."""

from collections.abc import Iterable

from store.models import HostAlias
from store.statements import fetch_rows

_PRESENT = """
SELECT a.slug, h.slug FROM runs_hostalias a JOIN runs_host h ON h.id = a.host_id
WHERE a.slug = ANY(%s)
UNION ALL
(
    SELECT DISTINCT ON (n.slug) n.slug, h.slug FROM runs_hostname n
    JOIN runs_host h ON h.id = n.host_id
    WHERE n.slug = ANY(%s) AND h.approved
        AND NOT EXISTS (SELECT FROM runs_host o WHERE o.slug = n.slug)
        AND NOT EXISTS (SELECT FROM runs_hostalias o WHERE o.slug = n.slug)
    ORDER BY n.slug, n.id DESC
)
"""


def what_they_became(keys: Iterable[str]) -> dict[str, str]:
    """Of these keys those that are no host's -> the key of the host that they lead to.

    Keys of merged hosts, and names that a host had under another key, made into a key.
    """
    asked = [key for key in keys if key]
    return dict(fetch_rows(_PRESENT, [asked, asked]))


def present_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """These keys of hosts, a former one replaced by that of the host it leads to; none twice."""
    asked = tuple(keys)
    became = what_they_became(asked)
    return tuple(dict.fromkeys(became.get(key, key) for key in asked))


def present_id(host_id: int) -> int | None:
    """The id of the host that one of this id was merged into; None for an id that never was one."""
    return HostAlias.objects.filter(former_key=host_id).values_list("host_id", flat=True).first()
