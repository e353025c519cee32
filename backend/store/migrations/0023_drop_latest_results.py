"""Comparisons read the analytics copy: latest results, rollups and sets of series go.

All of it was derived. A worker of the version before that still runs fails on an upload until it is
restarted; the upload is kept and processed then. After a way back, `runs.derived.refresh_hosts` of
that version fills the tables again.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0022_changes")]

    operations = [
        migrations.DeleteModel("Latest"),
        migrations.DeleteModel("Machine"),
        migrations.DeleteModel("RollupSlot"),
        migrations.DeleteModel("Rollup"),
        migrations.RemoveField("run", "series_set"),
    ]
