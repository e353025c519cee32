"""Fills in the names of hosts, and the machine ids of runs, from what is stored.

Hosts that an editor renamed or merged keep the name that they have.
"""

import json

from django.db import migrations

from documents.naming import slug

CHUNK = 500
"""Documents in memory at once; one may have 2 MiB."""

NAMES = """
SELECT id, name FROM runs_host
UNION SELECT host_id, name FROM runs_hostalias
UNION SELECT host_id, host_name FROM runs_run WHERE host_id IS NOT NULL
"""

ADD = """
INSERT INTO runs_hostname (host_id, name, slug)
SELECT * FROM unnest(%s::bigint[], %s::varchar[], %s::varchar[])
ON CONFLICT (host_id, name) DO NOTHING
"""

DECIDED = """
UPDATE runs_hostname n SET renames = false, same_machine = same_machine OR action = 'host.merge'
FROM runs_auditentry WHERE action IN ('host.rename', 'host.merge')
    AND object_kind = 'host' AND object_key = n.host_id::text
"""

DOCUMENTS = """
SELECT r.id, d.body FROM runs_run r JOIN runs_rundocument d ON d.run_id = r.id
WHERE r.id > %s AND r.status = 'ready' AND r.source <> 'published' ORDER BY r.id LIMIT %s
"""

SET = """
UPDATE runs_run r SET machine_id = n.machine_id
FROM unnest(%s::bigint[], %s::varchar[]) n (id, machine_id) WHERE r.id = n.id
"""


def fill_names(apps, schema_editor):
    """Every name of every host."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(NAMES)
        rows = [(host, name, slug(name)) for host, name in cursor.fetchall()]
        if rows:
            cursor.execute(ADD, [list(column) for column in zip(*rows, strict=True)])
        cursor.execute(DECIDED)


def fill_machine_ids(apps, schema_editor):
    """The machine id in each run's document."""
    after = 0
    with schema_editor.connection.cursor() as cursor:
        while True:
            cursor.execute(DOCUMENTS, [after, CHUNK])
            rows = cursor.fetchall()
            if not rows:
                return
            found = [(pk, json.loads(bytes(body))["host"].get("machine_id")) for pk, body in rows]
            cursor.execute(SET, [list(column) for column in zip(*found, strict=True)])
            after = rows[-1][0]


class Migration(migrations.Migration):
    dependencies = [("runs", "0018_shared_machine_ids")]

    operations = [
        migrations.RunPython(fill_names, migrations.RunPython.noop),
        migrations.RunPython(fill_machine_ids, migrations.RunPython.noop),
    ]
