"""Reference profiles are made, computed in the background, activated and retired here."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F

from analysis.profiles.reference_profiles import initial_profile

# Figures in a report must not move: what a profile was made of is written once.
FROZEN = """
CREATE FUNCTION runs_referenceprofile_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the reference profile "%" is frozen', OLD.name
        USING ERRCODE = 'check_violation', CONSTRAINT = 'profile_is_frozen';
END $$;
CREATE TRIGGER profile_is_frozen BEFORE UPDATE ON runs_referenceprofile FOR EACH ROW
    WHEN ((OLD.name, OLD.levels, OLD.made_from, OLD.origin, OLD.fits, OLD.created_at)
        IS DISTINCT FROM (NEW.name, NEW.levels, NEW.made_from, NEW.origin, NEW.fits, NEW.created_at))
    EXECUTE FUNCTION runs_referenceprofile_frozen();
"""
NOT_FROZEN = """
DROP TRIGGER profile_is_frozen ON runs_referenceprofile;
DROP FUNCTION runs_referenceprofile_frozen();
"""

# `one_active_profile` holds that there are not two. That there is one: whoever ends the active
# profile has made another one active by the end of the transaction.
ALWAYS_ACTIVE = """
CREATE FUNCTION runs_referenceprofile_stays_active() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM runs_referenceprofile)
        AND NOT EXISTS (SELECT FROM runs_referenceprofile WHERE active) THEN
        RAISE EXCEPTION 'one reference profile must be active'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'some_profile_is_active';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER some_profile_is_active AFTER UPDATE OR DELETE ON runs_referenceprofile
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.active)
    EXECUTE FUNCTION runs_referenceprofile_stays_active();
"""
NOT_ALWAYS_ACTIVE = """
DROP TRIGGER some_profile_is_active ON runs_referenceprofile;
DROP FUNCTION runs_referenceprofile_stays_active();
"""


def complete_profiles(apps, schema_editor):
    """Until now the indices under a profile were stored with each run: none is missing."""
    profiles = apps.get_model("runs", "ReferenceProfile").objects
    profiles.update(completed_at=F("created_at"))
    initial = initial_profile()
    profiles.filter(name=initial.name).update(fits=initial.fits)


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0004_derived_facts'),
    ]

    operations = [
        migrations.AddField(
            model_name='referenceprofile',
            name='completed_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='fits',
            field=models.JSONField(default=dict, help_text='How the levels of each tool were fitted.'),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='index_end',
            field=models.BigIntegerField(default=0, help_text='Key of the last run to do.'),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='indexed_to',
            field=models.BigIntegerField(default=0, help_text='Key of the last run done.'),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='origin',
            field=models.CharField(choices=[('published', 'Published'), ('run', 'Run'), ('fleet', 'Fleet')], default='published', max_length=10),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='progressed_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='retired_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.run'),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='runs_done',
            field=models.IntegerField(default=0, help_text='Of these, runs that have their indices.'),
        ),
        migrations.AddField(
            model_name='referenceprofile',
            name='runs_total',
            field=models.IntegerField(default=0, help_text='Ready runs when it was made.'),
        ),
        migrations.AlterField(
            model_name='referenceprofile',
            name='made_from',
            field=models.TextField(help_text='In words.'),
        ),
        migrations.RunPython(complete_profiles, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='referenceprofile',
            constraint=models.CheckConstraint(condition=models.Q(('active', False), models.Q(('completed_at__isnull', False), ('retired_at', None)), _connector='OR'), name='active_profile_is_complete'),
        ),
        migrations.AddConstraint(
            model_name='referenceprofile',
            constraint=models.CheckConstraint(condition=models.Q(('runs_done__lte', models.F('runs_total'))), name='done_within_total'),
        ),
        migrations.RunSQL(FROZEN, NOT_FROZEN),
        migrations.RunSQL(ALWAYS_ACTIVE, NOT_ALWAYS_ACTIVE),
    ]
