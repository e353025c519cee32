"""Fills in the names of hosts from what is stored; `renew_runs` brings the machine ids of runs.

Hosts that an editor renamed or merged keep the name that they have.
"""

from django.db import migrations

from documents.naming import slug

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
UPDATE runs_hostname n SET renames = false, same_machine = n.same_machine OR decided.merged
FROM (
    SELECT object_key, bool_or(action = 'host.merge') AS merged FROM runs_auditentry
    WHERE action IN ('host.rename', 'host.merge') AND object_kind = 'host' GROUP BY object_key
) decided
WHERE decided.object_key = n.host_id::text
"""

def fill_names(apps, schema_editor):
    """Every name of every host."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(NAMES)
        rows = [(host, name, slug(name)) for host, name in cursor.fetchall()]
        if rows:
            cursor.execute(ADD, [list(column) for column in zip(*rows, strict=True)])
        cursor.execute(DECIDED)


class Migration(migrations.Migration):
    dependencies = [("runs", "0018_shared_machine_ids")]

    operations = [migrations.RunPython(fill_names, migrations.RunPython.noop)]
