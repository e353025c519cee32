"""Measurements become narrow rows; each machine's latest results get a table of their own.

The documents are what is kept: rows are not carried over but derived from them again.
"""

import django.db.models.deletion
from django.db import migrations, models


def derive_anew(apps, schema_editor):
    """Forget all that was derived: `renew_runs`, which follows every migration, makes it anew."""
    for name in ("BaselineLevel", "RunSpeedIndex"):
        apps.get_model("runs", name).objects.all().delete()
    apps.get_model("runs", "Run").objects.filter(status="ready").update(derived_version=0)



class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0005_profiles'),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, derive_anew),
        migrations.DeleteModel('Measurement'),
        migrations.CreateModel(
            name='DataVersion',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('version', models.UUIDField()),
                ('changed_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Machine',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('source', models.CharField(max_length=10)),
                ('tags', models.JSONField(default=dict)),
                ('tags_digest', models.CharField(help_text='MD5 (hex) of the canonical JSON.', max_length=32)),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='machines', to='runs.environment')),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='machines', to='runs.host')),
            ],
        ),
        migrations.CreateModel(
            name='Negotiated',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('mac', models.CharField(blank=True, max_length=100)),
                ('kex', models.CharField(blank=True, max_length=100)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('mac', 'kex'), name='negotiated_once')],
            },
        ),
        migrations.CreateModel(
            name='Series',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('key', models.CharField(help_text='All fields, as one text.', max_length=1000, unique=True)),
                ('tool', models.CharField(max_length=10)),
                ('cipher', models.CharField(max_length=100)),
                ('operation', models.CharField(max_length=10)),
                ('block_size', models.IntegerField(help_text='Bytes a call; openssl only.', null=True)),
                ('threads', models.IntegerField()),
                ('mac', models.CharField(blank=True, help_text='Asked for; empty: the default.', max_length=100)),
                ('compression', models.BooleanField()),
                ('method', models.CharField(blank=True, help_text='ssh only.', max_length=10)),
                ('pinned', models.BooleanField()),
                ('target_kind', models.CharField(blank=True, help_text='ssh only.', max_length=10)),
                ('target_name', models.CharField(blank=True, max_length=200)),
                ('acceleration', models.CharField(max_length=10)),
            ],
            options={
                'indexes': [models.Index(fields=['tool', 'cipher', 'method', 'block_size'], name='series_lookup')],
            },
        ),
        migrations.CreateModel(
            name='Measurement',
            fields=[
                ('pk', models.CompositePrimaryKey('run_id', 'series_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('position', models.SmallIntegerField(help_text='Its place in the document, from 0.')),
                ('n', models.SmallIntegerField()),
                ('noisy', models.BooleanField()),
                ('implausible', models.BooleanField(help_text='Kept, and left out of every statistic.')),
                ('median', models.FloatField(null=True)),
                ('minimum', models.FloatField(null=True)),
                ('maximum', models.FloatField(null=True)),
                ('spread', models.FloatField(help_text='1.4826 * MAD / median, a fraction.', null=True)),
                ('cpu_seconds_per_gb', models.FloatField(help_text='Both ends, per 10^9 bytes.', null=True)),
                ('cpu_seconds_per_gb_spread', models.FloatField(help_text='A fraction, as `spread`.', null=True)),
                ('cpu_bound_throughput', models.FloatField(null=True)),
                ('cpu_bound_throughput_spread', models.FloatField(help_text='A fraction.', null=True)),
                ('run', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='measurements', to='runs.run')),
                ('negotiated', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.negotiated')),
                ('series', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.series')),
            ],
        ),
        migrations.CreateModel(
            name='Latest',
            fields=[
                ('pk', models.CompositePrimaryKey('machine_id', 'series_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('started_at', models.DateTimeField(null=True)),
                ('median', models.FloatField()),
                ('cpu_seconds_per_gb', models.FloatField(null=True)),
                ('cpu_bound_throughput', models.FloatField(null=True)),
                ('run', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='runs.run')),
                ('machine', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='latest', to='runs.machine')),
                ('negotiated', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.negotiated')),
                ('series', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.series')),
            ],
        ),
        migrations.AddConstraint(
            model_name='machine',
            constraint=models.UniqueConstraint(fields=('host', 'environment', 'source', 'tags_digest'), name='one_machine'),
        ),
        migrations.AddIndex(
            model_name='latest',
            index=models.Index(fields=['series'], name='latest_of_a_series'),
        ),
        migrations.RunPython(derive_anew, migrations.RunPython.noop),
    ]
