"""What confirms a change, in words alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0032_moved_documents")]

    operations = [
        migrations.AlterField(
            model_name="fleetchangemember",
            name="confirmed",
            field=models.BooleanField(help_text="It has lasted."),
        ),
    ]
