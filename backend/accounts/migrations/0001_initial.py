import django.core.serializers.json
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from accounts.triggers import APPEND_ONLY_AUDIT, NEVER_EMPTIED_AUDIT


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('actor_kind', models.CharField(choices=[('person', 'Person'), ('token', 'Token'), ('command', 'Command'), ('provider', 'Provider'), ('anonymous', 'Anonymous')], max_length=10)),
                ('actor', models.CharField(help_text='Name of the user, token, command or provider.', max_length=200)),
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
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('scope', models.CharField(choices=[('upload', 'Upload'), ('read', 'Read')], max_length=10)),
                ('host_name', models.CharField(blank=True, help_text='Refuse uploads of other hosts.', max_length=200)),
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
            name='ExternalIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.CharField(help_text='URL of the provider, or “proxy”.', max_length=200)),
                ('subject', models.CharField(help_text='Permanent ID of the user at the provider.', max_length=255)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='external_identity', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='one_account_per_subject')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY_AUDIT),
        migrations.RunSQL(NEVER_EMPTIED_AUDIT),
    ]
