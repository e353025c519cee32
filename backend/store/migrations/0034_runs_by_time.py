"""The index by which the list of runs goes: when they were measured."""

from django.db import migrations, models
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    dependencies = [("runs", "0033_lasting_changes")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                Coalesce("started_at", "received_at").desc(),
                models.F("id").desc(),
                name="runs_by_time",
            ),
        ),
    ]
