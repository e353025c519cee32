"""What changed in the fleet, and notes.

The changes of the stored history are found in the background afterwards: every host is due.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

WATCH_HOSTS = """
INSERT INTO runs_hostwatch (host_id, due)
SELECT id, 1 FROM runs_host h
WHERE NOT published AND EXISTS (SELECT FROM runs_run r WHERE r.host_id = h.id)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0023_drop_latest_results'),
    ]

    operations = [
        migrations.CreateModel(
            name='FleetChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('speed', 'Speed'), ('verdict', 'Verdict'), ('silent', 'Silent')], max_length=10)),
                ('direction', models.CharField(choices=[('slower', 'Slower'), ('faster', 'Faster'), ('lost', 'Lost'), ('regained', 'Regained'), ('changed', 'Changed'), ('silent', 'Silent')], max_length=10)),
                ('cause', models.CharField(blank=True, help_text='The likeliest difference of the environment.', max_length=300)),
                ('first_at', models.DateTimeField(help_text='Start of the first changed run of all hosts.')),
                ('last_at', models.DateTimeField(help_text="Start of the last host's first changed run.")),
                ('status', models.CharField(choices=[('new', 'New'), ('acknowledged', 'Acknowledged'), ('ignored', 'Ignored')], default='new', max_length=12)),
                ('note', models.CharField(blank=True, max_length=1000)),
                ('decided_by', models.CharField(blank=True, help_text='Who set status or note.', max_length=200)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('fixed_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'ordering': ['-last_at', '-id'],
                'indexes': [models.Index(fields=['-last_at', '-id'], name='fleet_changes_by_time')],
            },
        ),
        migrations.CreateModel(
            name='HostWatch',
            fields=[
                ('host', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='watch', serialize=False, to='runs.host')),
                ('state', models.TextField(blank=True, db_default='', default='', help_text='JSON.')),
                ('last_at', models.DateTimeField(help_text='Start of the latest run taken in.', null=True)),
                ('due', models.IntegerField(db_default=0, default=0)),
                ('silent_after', models.DateTimeField(help_text='Without a run by then the host is silent; null: it is, or never is.', null=True)),
            ],
            options={
                'verbose_name_plural': 'host watches',
                'indexes': [models.Index(condition=models.Q(('due__gt', 0)), fields=['host'], name='hosts_due'), models.Index(fields=['silent_after'], name='hosts_by_silence')],
            },
        ),
        migrations.CreateModel(
            name='FleetChangeMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(blank=True, max_length=10)),
                ('family', models.CharField(blank=True, max_length=100)),
                ('before', models.CharField(blank=True, help_text='The verdict before.', max_length=10)),
                ('after', models.CharField(blank=True, max_length=10)),
                ('ratio', models.FloatField(blank=True, help_text='After / before, of a speed.', null=True)),
                ('series', models.SmallIntegerField(default=0, help_text='Series of the family compared.')),
                ('agreeing', models.SmallIntegerField(default=0, help_text='Those that show at least half of it.')),
                ('confirmed', models.BooleanField(help_text='A second run says so.')),
                ('at', models.DateTimeField(help_text='Start of the first changed run; of silence, its begin.')),
                ('good_at', models.DateTimeField(blank=True, help_text='Start of the last good run.', null=True)),
                ('differences', models.JSONField(default=list, help_text='Of the environment, in words.')),
                ('ended_at', models.DateTimeField(blank=True, help_text='It was as before by then.', null=True)),
                ('change', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='runs.fleetchange')),
                ('ended_run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                ('first_run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                ('good_run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run')),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='fleet_changes', to='runs.host')),
            ],
            options={
                'indexes': [models.Index(fields=['change', 'at'], name='members_of_a_change'), models.Index(condition=models.Q(('ended_at', None)), fields=['change'], name='open_members_of_a_change')],
            },
        ),
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(help_text='The time it is about; of a run, its start.')),
                ('text', models.CharField(max_length=500)),
                ('group_by', models.CharField(blank=True, help_text='Such as "cpu".', max_length=60)),
                ('group', models.CharField(blank=True, help_text='The key of the group.', max_length=260)),
                ('made_by', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('host', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='runs.host')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='runs.run')),
            ],
            options={
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['-at', '-id'], name='notes_by_time'), models.Index(fields=['group_by', 'group'], name='notes_of_a_group')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('group_by', ''), ('host__isnull', False), ('run', None)), models.Q(('group_by', ''), ('host', None), ('run__isnull', False)), models.Q(('host', None), ('run', None), models.Q(('group_by', ''), _negated=True)), _connector='OR'), name='a_note_is_about_one_thing')],
            },
        ),
        migrations.RunSQL(WATCH_HOSTS, migrations.RunSQL.noop),
    ]
