"""Latest results say what is doubtful of them: comparisons need not look into measurements."""

from django.db import migrations, models

FILL = """
UPDATE runs_latest l SET doubts = (
    (r.conditions <> '[]'::jsonb)::int + 2 * m.noisy::int
    + 4 * coalesce(m.n >= 3 AND m.cpu_seconds_per_gb_spread > 0.05, false)::int
    + 8 * coalesce(m.n >= 3 AND m.cpu_bound_throughput_spread > 0.05, false)::int
)::smallint
FROM runs_measurement m JOIN runs_run r ON r.id = m.run_id
WHERE (m.run_id, m.series_id) = (l.run_id, l.series_id)
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0012_audit_is_never_emptied")]

    operations = [
        migrations.AddField(
            "latest",
            "doubts",
            models.SmallIntegerField(
                db_default=0, help_text="Bits: what is doubtful of it (`runs.queries.doubt`)."
            ),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
