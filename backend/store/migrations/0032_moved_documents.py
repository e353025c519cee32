"""Documents may lie in object storage: then a run's has no body here, but what finds it there."""

import django.db.models.deletion
from django.core.management.base import CommandError
from django.db import migrations, models
from django.db.models.functions import Now


def refuse_while_moved(apps, schema_editor):
    """The version before finds documents in the database alone."""
    if apps.get_model("runs", "RunDocument").objects.filter(body=None).exists():
        raise CommandError(
            "Documents of this site lie in object storage, where older versions do not look:"
            " unset CIPHERMARK_DOCUMENTS_DAYS and call manage.py move_documents --back first."
        )


class Migration(migrations.Migration):
    dependencies = [("runs", "0031_external_identities")]

    operations = [
        migrations.CreateModel(
            name="MovedDocument",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(help_text="Of its bytes as received.", max_length=64)),
                ("size", models.PositiveIntegerField(help_text="Of these bytes.")),
                ("unused_since", models.DateTimeField(db_default=Now(), help_text="No run has it; a day later its object is deleted.", null=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("sha256",), name="one_object_per_digest")],
            },
        ),
        migrations.AlterField(
            model_name="rundocument",
            name="body",
            field=models.BinaryField(help_text="None where it is in object storage.", null=True),
        ),
        migrations.AddField(
            model_name="rundocument",
            name="moved",
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.moveddocument"),
        ),
        migrations.AddField(
            model_name="rundocument",
            name="environment",
            field=models.TextField(help_text="Of a moved one: its own words, so that most questions need no more.", null=True),
        ),
        migrations.AddConstraint(
            model_name="rundocument",
            constraint=models.CheckConstraint(
                name="a_document_is_here_or_moved",
                condition=models.Q(body__isnull=False, moved__isnull=True, environment__isnull=True)
                | models.Q(body__isnull=True, moved__isnull=False, environment__isnull=False),
            ),
        ),
        migrations.AddIndex(
            model_name="rundocument",
            index=models.Index(condition=models.Q(moved__isnull=False), fields=["moved"], name="documents_moved"),
        ),
        migrations.AddIndex(
            model_name="rundocument",
            index=models.Index(condition=models.Q(body__isnull=False), fields=["run"], name="documents_here"),
        ),
        migrations.RunPython(migrations.RunPython.noop, refuse_while_moved),
    ]
