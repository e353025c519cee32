"""Tells stored environments what their runs' documents say of ssh's library.

By itself, so that no reader waits for it: only rows of environments are written, one document of
each is read. Before it an environment without these facts counts as it did: ssh by the openssl
that its document states, which is also what a document without a library ends with.
"""

import json
from typing import Any

from django.db import migrations

from documents.environment import ssh_environment, ssh_library
from documents.naming import Label

BATCH = 500

STATED = """
SELECT last.environment_id, (
    SELECT ltrim(convert_from(d.body, 'UTF8'), U&'\\FEFF')::json -> 'environment'
    FROM runs_rundocument d WHERE d.run_id = last.id
)::text
FROM (SELECT environment_id, max(id) AS id FROM runs_run GROUP BY environment_id) last
WHERE last.environment_id > %s ORDER BY last.environment_id LIMIT %s
"""

FILL = """
UPDATE runs_environment SET ssh_environment = %s, ssh_library_id = %s, ssh_library_series_id = %s
WHERE id = %s
"""

CHANGED = "UPDATE runs_dataversion SET version = gen_random_uuid(), changed_at = clock_timestamp()"


def fill(apps: Any, schema_editor: Any) -> None:
    """A batch of environments after the other."""
    values = apps.get_model("runs", "DimensionValue").objects
    with schema_editor.connection.cursor() as cursor:
        last = 0
        while stated := _stated(cursor, last):
            last = stated[-1][0]
            rows = [_row(values, pk, json.loads(text)) for pk, text in stated if text]
            cursor.executemany(FILL, rows)
        cursor.execute(CHANGED)


def _stated(cursor: Any, after: int) -> list[tuple[int, str | None]]:
    """Environments with what the latest document of each states."""
    cursor.execute(STATED, [after, BATCH])
    return list(cursor.fetchall())


def _row(values: Any, pk: int, facts: dict[str, Any]) -> list[int | None]:
    library = ssh_library(facts)
    if library is None:
        return [ssh_environment(facts), None, None, pk]
    release = _value(values, "openssl", library.openssl)
    series = _value(values, "openssl_series", library.openssl_series)
    return [ssh_environment(facts), release, series, pk]


def _value(values: Any, dimension: str, value: Label) -> int:
    found, _ = values.get_or_create(
        dimension=dimension, key=value.key, defaults={"label": value.label}
    )
    return int(found.pk)


class Migration(migrations.Migration):
    dependencies = [("runs", "0020_ssh_library")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
