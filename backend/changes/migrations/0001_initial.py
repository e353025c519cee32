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
            name='NotificationChannel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('address', models.CharField(help_text='Apprise URL, which contains secrets.', max_length=1000)),
                ('kinds', models.JSONField(blank=True, default=list, help_text='Empty: all.')),
                ('severity', models.SmallIntegerField(choices=[(1, 'Info'), (2, 'Warning'), (3, 'Critical')], default=2, help_text='Minimum severity.')),
                ('tags', models.JSONField(blank=True, default=list, help_text='KEY:VALUE of runs. Empty: all.')),
                ('daily', models.BooleanField(default=False, help_text='Send one message a day.')),
                ('paused', models.BooleanField(default=False)),
                ('made_by', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('failures', models.SmallIntegerField(default=0, help_text='Consecutive failed messages.')),
                ('next_at', models.DateTimeField(blank=True, help_text='Earliest next attempt.', null=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='FleetChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('speed', 'Speed'), ('verdict', 'AES acceleration'), ('silent', 'Silent host')], max_length=10)),
                ('direction', models.CharField(choices=[('slower', 'Slower'), ('faster', 'Faster'), ('lost', 'AES acceleration lost'), ('regained', 'AES acceleration regained'), ('changed', 'AES verdict changed'), ('silent', 'Host silent')], max_length=10)),
                ('family', models.CharField(blank=True, help_text='Cipher family, such as aes.', max_length=100)),
                ('difference', models.CharField(blank=True, help_text='First environment difference, shared by all hosts.', max_length=300)),
                ('first_at', models.DateTimeField(help_text='Start of the first changed run on any host.')),
                ('last_at', models.DateTimeField(help_text='Start of the first changed run on the last host.')),
                ('status', models.CharField(choices=[('new', 'New'), ('acknowledged', 'Acknowledged'), ('ignored', 'Ignored'), ('fixed', 'Fixed')], default='new', max_length=12)),
                ('note', models.CharField(blank=True, max_length=1000, validators=[core.validators.check_printable])),
                ('decided_by', models.CharField(blank=True, help_text='Last editor of status or note.', max_length=200)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('fixed_at', models.DateTimeField(blank=True, help_text='Time when all hosts had returned to normal.', null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'ordering': ['-last_at', '-id'],
                'indexes': [models.Index(fields=['-last_at', '-id'], name='fleet_changes_by_time')],
            },
        ),
        migrations.CreateModel(
            name='FleetChangeMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(help_text='Start of the run, or time when a silent host was overdue.')),
                ('tool', models.CharField(blank=True, max_length=10)),
                ('family', models.CharField(blank=True, help_text='Family with mode (aes-gcm).', max_length=100)),
                ('ratio', models.FloatField(blank=True, help_text='Speed ratio (after / before).', null=True)),
                ('series_count', models.SmallIntegerField(default=0, help_text='Number of compared series.')),
                ('before', models.CharField(blank=True, help_text='Previous verdict.', max_length=10)),
                ('after', models.CharField(blank=True, max_length=10)),
                ('confidence', models.SmallIntegerField(choices=[(1, 'low'), (2, 'medium'), (3, 'high')], default=3)),
                ('differences', models.JSONField(default=list, help_text='Environment differences as text.')),
                ('ended_at', models.DateTimeField(blank=True, help_text='Time of return to normal.', null=True)),
                ('change', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='changes.fleetchange')),
                ('previous', models.ForeignKey(blank=True, help_text='Previous run.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                ('run', models.ForeignKey(help_text='First changed run, or last run of a silent host.', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
                ('series', models.ForeignKey(blank=True, help_text='With the median ratio.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.series')),
            ],
            options={
                'indexes': [models.Index(fields=['change', 'at'], name='members_of_a_change')],
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('topic', models.CharField(help_text='Direction of a change, rejected, or test.', max_length=10)),
                ('title', models.CharField(max_length=300)),
                ('change_key', models.BigIntegerField(help_text='Key of the change.', null=True)),
                ('run_id', models.UUIDField(help_text='ID of the rejected run.', null=True)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('sent', 'Sent'), ('failed', 'Failed'), ('withdrawn', 'Withdrawn')], default='waiting', max_length=10)),
                ('due_at', models.DateTimeField()),
                ('attempts', models.SmallIntegerField(default=0)),
                ('error', models.CharField(blank=True, help_text='Error of the last attempt.', max_length=300)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('ended_at', models.DateTimeField(null=True)),
                ('channel', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to='changes.notificationchannel')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['due_at'], name='notices_to_send'), models.Index(fields=['channel', '-id'], name='notices_of_a_channel')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('channel', 'change_key'), name='an_entry_waits_once_for_a_channel'), models.UniqueConstraint(fields=('channel', 'run_id'), name='a_channel_is_sent_a_run_once')],
            },
        ),
    ]
