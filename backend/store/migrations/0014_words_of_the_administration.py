"""What the administration calls things; the database is not touched."""

import django.db.models.deletion
from django.db import migrations, models

MODELS = {
    "apitoken": {"ordering": ["-id"], "verbose_name": "API token"},
    "auditentry": {
        "ordering": ["-id"],
        "verbose_name": "audit log entry",
        "verbose_name_plural": "audit log entries",
    },
    "hostalias": {"verbose_name_plural": "host aliases"},
    "share": {"ordering": ["-id"], "verbose_name": "shared link"},
}

FIELDS = {
    "cpu": "CPU",
    "cpu_vendor": "CPU vendor",
    "os": "OS",
    "os_version": "OS version",
    "openssl": "OpenSSL",
    "openssl_series": "OpenSSL series",
    "openssh": "OpenSSH",
}
"""Of environments."""


class Migration(migrations.Migration):
    dependencies = [("runs", "0013_doubts")]

    operations = [
        *(migrations.AlterModelOptions(name, options) for name, options in MODELS.items()),
        *(
            migrations.AlterField(
                "environment",
                name,
                models.ForeignKey(
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to="runs.dimensionvalue",
                    verbose_name=words,
                ),
            )
            for name, words in FIELDS.items()
        ),
    ]
