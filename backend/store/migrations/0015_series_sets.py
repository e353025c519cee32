"""Runs say which series they have results of: a look back need not read every run to know."""

from django.db import migrations, models


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
    ]
