"""Every table, and the triggers beside them."""

import uuid

import django.core.serializers.json
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from store.triggers import TRIGGERS


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('scope', models.CharField(choices=[('upload', 'Upload'), ('read', 'Read')], max_length=10)),
                ('host_name', models.CharField(blank=True, help_text='Uploads of any other host are refused.', max_length=200)),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('made_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'API token',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('actor_kind', models.CharField(choices=[('person', 'Person'), ('token', 'Token'), ('command', 'Command'), ('provider', 'Provider'), ('nobody', 'Nobody')], max_length=10)),
                ('actor', models.CharField(help_text='Name of the person, token, command or provider.', max_length=200)),
                ('actor_key', models.BigIntegerField(blank=True, null=True)),
                ('action', models.CharField(help_text='Such as "run.hide".', max_length=40)),
                ('object_kind', models.CharField(max_length=40)),
                ('object_key', models.CharField(max_length=100)),
                ('object_name', models.CharField(max_length=300)),
                ('before', models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True)),
                ('after', models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True)),
            ],
            options={
                'verbose_name': 'audit log entry',
                'verbose_name_plural': 'audit log entries',
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
            name='ExternalIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.CharField(help_text='URL of the provider, or “proxy”.', max_length=200)),
                ('subject', models.CharField(help_text="The provider's own name for the person, never reused.", max_length=255)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='external_identity', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='one_account_per_subject')],
            },
        ),
        migrations.CreateModel(
            name='FleetChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('speed', 'Speed'), ('verdict', 'AES acceleration'), ('silent', 'Silent host')], max_length=10)),
                ('direction', models.CharField(choices=[('slower', 'Slower'), ('faster', 'Faster'), ('lost', 'AES acceleration lost'), ('regained', 'AES acceleration regained'), ('changed', 'AES verdict changed'), ('silent', 'No runs any more')], max_length=10)),
                ('family', models.CharField(blank=True, help_text='Of ciphers, such as aes.', max_length=100)),
                ('difference', models.CharField(blank=True, help_text='The first difference of the environment, which all of its hosts have.', max_length=300)),
                ('first_at', models.DateTimeField(help_text='Start of the first changed run of all hosts.')),
                ('last_at', models.DateTimeField(help_text="Start of the last host's first changed run.")),
                ('status', models.CharField(choices=[('new', 'New'), ('acknowledged', 'Acknowledged'), ('ignored', 'Ignored'), ('fixed', 'Fixed')], default='new', max_length=12)),
                ('note', models.CharField(blank=True, max_length=1000)),
                ('decided_by', models.CharField(blank=True, help_text='Who set status or note.', max_length=200)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('fixed_at', models.DateTimeField(blank=True, help_text='Since then every host is as it was before.', null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'ordering': ['-last_at', '-id'],
                'indexes': [models.Index(fields=['-last_at', '-id'], name='fleet_changes_by_time')],
            },
        ),
        migrations.CreateModel(
            name='Host',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('slug', models.CharField(help_text='Its key in URLs and filters.', max_length=220, unique=True)),
                ('machine_id', models.CharField(blank=True, max_length=64, null=True)),
                ('published', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name', 'id'],
                'constraints': [models.UniqueConstraint(fields=('machine_id', 'name', 'published'), name='one_host', nulls_distinct=False)],
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
            name='NotificationChannel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('address', models.CharField(help_text='Of Apprise; parts of it are secret.', max_length=1000)),
                ('kinds', models.JSONField(blank=True, default=list, help_text='Empty for all.')),
                ('severity', models.SmallIntegerField(choices=[(1, 'Info'), (2, 'Warning'), (3, 'Critical')], default=2, help_text='The lowest that is sent.')),
                ('tags', models.JSONField(blank=True, default=list, help_text='KEY:VALUE of runs; empty for all.')),
                ('daily', models.BooleanField(default=False, help_text='One message a day instead of at once.')),
                ('paused', models.BooleanField(default=False)),
                ('made_by', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('failures', models.SmallIntegerField(default=0, help_text='Failed messages in a row.')),
                ('next_at', models.DateTimeField(blank=True, help_text='No message before.', null=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Whom or what it is for.', max_length=100)),
                ('query', models.CharField(help_text='The view: a query string.', max_length=4000)),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('made_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'shared link',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ImportedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('import_id', models.UUIDField(help_text='Of its content: sent again, the same.', unique=True)),
                ('body', models.BinaryField(help_text='The bytes exactly as received.')),
                ('asked', models.JSONField(help_text='How it was to be read, and what was corrected.')),
                ('format', models.CharField(max_length=20)),
                ('sections', models.JSONField(help_text='Keys of the sections that became runs, in the order of the corrections.')),
                ('parser_version', models.PositiveSmallIntegerField(help_text='Of the rules that read it last.')),
                ('received_at', models.DateTimeField()),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('token', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='runs.apitoken')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Environment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fingerprint', models.CharField(max_length=64, unique=True)),
                ('ssh_environment', models.BigIntegerField(editable=False, help_text='The same of environments that are one for ssh (`documents.environment`).', null=True)),
                ('architecture', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue')),
                ('cpu', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='CPU')),
                ('cpu_vendor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='CPU vendor')),
                ('microarchitecture', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue')),
                ('openssh', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OpenSSH')),
                ('openssl', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OpenSSL')),
                ('openssl_series', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OpenSSL series')),
                ('os', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OS')),
                ('os_version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='OS version')),
                ('ssh_library', models.ForeignKey(help_text='What ssh is linked with, where that is not this OpenSSL.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='SSH library')),
                ('ssh_library_series', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue', verbose_name='SSH library series')),
                ('virtualization', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dimensionvalue')),
            ],
        ),
        migrations.CreateModel(
            name='HostAlias',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('machine_id', models.CharField(blank=True, max_length=64, null=True)),
                ('name', models.CharField(max_length=200)),
                ('published', models.BooleanField(default=False)),
                ('followed', models.BooleanField(default=True, help_text='Uploads with this machine id and name go to the host.')),
                ('slug', models.CharField(blank=True, help_text='Of the merged host.', max_length=220)),
                ('former_key', models.BigIntegerField(blank=True, help_text='Primary key of the merged host: old addresses lead on.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aliases', to='runs.host')),
            ],
            options={
                'verbose_name_plural': 'host aliases',
                'ordering': ['name', 'id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('followed', True)), fields=('machine_id', 'name', 'published'), name='one_followed_alias', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='HostWatch',
            fields=[
                ('host', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='watch', serialize=False, to='runs.host')),
                ('due_at', models.DateTimeField(help_text='Since when; null: looked at.', null=True)),
                ('silent_after', models.DateTimeField(help_text='Without a run by then the host is silent; null: it is, or never is.', null=True)),
            ],
            options={
                'verbose_name_plural': 'host watches',
                'indexes': [models.Index(condition=models.Q(('due_at__isnull', False)), fields=['host'], name='hosts_due'), models.Index(fields=['silent_after'], name='hosts_by_silence')],
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('topic', models.CharField(help_text='A direction of changes, rejected or test.', max_length=10)),
                ('title', models.CharField(max_length=300)),
                ('change_key', models.BigIntegerField(help_text='Of the entry.', null=True)),
                ('run_id', models.UUIDField(help_text='Of the rejected run.', null=True)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('sent', 'Sent'), ('failed', 'Failed'), ('withdrawn', 'Withdrawn')], default='waiting', max_length=10)),
                ('due_at', models.DateTimeField()),
                ('attempts', models.SmallIntegerField(default=0)),
                ('error', models.CharField(blank=True, help_text='Of the last attempt.', max_length=300)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('ended_at', models.DateTimeField(null=True)),
                ('channel', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to='runs.notificationchannel')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['due_at'], name='notices_to_send'), models.Index(fields=['channel', '-id'], name='notices_of_a_channel')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('channel', 'change_key'), name='an_entry_waits_once_for_a_channel'), models.UniqueConstraint(fields=('channel', 'run_id'), name='a_channel_is_sent_a_run_once')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run_id', models.UUIDField(help_text='Chosen by who measured.', unique=True)),
                ('source', models.CharField(choices=[('agent', 'Agent'), ('import', 'Import'), ('published', 'Published')], max_length=10)),
                ('status', models.CharField(choices=[('accepted', 'Accepted'), ('ready', 'Ready'), ('rejected', 'Rejected')], default='accepted', max_length=10)),
                ('rejection', models.TextField(blank=True, help_text='Why it was rejected, in words.')),
                ('attempts', models.SmallIntegerField(default=0, help_text='Times processing was begun.')),
                ('hidden', models.BooleanField(default=False, help_text='It counts nowhere and is in no list.')),
                ('received_at', models.DateTimeField(auto_now_add=True)),
                ('host_name', models.CharField(help_text='As the document has it.', max_length=200)),
                ('parser_version', models.PositiveSmallIntegerField(blank=True, help_text='Of the rules that read the imported text.', null=True)),
                ('provenance', models.JSONField(blank=True, default=dict, help_text='Published figures: page, author, date, notes.')),
                ('derived_version', models.SmallIntegerField(default=1, help_text='Of the program that derived what follows, and the rows of the run.')),
                ('machine_id', models.CharField(blank=True, help_text='As the document has it.', max_length=64, null=True)),
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
                ('acceleration_factor', models.FloatField(blank=True, help_text='Times that AES is faster than without its instructions.', null=True)),
                ('environment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='runs.environment')),
                ('host', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='runs.host')),
                ('imported_text', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='runs.importedtext')),
                ('token', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='runs.apitoken')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['host', '-started_at'], name='runs_of_a_host'), models.Index(condition=models.Q(('status', 'accepted')), fields=['received_at'], name='runs_to_process'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce('started_at', 'received_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='runs_by_time')],
            },
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
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'tool', 'family'), name='one_level_per_family')],
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
                ('try_seconds', models.FloatField(help_text='Of a pipeline, whose rate depends on it: the median of its tries.', null=True)),
                ('negotiated', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.negotiated')),
                ('run', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='measurements', to='runs.run')),
                ('series', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.series')),
            ],
        ),
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(help_text='The time it is about.')),
                ('text', models.CharField(max_length=500)),
                ('made_by', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='runs.host')),
            ],
            options={
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['-at', '-id'], name='notes_by_time')],
            },
        ),
        migrations.CreateModel(
            name='RunDocument',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document', serialize=False, to='runs.run')),
                ('body', models.BinaryField()),
                ('content_digest', models.CharField(help_text='SHA-256 of its canonical JSON: equal content, equal digest.', max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='RunSpeedIndex',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(max_length=10)),
                ('index', models.FloatField()),
                ('uncertainty', models.FloatField(help_text='A factor; null for one family.', null=True)),
                ('families', models.JSONField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='speed_indices', to='runs.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'tool'), name='one_index_per_run')],
            },
        ),
        migrations.AddField(
            model_name='host',
            name='latest_run',
            field=models.ForeignKey(blank=True, help_text='Of those that count; undated runs come before dated ones.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run'),
        ),
        migrations.CreateModel(
            name='FleetChangeMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(help_text='Start of the run; of silence, when it was too long.')),
                ('tool', models.CharField(blank=True, max_length=10)),
                ('family', models.CharField(blank=True, help_text='With mode: aes-gcm.', max_length=100)),
                ('ratio', models.FloatField(blank=True, help_text='After / before, of a speed.', null=True)),
                ('series_count', models.SmallIntegerField(default=0, help_text='Series that were compared.')),
                ('before', models.CharField(blank=True, help_text='The verdict before.', max_length=10)),
                ('after', models.CharField(blank=True, max_length=10)),
                ('confidence', models.SmallIntegerField(choices=[(1, 'low'), (2, 'medium'), (3, 'high')], default=3)),
                ('differences', models.JSONField(default=list, help_text='Of the environment, in words.')),
                ('ended_at', models.DateTimeField(blank=True, help_text='As before since then.', null=True)),
                ('change', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='runs.fleetchange')),
                ('previous', models.ForeignKey(blank=True, help_text='The run before.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                ('run', models.ForeignKey(help_text='First changed; of a silent host the last.', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
                ('series', models.ForeignKey(blank=True, help_text='The middle one.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.series')),
            ],
            options={
                'indexes': [models.Index(fields=['change', 'at'], name='members_of_a_change')],
            },
        ),
        *(migrations.RunSQL(trigger) for trigger in TRIGGERS),
    ]
