"""Every committed change to runs that count gets a row, so that copies can follow the truth."""

from django.db import migrations

FORWARD = """
CREATE TABLE runs_change (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    run_id bigint,
    has_new_results boolean NOT NULL DEFAULT true,
    profile_id bigint
);
CREATE INDEX runs_change_by_transaction ON runs_change (transaction_id);

CREATE FUNCTION runs_note_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE new_results boolean := true;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        new_results := OLD.status <> NEW.status OR OLD.conditions <> NEW.conditions;
    END IF;
    INSERT INTO runs_change (run_id, has_new_results)
    VALUES (CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END, new_results);
    RETURN NULL;
END $$;

CREATE TRIGGER note_new_run AFTER INSERT ON runs_run
FOR EACH ROW WHEN (NEW.status = 'ready') EXECUTE FUNCTION runs_note_run();

CREATE TRIGGER note_deleted_run AFTER DELETE ON runs_run
FOR EACH ROW WHEN (OLD.status = 'ready') EXECUTE FUNCTION runs_note_run();

CREATE TRIGGER note_changed_run AFTER UPDATE ON runs_run
FOR EACH ROW WHEN (
    (OLD.status = 'ready' OR NEW.status = 'ready') AND
    (OLD.status, OLD.hidden, OLD.host_id, OLD.environment_id, OLD.source, OLD.started_at, OLD.tags,
        OLD.acceleration, OLD.conditions)
    IS DISTINCT FROM
    (NEW.status, NEW.hidden, NEW.host_id, NEW.environment_id, NEW.source, NEW.started_at, NEW.tags,
        NEW.acceleration, NEW.conditions)
) EXECUTE FUNCTION runs_note_run();

CREATE FUNCTION runs_note_profile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO runs_change (profile_id) VALUES (NEW.id);
    RETURN NULL;
END $$;

CREATE TRIGGER note_completed_profile AFTER UPDATE ON runs_referenceprofile
FOR EACH ROW WHEN (OLD.completed_at IS DISTINCT FROM NEW.completed_at)
EXECUTE FUNCTION runs_note_profile();

CREATE FUNCTION runs_note_everything() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO runs_change DEFAULT VALUES;
    RETURN NULL;
END $$;

CREATE TRIGGER note_emptied_runs AFTER TRUNCATE ON runs_run
FOR EACH STATEMENT EXECUTE FUNCTION runs_note_everything();

CREATE TRIGGER note_changed_environments AFTER UPDATE ON runs_environment
FOR EACH STATEMENT EXECUTE FUNCTION runs_note_everything();
"""

BACK = """
DROP TRIGGER note_new_run ON runs_run;
DROP TRIGGER note_deleted_run ON runs_run;
DROP TRIGGER note_changed_run ON runs_run;
DROP TRIGGER note_emptied_runs ON runs_run;
DROP TRIGGER note_completed_profile ON runs_referenceprofile;
DROP TRIGGER note_changed_environments ON runs_environment;
DROP FUNCTION runs_note_run, runs_note_profile, runs_note_everything;
DROP TABLE runs_change;
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0021_fill_ssh_library")]

    operations = [migrations.RunSQL(FORWARD, BACK)]
