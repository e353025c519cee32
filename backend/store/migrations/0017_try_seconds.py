"""Pipelines say how long their tries took: their rates depend on it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0016_fill_series_sets")]

    operations = [
        migrations.AddField(
            "measurement",
            "try_seconds",
            models.FloatField(
                null=True,
                help_text="Of a pipeline, whose rate depends on it: the median of its tries.",
            ),
        ),
    ]
