"""Environments say what ssh itself is linked with, and which of them are one for ssh."""

import django.db.models.deletion
from django.db import migrations, models


def _value(**said: str) -> models.ForeignKey:
    return models.ForeignKey(
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="runs.dimensionvalue",
        **said,
    )


class Migration(migrations.Migration):
    dependencies = [("runs", "0019_fill_host_names")]

    operations = [
        migrations.AddField(
            "environment",
            "ssh_library",
            _value(
                verbose_name="SSH library",
                help_text="What ssh is linked with, where that is not this OpenSSL.",
            ),
        ),
        migrations.AddField(
            "environment", "ssh_library_series", _value(verbose_name="SSH library series")
        ),
        migrations.AddField(
            "environment",
            "ssh_environment",
            models.BigIntegerField(
                null=True,
                editable=False,
                help_text="The same of environments that are one for ssh (`documents.environment`).",
            ),
        ),
    ]
