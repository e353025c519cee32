"""The reference profile that a new installation starts with."""

from django.db import migrations

from analysis.profiles.reference_profiles import initial_profile


def add_profile(apps, schema_editor):
    """Add *2015* and make it active."""
    profile = initial_profile()
    apps.get_model("runs", "ReferenceProfile").objects.create(
        name=profile.name,
        levels=profile.levels,
        made_from=profile.made_from,
        active=True,
    )


def remove_profile(apps, schema_editor):
    """Take it out again."""
    apps.get_model("runs", "ReferenceProfile").objects.filter(name=initial_profile().name).delete()


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]
    operations = [migrations.RunPython(add_profile, remove_profile)]
