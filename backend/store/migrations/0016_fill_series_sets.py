"""Tells stored runs their sets of series; by itself, so that readers need not wait for it.

What version 3 of the program derived is then as if 4 had. What an old worker derives meanwhile is
left to `renew_runs`.
"""

from django.db import migrations

FILL = """
UPDATE runs_run r SET series_set = of_run.series_set,
    derived_version = CASE r.derived_version WHEN 3 THEN 4 ELSE r.derived_version END
FROM (
    SELECT ready.id,
        md5(coalesce(string_agg(series_id::text, ',' ORDER BY series_id), ''))::uuid AS series_set
    FROM runs_run ready
    LEFT JOIN runs_measurement m ON m.run_id = ready.id AND m.median IS NOT NULL
    WHERE ready.status = 'ready' GROUP BY ready.id
) of_run
WHERE of_run.id = r.id
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0015_series_sets")]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
