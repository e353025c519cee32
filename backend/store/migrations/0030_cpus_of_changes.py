"""Which CPUs a change concerns; entries that are there already are counted again by the sweep."""

from django.db import migrations, models


def count_again(apps, schema_editor):  # type: ignore[no-untyped-def]
    """All entries become stale."""
    apps.get_model("runs", "FleetChange").objects.update(stale=True)


class Migration(migrations.Migration):
    dependencies = [("runs", "0029_entries_told_again")]

    operations = [
        migrations.AddField(
            model_name="fleetchange",
            name="cpus",
            field=models.JSONField(
                db_default=models.Value([], models.JSONField()),
                default=list,
                help_text="The most frequent CPUs: name, hosts, ratio.",
            ),
        ),
        migrations.RunPython(count_again, migrations.RunPython.noop),
    ]
