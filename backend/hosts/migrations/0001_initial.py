import core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('runs', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(help_text='Time of the event.')),
                ('text', models.CharField(max_length=500, validators=[core.validators.check_printable])),
                ('made_by', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='runs.host')),
            ],
            options={
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['-at', '-id'], name='notes_by_time')],
            },
        ),
    ]
