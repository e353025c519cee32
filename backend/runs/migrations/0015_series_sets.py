"""Runs say which series they have results of: a look back need not read every run to know.

What version 3 of the program derived is then as if 4 had; what it still derives meanwhile is left
to `renew_runs`.
"""

from django.db import migrations, models

FILL = """
UPDATE runs_run r SET series_set = of_run.series_set,
    derived_version = CASE r.derived_version WHEN 3 THEN 4 ELSE r.derived_version END
FROM (
    SELECT run_id, md5(string_agg(series_id::text, ',' ORDER BY series_id))::uuid AS series_set
    FROM runs_measurement WHERE median IS NOT NULL GROUP BY run_id
) of_run
WHERE of_run.run_id = r.id
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0014_words_of_the_administration")]

    operations = [
        migrations.AddField(
            "run",
            "series_set",
            models.UUIDField(
                null=True,
                editable=False,
                help_text="The same of runs that have results of the same series (`runs.series`).",
            ),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
