"""Hosts that speak against the cause of a change: it came to them too, and their speed stayed."""

from collections.abc import Iterable

from store.models import FleetChange
from store.models.run import COUNTED
from store.statements import fetch_rows

HOSTS_BEYOND_DOUBT = 5
"""Hosts that changed alike with one cause: of more nobody asks who did not."""

RUNS_OF_OTHERS = 500
"""Runs in an environment, the latest, in which other hosts are looked for."""

_UNAFFECTED = f"""
SELECT c.id, count(DISTINCT r.host_id)
FROM unnest(%s::bigint[]) c (id)
CROSS JOIN LATERAL (
    SELECT DISTINCT g.environment_id AS before, f.environment_id AS after
    FROM runs_fleetchangemember m
    JOIN runs_run g ON g.id = m.good_run_id JOIN runs_run f ON f.id = m.first_run_id
    WHERE m.change_id = c.id AND g.environment_id <> f.environment_id
) pair
CROSS JOIN LATERAL (
    SELECT r.host_id FROM runs_run r WHERE r.environment_id = pair.after AND {COUNTED}
    ORDER BY r.id DESC LIMIT {RUNS_OF_OTHERS}
) r
WHERE EXISTS (
    SELECT FROM runs_run o WHERE o.host_id = r.host_id AND o.environment_id = pair.before
) AND NOT EXISTS (
    SELECT FROM runs_fleetchangemember m JOIN runs_fleetchange k ON k.id = m.change_id
    JOIN runs_fleetchange entry ON entry.id = c.id
    WHERE m.host_id = r.host_id AND (k.kind, k.direction, k.cause)
        = (entry.kind, entry.direction, entry.cause)
) GROUP BY 1
"""  # noqa: S608 - constants
"""Other hosts that were in the same environments before and after, and did not change alike."""


def unaffected_hosts(entries: Iterable[FleetChange]) -> dict[int, int]:
    """Of changes of speed with a cause and few hosts: key -> how many others speak against it."""
    few = [one for one in entries if one.hosts <= HOSTS_BEYOND_DOUBT]
    doubtful = [one.pk for one in few if one.cause and one.kind == FleetChange.Kind.SPEED]
    return dict(fetch_rows(_UNAFFECTED, [doubtful])) if doubtful else {}
