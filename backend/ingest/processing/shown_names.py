"""A host with a machine id is shown by the name of its latest run: `--name NEW` renames it.

What an editor decided stays: a name that was known when an editor renamed or merged the host
renames it no more (`HostName.renames`).
"""

from store.models.run import COUNTED
from store.statements import LATEST_FIRST


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
