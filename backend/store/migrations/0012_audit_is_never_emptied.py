"""The audit log is not emptied either: TRUNCATE runs no trigger of rows."""

from django.db import migrations

NEVER_EMPTIED = """
CREATE FUNCTION runs_auditentry_never_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only: it is never emptied'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_is_never_emptied';
END $$;
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON runs_auditentry FOR EACH STATEMENT
    EXECUTE FUNCTION runs_auditentry_never_emptied();
"""
EMPTIED = """
DROP TRIGGER audit_is_never_emptied ON runs_auditentry;
DROP FUNCTION runs_auditentry_never_emptied();
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_ranks")]

    operations = [migrations.RunSQL(NEVER_EMPTIED, EMPTIED)]
