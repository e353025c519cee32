"""Roles, approval, aliases, shares, and an audit log that only grows."""

import django.core.serializers.json
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


APPEND_ONLY = """
CREATE FUNCTION runs_auditentry_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only: entry % stays as it is', OLD.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_is_append_only';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON runs_auditentry FOR EACH ROW
    EXECUTE FUNCTION runs_auditentry_append_only();
"""
NOT_APPEND_ONLY = """
DROP TRIGGER audit_is_append_only ON runs_auditentry;
DROP FUNCTION runs_auditentry_append_only();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0009_rollups'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('actor_kind', models.CharField(choices=[('person', 'Person'), ('token', 'Token'), ('command', 'Command'), ('nobody', 'Nobody')], max_length=10)),
                ('actor', models.CharField(help_text='Name of the person, token or command.', max_length=200)),
                ('actor_key', models.BigIntegerField(blank=True, null=True)),
                ('action', models.CharField(help_text='Such as "run.hide".', max_length=40)),
                ('object_kind', models.CharField(max_length=40)),
                ('object_key', models.CharField(max_length=100)),
                ('object_name', models.CharField(max_length=300)),
                ('before', models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True)),
                ('after', models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ['-id'],
            },
        ),
        migrations.AddField(
            model_name='apitoken',
            name='host_name',
            field=models.CharField(blank=True, help_text='Uploads of any other host are refused.', max_length=200),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='made_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='host',
            name='approved',
            field=models.BooleanField(default=True, help_text='Its runs count; off until an editor has approved a new host.'),
        ),
        migrations.AddField(
            model_name='run',
            name='held',
            field=models.BooleanField(default=False, help_text='Hidden only until its host is approved.'),
        ),
        migrations.AlterField(
            model_name='run',
            name='hidden',
            field=models.BooleanField(default=False, help_text='It counts nowhere and is in no list.'),
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
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='HostAlias',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('machine_id', models.CharField(blank=True, max_length=64, null=True, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('published', models.BooleanField(default=False)),
                ('slug', models.CharField(blank=True, help_text='Of the merged host.', max_length=220)),
                ('former_key', models.BigIntegerField(blank=True, help_text='Primary key of the merged host: old addresses lead on.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aliases', to='runs.host')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('machine_id__isnull', True)), fields=('name', 'published'), name='one_alias_per_name_without_machine_id')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
    ]
