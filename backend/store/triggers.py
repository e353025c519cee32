"""What the database itself holds beyond its models: triggers, and the log of changed runs."""

APPEND_ONLY_AUDIT = """
CREATE FUNCTION runs_auditentry_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only: entry % stays as it is', OLD.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_is_append_only';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON runs_auditentry FOR EACH ROW
    EXECUTE FUNCTION runs_auditentry_append_only();
"""
"""The audit log only grows."""

NEVER_EMPTIED_AUDIT = """
CREATE FUNCTION runs_auditentry_never_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only: it is never emptied'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_is_never_emptied';
END $$;
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON runs_auditentry FOR EACH STATEMENT
    EXECUTE FUNCTION runs_auditentry_never_emptied();
"""
"""TRUNCATE runs no trigger of rows."""

CHANGES = """
CREATE TABLE runs_change (
    transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    run_id bigint
);
CREATE INDEX runs_change_by_transaction ON runs_change (transaction_id);

CREATE FUNCTION runs_note_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO runs_change (run_id) VALUES (coalesce(NEW.id, OLD.id));
    RETURN NULL;
END $$;

CREATE TRIGGER note_new_run AFTER INSERT ON runs_run
FOR EACH ROW WHEN (NEW.status = 'ready') EXECUTE FUNCTION runs_note_run();

CREATE TRIGGER note_deleted_run AFTER DELETE ON runs_run
FOR EACH ROW WHEN (OLD.status = 'ready') EXECUTE FUNCTION runs_note_run();

CREATE TRIGGER note_changed_run AFTER UPDATE ON runs_run
FOR EACH ROW WHEN (
    'ready' IN (OLD.status, NEW.status) AND OLD.* IS DISTINCT FROM NEW.*
) EXECUTE FUNCTION runs_note_run();

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
"""Every committed change of a run that counts, or counted, is a row; without a run: everything.

`compare.engine` says how copies follow them.
"""

TRIGGERS = (APPEND_ONLY_AUDIT, NEVER_EMPTIED_AUDIT, CHANGES)
