import django.db.models.deletion
import django.db.models.functions.comparison
from django.conf import settings
from django.db import migrations, models

from runs.triggers import CHANGES


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Host',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('slug', models.CharField(help_text='Key for URLs and filters.', max_length=220, unique=True)),
                ('machine_id', models.CharField(blank=True, max_length=64, null=True)),
                ('published', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run_id', models.UUIDField(help_text='UUID set by the agent.', unique=True)),
                ('source', models.CharField(choices=[('agent', 'Agent'), ('import', 'Import'), ('published', 'Published')], max_length=10)),
                ('status', models.CharField(choices=[('accepted', 'Accepted'), ('ready', 'Ready'), ('rejected', 'Rejected')], default='accepted', max_length=10)),
                ('rejection', models.TextField(blank=True, help_text='Reason for the rejection.')),
                ('attempts', models.SmallIntegerField(default=0, help_text='Number of processing attempts.')),
                ('hidden', models.BooleanField(default=False, help_text='Excluded from all lists and statistics.')),
                ('received_at', models.DateTimeField(auto_now_add=True)),
                ('host_name', models.CharField(help_text='As in the document.', max_length=200)),
                ('parser_version', models.PositiveSmallIntegerField(blank=True, help_text='Version of the parser that read the imported text.', null=True)),
                ('provenance', models.JSONField(blank=True, default=dict, help_text='Published results: page, author, date, notes.')),
                ('derived_version', models.SmallIntegerField(default=1, help_text='Version of the code that derived the fields below and the rows.')),
                ('machine_id', models.CharField(blank=True, help_text='As in the document.', max_length=64, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('agent_name', models.CharField(blank=True, max_length=100)),
                ('agent_version', models.CharField(blank=True, max_length=100)),
                ('tags', models.JSONField(blank=True, default=dict)),
                ('conditions', models.JSONField(blank=True, default=list)),
                ('skipped', models.JSONField(blank=True, default=list)),
                ('acceleration', models.CharField(default='unknown', max_length=10)),
                ('acceleration_evidence', models.TextField(blank=True)),
                ('acceleration_advice', models.TextField(blank=True)),
                ('acceleration_factor', models.FloatField(blank=True, help_text='AES speed divided by AES speed without AES hardware.', null=True)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='DimensionValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dimension', models.CharField(max_length=20)),
                ('key', models.CharField(max_length=200)),
                ('label', models.CharField(max_length=200)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('dimension', 'key'), name='one_value_per_key')],
            },
        ),
        migrations.CreateModel(
            name='Environment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fingerprint', models.CharField(max_length=64, unique=True)),
                ('ssh_environment', models.BigIntegerField(editable=False, help_text='Equal for environments that are equivalent for ssh.', null=True)),
                ('architecture', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue')),
                ('cpu', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='CPU')),
                ('cpu_vendor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='CPU vendor')),
                ('microarchitecture', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue')),
                ('openssh', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OpenSSH')),
                ('openssl', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OpenSSL')),
                ('openssl_series', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OpenSSL series')),
                ('os', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OS')),
                ('os_version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OS version')),
                ('ssh_library', models.ForeignKey(help_text='Library of ssh, if it is not this OpenSSL.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='SSH library')),
                ('ssh_library_series', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='SSH library series')),
                ('virtualization', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue')),
            ],
        ),
        migrations.CreateModel(
            name='ImportedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('import_id', models.UUIDField(help_text='Derived from the content.', unique=True)),
                ('body', models.BinaryField(help_text='Bytes exactly as received.')),
                ('asked', models.JSONField(help_text='Parse options and corrections.')),
                ('format', models.CharField(max_length=20)),
                ('sections', models.JSONField(help_text='Keys of the imported sections, in the order of the corrections.')),
                ('parser_version', models.PositiveSmallIntegerField(help_text='Version of the last parser.')),
                ('received_at', models.DateTimeField()),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('token', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.apitoken')),
            ],
            options={
                'ordering': ['-id'],
            },
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
            name='RunDocument',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document', serialize=False, to='runs.run')),
                ('body', models.BinaryField()),
                ('content_digest', models.CharField(help_text='SHA-256 of its canonical JSON.', max_length=64)),
            ],
        ),
        migrations.AddField(
            model_name='run',
            name='environment',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='runs.environment'),
        ),
        migrations.AddField(
            model_name='run',
            name='host',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='runs.host'),
        ),
        migrations.AddField(
            model_name='run',
            name='imported_text',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='runs.importedtext'),
        ),
        migrations.AddField(
            model_name='run',
            name='token',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.apitoken'),
        ),
        migrations.AddField(
            model_name='host',
            name='latest_run',
            field=models.ForeignKey(blank=True, help_text='Latest visible run; undated runs come before dated ones.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run'),
        ),
        migrations.CreateModel(
            name='BaselineLevel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(max_length=10)),
                ('family', models.CharField(max_length=10)),
                ('level', models.FloatField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='baseline_levels', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='RunSpeedIndex',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(max_length=10)),
                ('index', models.FloatField()),
                ('uncertainty', models.FloatField(help_text='Factor; null for a single family.', null=True)),
                ('families', models.JSONField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='speed_indices', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='Series',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('key', models.CharField(help_text='All fields as text.', max_length=1000, unique=True)),
                ('tool', models.CharField(max_length=10)),
                ('cipher', models.CharField(max_length=100)),
                ('operation', models.CharField(max_length=10)),
                ('block_size', models.IntegerField(help_text='Bytes per call; openssl only.', null=True)),
                ('threads', models.IntegerField()),
                ('mac', models.CharField(blank=True, help_text='Requested MAC; empty: default.', max_length=100)),
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
                ('position', models.SmallIntegerField(help_text='Position in the document, from 0.')),
                ('n', models.SmallIntegerField()),
                ('noisy', models.BooleanField()),
                ('implausible', models.BooleanField(help_text='True if excluded from all statistics.')),
                ('median', models.FloatField(null=True)),
                ('minimum', models.FloatField(null=True)),
                ('maximum', models.FloatField(null=True)),
                ('spread', models.FloatField(help_text='1.4826 * MAD / median, a fraction.', null=True)),
                ('cpu_seconds_per_gb', models.FloatField(help_text='Of both ends, per 10^9 bytes.', null=True)),
                ('cpu_seconds_per_gb_spread', models.FloatField(help_text='A fraction, like `spread`.', null=True)),
                ('try_seconds', models.FloatField(help_text="Median duration of a pipeline's tries, which affects its rate.", null=True)),
                ('negotiated', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.negotiated')),
                ('run', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='measurements', to='runs.run')),
                ('series', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.series')),
            ],
        ),
        migrations.CreateModel(
            name='HostWatch',
            fields=[
                ('host', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='watch', serialize=False, to='runs.host')),
                ('due_at', models.DateTimeField(help_text='Check due since; null: checked.', null=True)),
                ('silent_after', models.DateTimeField(help_text='Silent after this time; null: already silent, or never.', null=True)),
            ],
            options={
                'verbose_name_plural': 'host watches',
                'indexes': [models.Index(condition=models.Q(('due_at__isnull', False)), fields=['host'], name='hosts_due'), models.Index(fields=['silent_after'], name='hosts_by_silence')],
            },
        ),
        migrations.CreateModel(
            name='HostAlias',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('machine_id', models.CharField(blank=True, max_length=64, null=True)),
                ('name', models.CharField(max_length=200)),
                ('published', models.BooleanField(default=False)),
                ('followed', models.BooleanField(default=True, help_text='Uploads with this machine id and name go to the host.')),
                ('slug', models.CharField(blank=True, help_text='Key of the merged host.', max_length=220)),
                ('former_key', models.BigIntegerField(blank=True, help_text='Primary key of the merged host, for old URLs.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aliases', to='runs.host')),
            ],
            options={
                'verbose_name_plural': 'host aliases',
                'ordering': ['name', 'id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('followed', True)), fields=('machine_id', 'name', 'published'), name='one_followed_alias', nulls_distinct=False)],
            },
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['host', '-started_at'], name='runs_of_a_host'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('status', 'accepted')), fields=['received_at'], name='runs_to_process'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce('started_at', 'received_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='runs_by_time'),
        ),
        migrations.AddConstraint(
            model_name='host',
            constraint=models.UniqueConstraint(fields=('machine_id', 'name', 'published'), name='one_host', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='baselinelevel',
            constraint=models.UniqueConstraint(fields=('run', 'tool', 'family'), name='one_level_per_family'),
        ),
        migrations.AddConstraint(
            model_name='runspeedindex',
            constraint=models.UniqueConstraint(fields=('run', 'tool'), name='one_index_per_run'),
        ),
        migrations.RunSQL(CHANGES),
    ]
